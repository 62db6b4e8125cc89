import Frames

/// Puts the layers of a stack onto planes, in every way that promises something.
struct LayoutSearch {
  private let plan: PlanePlan
  private let sketch: SceneSketch
  private let stack: LayerStack
  private let composedTurn: VideoFrame.Rotation
  private let planes: [Candidate]
  private var options: [[Option]] = []
  private var found: [PlaneLayout] = []
  private var limit = 0

  /// A plane, with where it can stand among the others.
  private struct Candidate {
    var offer: PlaneOffer
    var range: ClosedRange<Int>
    var isFixed: Bool
    /// The same number for all planes that are alike but for their number and place.
    var kind = 0

    var isPrimary: Bool { offer.kind == .primary }
  }

  /// A plane with a format for one layer.
  private struct Option {
    var candidate: Candidate
    var assignment: PlaneAssignment
    /// What is better comes first.
    var order: (format: Int, place: Int, id: UInt32)
  }

  init(_ plan: PlanePlan, _ sketch: SceneSketch, _ stack: LayerStack, composedTurn: VideoFrame.Rotation) {
    (self.plan, self.sketch, self.stack, self.composedTurn) = (plan, sketch, stack, composedTurn)
    planes = LayoutSearch.candidates(plan.planes)
    options = stack.layers.indices.map { options(stack.layers[$0], isLowest: $0 == 0) }
  }

  /// At most `limit` layouts, best first.
  mutating func layouts(limit: Int) -> [PlaneLayout] {
    (found, self.limit) = ([], limit)
    if stack.layers.count <= planes.count && !options.contains(where: \.isEmpty) { _ = search([], below: nil) }
    return found
  }

  /// Planes in the order that they can have. Where no plane says where it stands, overlays lie over the primary one by number.
  private static func candidates(_ planes: [PlaneOffer]) -> [Candidate] {
    let usable = planes.filter { $0.kind != .cursor }
    let isSilent = !usable.contains { $0.stacking != nil }
    let overlays = usable.filter { $0.kind == .overlay }.map(\.id).sorted()
    let candidates: [Candidate] = usable.compactMap { offer in
      if let stacking = offer.stacking {
        let bounds = (Int(clamping: stacking.range.lowerBound), Int(clamping: stacking.range.upperBound))
        return Candidate(offer: offer, range: bounds.0...bounds.1, isFixed: stacking.isImmutable)
      }
      if offer.kind == .primary { return Candidate(offer: offer, range: -1...(-1), isFixed: true) }
      // An overlay that keeps silent among others that do not may be anywhere.
      guard isSilent, let place = overlays.firstIndex(of: offer.id) else { return nil }
      return Candidate(offer: offer, range: place...place, isFixed: true)
    }
    var kinds: [PlaneOffer] = []
    return candidates.map { candidate in
      var (candidate, kind) = (candidate, candidate.offer)
      (kind.id, kind.stacking) = (0, nil)
      candidate.kind = kinds.firstIndex(of: kind) ?? kinds.count
      if candidate.kind == kinds.count { kinds.append(kind) }
      return candidate
    }
  }

  /// Goes on with the next layer; says whether that gave a layout.
  private mutating func search(_ partial: [PlaneAssignment], below: (candidate: Candidate, place: Int)?, hasPrimary: Bool = false) -> Bool {
    let layer = partial.count
    guard layer < stack.layers.count else {
      found.append(PlaneLayout(planes: partial))
      return true
    }
    var hasFound = false
    var tried: [(kind: Int, format: PixelFormat)] = []
    for option in options[layer] where found.count < limit {
      let plane = option.candidate
      guard !partial.contains(where: { $0.plane == plane.offer.id }), let place = LayoutSearch.place(plane, above: below) else { continue }
      // What a driver refuses on one plane it refuses on another of the same kind.
      if tried.contains(where: { $0.kind == plane.kind && $0.format == option.assignment.format }) { continue }
      let hasPrimary = hasPrimary || plane.isPrimary
      let above = planes.filter { LayoutSearch.place($0, above: (plane, place)) != nil }
      // Most drivers do not switch a CRTC on without its primary plane.
      guard above.count >= stack.layers.count - layer - 1, hasPrimary || above.contains(where: \.isPrimary) else { continue }
      if layer == stack.layers.count - 1 && !hasPrimary { continue }
      var assignment = option.assignment
      assignment.stacking = plane.isFixed ? nil : UInt64(place)
      if search(partial + [assignment], below: (plane, place), hasPrimary: hasPrimary) {
        hasFound = true
        tried.append((plane.kind, assignment.format))
      }
    }
    return hasFound
  }

