extension Wayland {
  /// What a client asked of a surface and has not committed yet, or has committed to wait for the parent surface.
  /// A member that is nil or empty changes nothing.
  struct SurfaceState {
    enum Attachment {
      /// The surface is to show nothing.
      case nothing
      case buffer(Buffer)
    }

    var attachment: Attachment?
    /// How far the buffer's corner moves, in surface pixels.
    var offsetX = 0
    var offsetY = 0
    /// In surface pixels.
    var damage = DamageList()
    /// In buffer pixels.
    var bufferDamage = DamageList()
    var callbacks: [Callback] = []
    var feedbacks: [PresentationFeedback] = []
    var opaqueRegion: Region?
    /// The outer nil means no change, the inner one everywhere.
    var inputRegion: Region??
    var transform: BufferTransform?
    var scale: Int?
    /// In surface pixels before the crop's scaling; the inner nil removes the crop.
    var viewportSource: Viewport.Source??
    var viewportSize: Viewport.Size??
    var videos: VideoState?

    /// Joins what was committed later.
    mutating func merge(_ later: SurfaceState) {
      if let attachment = later.attachment {
        if case .buffer(let old) = self.attachment {
          if case .buffer(let new) = attachment, new === old {} else { old.release() }
        }
        self.attachment = attachment
        // A picture that is replaced before anybody saw it will never be presented.
        for feedback in feedbacks { feedback.discard() }
        feedbacks.removeAll()
      }
      offsetX += later.offsetX
      offsetY += later.offsetY
      damage.add(later.damage)
      bufferDamage.add(later.bufferDamage)
      callbacks += later.callbacks
      feedbacks += later.feedbacks
      opaqueRegion = later.opaqueRegion ?? opaqueRegion
      inputRegion = later.inputRegion ?? inputRegion
      transform = later.transform ?? transform
      scale = later.scale ?? scale
      viewportSource = later.viewportSource ?? viewportSource
      viewportSize = later.viewportSize ?? viewportSize
      videos = later.videos ?? videos
    }
  }

  /// What lies under a surface: videos from the bottom up, and a colour under them.
  struct VideoState: Equatable {
    var placements: [VideoPlacement] = []
    var canvas: Color?
  }
}
