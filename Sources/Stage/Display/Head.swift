import Base
import Frames
import Glibc

/// One monitor: its CRTC, the planes that make its picture, and the buffers that these show.
final class Head {
  /// Which monitor, in which mode.
  let output: OutputPlan.Output
  private let device: any DRMDevice
  private let plan: PlanePlan
  private let canTest: Bool
  private let painter: ScanoutPainter
  private var buffers: [UInt32: PlaneBuffers] = [:]
  private var videos: [UInt32: VideoPlane] = [:]
  /// Buffers of another kind, which may be shown until the next flip.
  private var retired: [PlaneBuffers] = []
  private var sketch: SceneSketch?
  /// Ways to show the sketched scene, best first.
  private var layouts: [PlaneLayout] = []
  /// Those that the driver has not refused.
  private var candidates: ArraySlice<PlaneLayout> = []
  /// How the picture is made of planes; nil before the first.
  private(set) var layout: PlaneLayout?
  private var isLayoutNew = true
  /// Planes with new buffers in a commit that waits for its flip.
  private var changing: [PlaneAssignment] = []
  /// The planes that show videos of their own once that commit has flipped; nil: the same as before.
  private var videoPlanes: Set<UInt32>?
  private var frames = PlaneFrames()
  /// Whether a commit waits for its flip.
  private(set) var isPending = false
  /// Whether the mode has to be set with the next commit.
  private(set) var needsModeset = true

  /// A monitor that nothing is shown on yet. `isMirrored`: others show the same picture.
  init(
    _ output: OutputPlan.Output, card: CardSnapshot, rotation: VideoFrame.Rotation, isMirrored: Bool, device: any DRMDevice
  ) {
    (self.output, self.device, canTest) = (output, device, card.isAtomic)
    let mounting = Mounting(width: output.mode.width, height: output.mode.height, rotation: rotation)
    plan = PlanePlan(planes: card.planes(of: output.crtc), mounting: mounting, isMirrored: isMirrored || !card.isAtomic)
    painter = ScanoutPainter(width: mounting.uprightWidth)
  }

  /// Whether what is shown differs from what is to be seen.
  var isStale: Bool {
    needsModeset || isLayoutNew || isVideoNew || (layout?.planes.contains(where: isFrontStale) ?? true)
  }

  private func isFrontStale(_ assignment: PlaneAssignment) -> Bool {
    if assignment.isVideo { return false }
    return buffers[assignment.plane]?.isFrontStale ?? false
  }

  private var isVideoNew = false

  /// Has the mode set again, and everything painted.
  func invalidate() {
    (needsModeset, isPending, changing, layout) = (true, false, [], nil)
    for buffers in buffers.values { buffers.forgetContent() }
  }

  // MARK: What is to be seen

  /// Notes what changed of the picture.
  func note(_ damage: CompositionDamage, composer: Composer) {
    for assignment in layout?.planes ?? [] {
      if case .video(let video) = assignment.content {
        isVideoNew = isVideoNew || damage.concerns(video) || !damage.layers.isEmpty
      } else {
        buffers[assignment.plane]?.add(damage, content: assignment.content, turn: assignment.composedTurn, screen: composer.screen)
      }
    }
  }

  /// Shows what is to be seen: `sketch` says what that is. Throws what the driver says when it takes no way at all.
  ///
  /// Returns whether a flip follows; without one the picture stands already.
  func show(_ composer: Composer, _ sketch: SceneSketch) throws(DRMError) -> Bool {
    if sketch != self.sketch || layout == nil {
      self.sketch = sketch
      let layouts = plan.layouts(for: sketch)
      // A pointer that moves changes the sketch, but rarely what can be done about it: the driver is not asked again.
      if layout == nil || layouts != self.layouts {
        (self.layouts, candidates, layout) = (layouts, layouts[...], nil)
      }
    }
    while true {
      if layout == nil { try choose(composer) }
      do throws(DRMError) {
        return try commit(composer)
      } catch {
        // Accepted in the test, refused now: the next way is tried.
        guard error.code == EINVAL || error.code == ENOSPC || error.code == ERANGE, !candidates.isEmpty else { throw error }
        layout = nil
      }
    }
  }

  /// Takes the next way to show the picture that the driver does not refuse.
  private func choose(_ composer: Composer) throws(DRMError) {
    while let candidate = candidates.popFirst() {
      do throws(DRMError) {
        for assignment in candidate.planes { try prepareBuffers(assignment) }
        if canTest && !candidates.isEmpty {
          var planes: [DisplayCommit.Plane] = []
          for assignment in candidate.planes { planes.append(plane(assignment, try framebuffer(assignment, composer))) }
          try device.commit(message(.test(changesModes: needsModeset), planes + others(candidate)))
        }
      } catch {
        guard error.code != EBUSY, error.code != EACCES, error.code != ENODEV, !candidates.isEmpty else {
          candidates = [candidate] + candidates
          throw error
        }
        continue
      }
      take(candidate, composer)
      return
    }
    throw DRMError(operation: "\(output.name) has no plane for a picture", code: ENODEV)
  }

