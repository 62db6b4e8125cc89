import Frames

/// Finds the planes of one CRTC that show a scene: what to try, best first.
struct PlanePlan {
  /// The planes that can belong to the CRTC.
  var planes: [PlaneOffer]
  /// The mode, and how the picture lies on it.
  var mounting: Mounting
  /// Whether other monitors show the same picture: then it is composed once, for all.
  var isMirrored = false

  /// So many layouts are looked at and tried at most for the same layers, and tried in all.
  private static let limits = (search: 24, stack: 4, total: 16)

  /// Layouts to be tested by the driver in turn; the first that it accepts is used.
  ///
  /// The last one is the whole picture composed for the primary plane, upright for the monitor: nothing known here speaks against it. There is
  /// none when the card has no primary plane for this CRTC.
  func layouts(for sketch: SceneSketch) -> [PlaneLayout] {
    guard let primary = planes.first(where: { $0.kind == .primary }) else { return [] }
    var found: [PlaneLayout] = []
    if !isMirrored {
      let usable = planes.filter { $0.kind != .cursor }
      for stack in LayerStack.stacks(sketch, screen: mounting.upright, planeCount: usable.count) {
        // A plane that turns by itself saves the composer from doing so.
        for composedTurn in mounting.rotation == .none ? [.none] : [.none, mounting.rotation] {
          var search = LayoutSearch(self, sketch, stack, composedTurn: composedTurn)
          let ranked = sorted(search.layouts(limit: PlanePlan.limits.search), for: sketch)
          for layout in ranked.prefix(PlanePlan.limits.stack) where !found.contains(layout) { found.append(layout) }
        }
      }
      found = sorted(found, for: sketch)
    }
    let format: PixelFormat = primary.takes(.xrgb8888) || !primary.takes(.argb8888) ? .xrgb8888 : .argb8888
    var last = layer(.composed(without: []), format: format, rotation: .upright, composedTurn: mounting.rotation)
    last.plane = primary.id
    last.stacking = primary.stacking.flatMap { $0.isImmutable ? nil : $0.range.lowerBound }
    let layout = PlaneLayout(planes: [last])
    return found.filter { $0 != layout }.prefix(PlanePlan.limits.total - 1) + [layout]
  }

  /// Those first that save the most work; what is equal stays in its order.
  private func sorted(_ layouts: [PlaneLayout], for sketch: SceneSketch) -> [PlaneLayout] {
    let relief = layouts.map { PlanePlan.relief($0, sketch) }
    return layouts.indices.sorted { (-relief[$0], $0) < (-relief[$1], $1) }.map { layouts[$0] }
  }

  /// How many pixels need no composition because planes show frames as they are; one that is converted first saves only its enlargement.
  private static func relief(_ layout: PlaneLayout, _ sketch: SceneSketch) -> Int {
    layout.planes.reduce(0) { sum, plane in
      guard case .video(let identifier) = plane.content, let video = sketch.videos.first(where: { $0.identifier == identifier }) else {
        return sum
      }
      let isConverted = video.source == .memory && !plane.format.isLumaChroma
      return sum + video.seen.area - (isConverted ? video.crop.area : 0)
    }
  }

  /// A composed layer over the whole screen, its plane not yet filled in.
  func layer(
    _ content: PlaneContent, format: PixelFormat, rotation: PlaneRotation, composedTurn: VideoFrame.Rotation
  ) -> PlaneAssignment {
    let isTurned = composedTurn == mounting.rotation
    let width = isTurned ? mounting.width : mounting.uprightWidth
    let height = isTurned ? mounting.height : mounting.uprightHeight
    return PlaneAssignment(
      plane: 0, content: content, format: format, bufferWidth: width, bufferHeight: height,
      source: PlaneAssignment.Source(Rectangle(x: 0, y: 0, width: width, height: height)),
      destination: Rectangle(x: 0, y: 0, width: mounting.width, height: mounting.height), rotation: rotation, composedTurn: composedTurn)
  }

  /// A video's frame where it is seen, its plane not yet filled in.
  func video(_ video: SceneSketch.Video, format: PixelFormat, modifier: UInt64) -> PlaneAssignment {
    PlaneAssignment(
      plane: 0, content: .video(video.identifier), format: format, modifier: modifier, bufferWidth: video.sourceWidth,
      bufferHeight: video.sourceHeight, source: PlanePlan.source(of: video), destination: mounting.onMonitor(video.seen),
      rotation: PlaneRotation(clockwise: video.turn.followed(by: mounting.rotation)))
  }

  /// The part of the frame that is seen.
  private static func source(of video: SceneSketch.Video) -> PlaneAssignment.Source {
    let (picture, seen, crop) = (video.picture, video.seen, video.crop)
    let left = Double(seen.x - picture.x) / Double(picture.width)
    let right = Double(seen.x + seen.width - picture.x) / Double(picture.width)
    let top = Double(seen.y - picture.y) / Double(picture.height)
    let bottom = Double(seen.y + seen.height - picture.y) / Double(picture.height)
    // Turned back to how the pixels lie in the buffer.
    let (x, y) =
      switch video.turn {
      case .none: ((left, right), (top, bottom))
      case .quarter: ((top, bottom), (1 - right, 1 - left))
      case .half: ((1 - right, 1 - left), (1 - bottom, 1 - top))
      case .threeQuarters: ((1 - bottom, 1 - top), (left, right))
      }
    return PlaneAssignment.Source(
      x: Double(crop.x) + x.0 * Double(crop.width), y: Double(crop.y) + y.0 * Double(crop.height),
      width: (x.1 - x.0) * Double(crop.width), height: (y.1 - y.0) * Double(crop.height))
  }
}
