import Frames

@testable import Stage

/// A scene small enough to be worked out pixel by pixel, once as composition would show it and once as planes would.
struct SketchedScene {
  /// A colour with its opacity, premultiplied; one channel is enough.
  struct Pixel {
    var value: Double
    var alpha: Double

    static let clear = Pixel(value: 0, alpha: 0)
    /// Black, opaque.
    static let black = Pixel(value: 0, alpha: 1)

    func over(_ below: Pixel) -> Pixel {
      Pixel(value: value + below.value * (1 - alpha), alpha: alpha + below.alpha * (1 - alpha))
    }
  }

  /// A rectangle of one colour.
  struct Patch {
    var area: Rectangle
    var pixel: Pixel
  }

  var width = 64
  var height = 36
  var ground = Pixel.black
  var videos: [SceneSketch.Video] = []
  /// What the page draws, from bottom to top.
  var page: [Patch] = []
  var overlays: [Patch] = []
  var isDimmed = false

  /// What decides about planes.
  var sketch: SceneSketch {
    var sketch = SceneSketch(videos: videos, hasPage: !page.isEmpty, overlays: overlays.map(\.area), isDimmed: isDimmed)
    for index in videos.indices {
      sketch.videos[index].isUnderPage = page.contains { $0.area.overlaps(videos[index].seen) }
    }
    sketch.isGroundBlack = ground.value == 0
    return sketch
  }

  // MARK: Composition

  /// Opaque colours are their numbers, so that any mixture shows.
  private static let background = Pixel(value: 7, alpha: 1)
  private static let garbage = Pixel(value: -1e6, alpha: 1)

  /// The colour of a video's frame at a place of it, in pixels before its turn.
  private static func color(_ video: SceneSketch.Video, x: Double, y: Double) -> Double {
    Double(video.identifier.rawValue) * 1000 + x + y * 0.37
  }

  /// Where a place of a turned picture comes from; all are parts of 1.
  private static func unturned(_ turn: VideoFrame.Rotation, _ x: Double, _ y: Double) -> (x: Double, y: Double) {
    switch turn {
    case .none: (x, y)
    case .quarter: (y, 1 - x)
    case .half: (1 - x, 1 - y)
    case .threeQuarters: (1 - y, x)
    }
  }

  private func paint(_ video: SceneSketch.Video, picture: Bool = true, x: Int, y: Int, on below: Pixel) -> Pixel {
    guard video.visible.contains(x: x, y: y) else { return below }
    var pixel = below
    if video.hasBackground && !video.picture.contains(x: x, y: y) { pixel = Self.background.over(pixel) }
    guard picture, video.picture.contains(x: x, y: y) else { return pixel }
    let (left, top) = (
      (Double(x - video.picture.x) + 0.5) / Double(video.picture.width), (Double(y - video.picture.y) + 0.5) / Double(video.picture.height)
    )
    let place = Self.unturned(video.turn, left, top)
    let value = Self.color(
      video, x: Double(video.crop.x) + place.x * Double(video.crop.width), y: Double(video.crop.y) + place.y * Double(video.crop.height))
    // What is not plain is translucent here.
    let alpha = video.isPlain ? 1 : 0.75
    return Pixel(value: value * alpha, alpha: alpha).over(pixel)
  }

  private func paintPage(x: Int, y: Int, on below: Pixel) -> Pixel {
    let dimmed = page.filter { $0.area.contains(x: x, y: y) }.reduce(below) { $1.pixel.over($0) }
    let shaded = isDimmed ? Pixel(value: dimmed.value * 0.5, alpha: dimmed.alpha) : dimmed
    return overlays.filter { $0.area.contains(x: x, y: y) }.reduce(shaded) { $1.pixel.over($0) }
  }

  /// A pixel of the picture as composition gives it.
  func pixel(x: Int, y: Int) -> Pixel {
    paintPage(x: x, y: y, on: videos.reduce(ground) { paint($1, x: x, y: y, on: $0) })
  }

