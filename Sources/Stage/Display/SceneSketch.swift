import Frames

/// What is to be shown, as far as it matters for the choice of planes. All rectangles are pixels of the upright picture.
struct SceneSketch: Hashable, Sendable {
  /// Where a video's pixels are.
  enum Source: Hashable, Sendable {
    /// In the processor's memory, as I420; a copy to a plane's buffer can bring them into another format.
    case memory
    /// In a buffer of a device, in this format and layout.
    case deviceBuffer(PixelFormat, modifier: UInt64)
  }

  /// A video that can be seen.
  struct Video: Hashable, Sendable {
    /// Which video.
    var identifier: VideoIdentifier
    /// What of its box is on the screen; nothing of the video is seen outside.
    var visible: Rectangle
    /// Where the picture, as cropped, stands; it may reach beyond `visible`, or leave a part of it to the background.
    var picture: Rectangle
    /// Pixels of the frame from left to right, before its own turn.
    var sourceWidth: Int
    /// Rows of the frame, before its own turn.
    var sourceHeight: Int
    /// The part of the frame that `picture` shows, before its own turn.
    var crop: Rectangle
    /// Clockwise turn that makes the frame upright.
    var turn: VideoFrame.Rotation = .none
    /// Where the pixels are.
    var source: Source = .memory
    /// The matrix that its colours are made with.
    var colorEncoding: ColorEncoding = .bt601
    /// The range of its luma and chroma.
    var colorRange: ColorRange = .limited
    /// Whether the picture is opaque, along the screen's sides, not mirrored, with right-angled corners: as a plane would show it.
    var isPlain: Bool
    /// Whether its box has a colour of its own where the picture leaves room.
    var hasBackground: Bool = false
    /// Whether pixels of the page above are seen over the picture.
    var isUnderPage: Bool = false

    /// What is seen of the picture itself.
    var seen: Rectangle { picture.intersection(visible) }
    /// Whether the box shows its own colour beside the picture.
    var isLetterboxed: Bool { hasBackground && !picture.contains(visible) }
  }

  /// From bottom to top.
  var videos: [Video] = []
  /// Whether the page has any pixels that are seen.
  var hasPage = false
  /// What the stage lays over everything: panel, notice, pointer and so on.
  var overlays: [Rectangle] = []
  /// Whether everything under the overlays is darkened.
  var isDimmed = false
  /// Whether all is black where neither video nor page nor overlay is.
  var isGroundBlack = true
  /// Whether all videos lie below all of the page's pixels: not so when a surface with videos lies over another surface's pixels.
  var isFlat = true
}
