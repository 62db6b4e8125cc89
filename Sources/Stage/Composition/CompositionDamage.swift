/// What has to be painted again, told apart by why: where a display shows videos by itself, their frames cost no painting.
struct CompositionDamage {
  /// Where anything but the pixels of a video's picture changed.
  var layers = Damage()
  /// Where the pixels of a video's picture changed.
  private(set) var frames: [(video: VideoIdentifier, area: Rectangle)] = []

  var isEmpty: Bool { layers.isEmpty && frames.isEmpty }

  /// Adds what of `area` lies in `bounds`, where a video shows another frame.
  mutating func add(_ area: Rectangle, of video: VideoIdentifier, in bounds: Rectangle) {
    let area = area.intersection(bounds)
    guard !area.isEmpty, !frames.contains(where: { $0.video == video && $0.area.contains(area) }) else { return }
    frames.append((video, area))
  }

  /// Adds what of all this concerns a plane with the given content.
  func add(to damage: inout Damage, of content: PlaneContent, in bounds: Rectangle) {
    guard content != .black else { return }
    for area in layers.areas { damage.add(area, in: bounds) }
    for (video, area) in frames {
      let isPainted =
        switch content {
        case .composed(let elsewhere): !elsewhere.contains(video)
        case .under(let videos, _), .page(let videos, _): videos.contains(video)
        case .video, .black: false
        }
      if isPainted { damage.add(area, in: bounds) }
    }
  }

  /// Whether a video shows another frame, or stands elsewhere.
  func concerns(_ video: VideoIdentifier) -> Bool { frames.contains { $0.video == video } }

  /// Forgets all, and keeps its memory.
  mutating func clear() {
    layers.clear()
    frames.removeAll(keepingCapacity: true)
  }
}