  /// The lowest place that a plane can have above another one; nil: none.
  private static func place(_ plane: Candidate, above below: (candidate: Candidate, place: Int)?) -> Int? {
    guard let below else { return plane.range.lowerBound }
    // Of two at the same place, the one with the higher number is above. Drivers that let the place be set are not trusted with that.
    let canShare = plane.isFixed && below.candidate.isFixed && plane.offer.id > below.candidate.offer.id
    let place = max(plane.range.lowerBound, canShare ? below.place : below.place + 1)
    return place <= plane.range.upperBound ? place : nil
  }

  /// The planes that can show a layer, each in each format that it can, best first.
  private func options(_ content: PlaneContent, isLowest: Bool) -> [Option] {
    var options: [Option] = []
    for candidate in planes {
      let plane = candidate.offer
      // The primary plane is lowest by custom; elsewhere it is the last to be tried.
      let place = (plane.kind == .primary) == isLowest ? 0 : 1
      for (preference, assignment) in assignments(content, on: plane) {
        var assignment = assignment
        assignment.plane = plane.id
        options.append(Option(candidate: candidate, assignment: assignment, order: (preference, place, plane.id)))
      }
    }
    return options.sorted { $0.order < $1.order }
  }

  /// What a plane can do for a layer, each with a number that is lower for what is better.
  private func assignments(_ content: PlaneContent, on plane: PlaneOffer) -> [(preference: Int, PlaneAssignment)] {
    if case .video(let identifier) = content {
      guard let video = sketch.videos.first(where: { $0.identifier == identifier }) else { return [] }
      return assignments(video, on: plane)
    }
    var isTranslucent = false
    if case .page = content { isTranslucent = true }
    if isTranslucent && !plane.blendModes.isEmpty && !plane.blendModes.contains(.premultiplied) { return [] }
    let turn = composedTurn == plan.mounting.rotation ? .upright : PlaneRotation(clockwise: plan.mounting.rotation)
    guard plane.rotations.contains(turn) else { return [] }
    let formats: [PixelFormat] = isTranslucent ? [.argb8888] : [.xrgb8888, .argb8888]
    guard let format = formats.first(where: { plane.takes($0) }) else { return [] }
    return [(0, plan.layer(content, format: format, rotation: turn, composedTurn: composedTurn))]
  }

  private func assignments(_ video: SceneSketch.Video, on plane: PlaneOffer) -> [(preference: Int, PlaneAssignment)] {
    // A primary plane that leaves a part of the screen to nobody is refused by most, and shows garbage with some.
    if plane.kind == .primary && !video.seen.contains(plan.mounting.upright) { return [] }
    var formats: [(PixelFormat, UInt64)] = []
    switch video.source {
    case .deviceBuffer(let format, let modifier): formats = [(format, modifier)]
    case .memory:
      // The first needs no conversion, the others another order of the same bytes; RGB is worth it where the plane enlarges.
      if let best = LayoutSearch.direct.first(where: { plane.takes($0) }) { formats = [(best, FormatOffer.linear)] }
      if video.seen.area > video.crop.area { formats.append((.xrgb8888, FormatOffer.linear)) }
    }
    return formats.compactMap { format, modifier in
      guard plane.takes(format, modifier: modifier) else { return nil }
      var assignment = plan.video(video, format: format, modifier: modifier)
      guard plane.rotations.contains(assignment.rotation) else { return nil }
      if format.isLumaChroma {
        guard plane.colorEncodings.isEmpty || plane.colorEncodings.contains(video.colorEncoding),
          plane.colorRanges.isEmpty || plane.colorRanges.contains(video.colorRange)
        else { return nil }
        if !plane.colorEncodings.isEmpty { assignment.colorEncoding = video.colorEncoding }
        if !plane.colorRanges.isEmpty { assignment.colorRange = video.colorRange }
      }
      return (LayoutSearch.preference(format), assignment)
    }
  }

  /// What a frame in the processor's memory becomes without mixing any of its pixels, best first.
  private static let direct: [PixelFormat] = [.yuv420, .yvu420, .nv12]

  private static func preference(_ format: PixelFormat) -> Int { direct.firstIndex(of: format) ?? direct.count }
}