  private func take(_ candidate: PlaneLayout, _ composer: Composer) {
    layout = candidate
    isLayoutNew = true
    let used = Set(candidate.planes.map(\.plane))
    for (plane, buffers) in buffers where !used.contains(plane) { buffers.forgetContent() }
    let nothing = CompositionDamage()
    for assignment in candidate.planes {
      if assignment.isVideo { continue }
      buffers[assignment.plane]?.add(nothing, content: assignment.content, turn: assignment.composedTurn, screen: composer.screen)
    }
  }

  private func prepareBuffers(_ assignment: PlaneAssignment) throws(DRMError) {
    if assignment.isVideo {
      if videos[assignment.plane] == nil { videos[assignment.plane] = VideoPlane(device: device) }
      return
    }
    let (width, height) = (assignment.bufferWidth, assignment.bufferHeight)
    if let known = buffers[assignment.plane], known.width == width, known.height == height, known.format == assignment.format { return }
    let new = try PlaneBuffers(device: device, width: width, height: height, format: assignment.format)
    // A buffer that goes while it is shown switches its plane off.
    if let old = buffers[assignment.plane] { retired.append(old) }
    buffers[assignment.plane] = new
  }

  /// What a plane will show; a video's newest frame is brought there.
  private func framebuffer(_ assignment: PlaneAssignment, _ composer: Composer) throws(DRMError) -> Framebuffer {
    if case .video(let video) = assignment.content {
      guard let plane = videos[assignment.plane], let frame = composer.page.frame(of: video) else {
        throw DRMError(operation: "a video without a frame", code: EINVAL)
      }
      return try plane.prepare(frame, assignment)
    }
    guard let buffers = buffers[assignment.plane] else { throw DRMError(operation: "a plane without buffers", code: ENOMEM) }
    return buffers.isFrontStale ? buffers.back : buffers.current
  }

  // MARK: Commits

  private func commit(_ composer: Composer) throws(DRMError) -> Bool {
    guard let layout else { return false }
    let overlay = composer.overlay
    var planes: [DisplayCommit.Plane] = []
    var changed: [PlaneAssignment] = []
    for assignment in layout.planes {
      var isNew = isLayoutNew || needsModeset
      let video: VideoPlane?
      if assignment.isVideo {
        video = videos[assignment.plane]
        isNew = isNew || isVideoNew
      } else {
        video = nil
        if let buffers = buffers[assignment.plane], buffers.isFrontStale {
          isNew = true
          buffers.paint(composer, overlay: overlay, with: painter)
        }
      }
      guard isNew else { continue }
      var plane = plane(assignment, try framebuffer(assignment, composer))
      plane.fence = video?.fence ?? -1
      planes.append(plane)
      changed.append(assignment)
    }
    guard !planes.isEmpty else { return false }
    if isLayoutNew || needsModeset { planes += others(layout) }
    try device.commit(message(needsModeset ? .modeset : .flip, planes))
    changing = changed
    if isLayoutNew { videoPlanes = Set(layout.planes.filter(\.isVideo).map(\.plane)) }
    (isLayoutNew, isVideoNew) = (false, false)
    if needsModeset {
      needsModeset = false
      completeFlip()
      return false
    }
    isPending = true
    return true
  }

  /// Frames that were shown on planes of their own since this was asked last.
  func takeFrames() -> PlaneFrames {
    defer { frames = PlaneFrames() }
    return frames
  }

  /// The commit that waited is on the screen.
  func completeFlip() {
    isPending = false
    for assignment in changing {
      if assignment.isVideo { frames.add(videos[assignment.plane]?.flip()) } else { buffers[assignment.plane]?.flip() }
    }
    (changing, retired) = ([], [])
    guard let videoPlanes else { return }
    for (plane, video) in videos where !videoPlanes.contains(plane) { video.rest() }
    self.videoPlanes = nil
  }

  private func plane(_ assignment: PlaneAssignment, _ framebuffer: Framebuffer) -> DisplayCommit.Plane {
    DisplayCommit.Plane(plane: assignment.plane, crtc: output.crtc.id, framebuffer: framebuffer, assignment: assignment)
  }

  /// The planes that a layout has no use for, switched off.
  private func others(_ layout: PlaneLayout) -> [DisplayCommit.Plane] {
    plan.planes.filter { offer in !layout.planes.contains { $0.plane == offer.id } }.map {
      DisplayCommit.Plane(plane: $0.id, crtc: output.crtc.id)
    }
  }

  private func message(_ kind: DisplayCommit.Kind, _ planes: [DisplayCommit.Plane]) -> DisplayCommit {
    var commit = DisplayCommit(kind: kind, planes: planes)
    if needsModeset { (commit.heads, commit.connectors) = (heads(isActive: true), [.init(id: output.connector, crtc: output.crtc.id)]) }
    return commit
  }

  /// The planes that it shows something on.
  var planes: [UInt32] { layout?.planes.map(\.plane) ?? [] }

  /// The CRTC's part of a commit.
  func heads(isActive: Bool) -> [DisplayCommit.Head] {
    [DisplayCommit.Head(crtc: output.crtc.id, timings: output.mode.timings, name: output.mode.name, isActive: isActive)]
  }
}