  /// A pixel of a composed layer, as `PlaneContent` describes it. What it says to be never seen is garbage.
  private func pixel(_ content: PlaneContent, x: Int, y: Int) -> Pixel {
    func isSeen(_ video: SceneSketch.Video) -> Bool { video.seen.contains(x: x, y: y) }
    switch content {
    case .black: return .black
    case .video: return .clear
    case .composed(let without):
      if videos.contains(where: { without.contains($0.identifier) && isSeen($0) }) { return Self.garbage }
      return paintPage(
        x: x, y: y, on: videos.reduce(ground) { paint($1, picture: !without.contains($1.identifier), x: x, y: y, on: $0) })
    case .under(let with, let backgrounds):
      return videos.reduce(ground) { below, video in
        if with.contains(video.identifier) { return paint(video, x: x, y: y, on: below) }
        guard backgrounds.contains(video.identifier) else { return below }
        return isSeen(video) ? Self.garbage : paint(video, picture: false, x: x, y: y, on: below)
      }
    case .page(let with, let holes):
      let videos = videos.reduce(Pixel.clear) { below, video in
        if holes.contains(video.identifier), isSeen(video) { return .clear }
        return with.contains(video.identifier) ? paint(video, x: x, y: y, on: below) : below
      }
      return paintPage(x: x, y: y, on: videos)
    }
  }

  // MARK: Planes

  private static func turn(_ rotation: PlaneRotation) -> VideoFrame.Rotation? {
    switch rotation.rawValue {
    // `DRM_MODE_ROTATE_90` and `_270` turn counterclockwise.
    case 1: VideoFrame.Rotation.none
    case 2: .threeQuarters
    case 4: .half
    case 8: .quarter
    default: nil
    }
  }

  /// What the monitor shows at a pixel of its mode.
  func shown(_ layout: PlaneLayout, on mounting: Mounting, x: Int, y: Int) -> Pixel {
    var below = Pixel.black
    for plane in layout.planes where plane.destination.contains(x: x, y: y) {
      guard let turn = Self.turn(plane.rotation) else { return Self.garbage }
      let place = Self.unturned(
        turn, (Double(x - plane.destination.x) + 0.5) / Double(plane.destination.width),
        (Double(y - plane.destination.y) + 0.5) / Double(plane.destination.height))
      let source = plane.source
      let (left, top) = (
        (Double(source.x) + place.x * Double(source.width)) / 65_536, (Double(source.y) + place.y * Double(source.height)) / 65_536
      )
      if case .video(let identifier) = plane.content {
        guard let video = videos.first(where: { $0.identifier == identifier }) else { return Self.garbage }
        below = Pixel(value: Self.color(video, x: left, y: top), alpha: 1)
        continue
      }
      var (column, row) = (Int(left), Int(top))
      switch plane.composedTurn {
      case .none: break
      case .quarter: (column, row) = (row, plane.bufferWidth - 1 - column)
      case .half: (column, row) = (plane.bufferWidth - 1 - column, plane.bufferHeight - 1 - row)
      case .threeQuarters: (column, row) = (plane.bufferHeight - 1 - row, column)
      }
      let pixel = pixel(plane.content, x: column, y: row)
      below = plane.format == .argb8888 ? pixel.over(below) : Pixel(value: pixel.value, alpha: 1)
    }
    return below
  }

  /// The picture as composition gives it, row by row.
  func picture() -> [Double] {
    (0..<width * height).map { pixel(x: $0 % width, y: $0 / width).value }
  }

  /// The first pixel at which planes show something else than `picture`; nil: none.
  func difference(_ layout: PlaneLayout, on mounting: Mounting, from picture: [Double]) -> (x: Int, y: Int)? {
    for y in 0..<height {
      for x in 0..<width {
        let place = mounting.onMonitor(Rectangle(x: x, y: y, width: 1, height: 1))
        if abs(shown(layout, on: mounting, x: place.x, y: place.y).value - picture[y * width + x]) > 0.05 { return (x, y) }
      }
    }
    return nil
  }
}
