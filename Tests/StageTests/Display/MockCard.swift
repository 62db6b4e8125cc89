import Base
import Frames
import Glibc

@testable import Stage

/// A graphics card with one monitor, whose driver refuses what `MockPlanes` says, and whose picture can be looked at.
final class MockCard: DRMDevice {
  let driver: MockPlanes
  let mode: DisplayMode
  /// Commits of each kind so far.
  private(set) var testCount = 0
  private(set) var flipCount = 0
  private(set) var modesetCount = 0
  /// Whether flips never come to an end.
  var isStuck = false
  /// What the next commit that is no test fails with.
  var nextFailure: Int32?
  /// What the gamma table of each CRTC was set to.
  private(set) var gamma: [UInt32: [UInt16]] = [:]
  /// Entries of its gamma tables.
  var gammaSize = 256
  /// Whether modes, planes and properties change in one commit, and a commit can be tested.
  var isAtomic = true
  /// Whether the monitor is there.
  var isConnected = true
  /// Buffers that were made and not given back.
  private(set) var buffers: [UInt32: DumbBuffer] = [:]
  /// What importing another device's buffer fails with; nil: it succeeds.
  var importError: Int32? = ENODEV
  /// Whether the next commits are refused because the one before is not through.
  var isBusy = false
  /// Imported buffers that are not forgotten.
  private(set) var imported: Set<UInt32> = []

  private var planes: [UInt32: DisplayCommit.Plane] = [:]
  private var isOn = false
  private var lastBuffer: UInt32 = 0
  private var events: [FlipEvent] = []

  init(_ driver: MockPlanes, mode: DisplayMode) { (self.driver, self.mode) = (driver, mode) }

  deinit { for buffer in buffers.values { buffer.memory.deallocate() } }

  let descriptor: Int32 = -1

  func snapshot(probes: Bool) throws(DRMError) -> CardSnapshot {
    let status = isConnected ? ConnectorSnapshot.Status.connected : .disconnected
    var card = TestCards.card([TestCards.connector("HDMI-A-1", 50, status, modes: isConnected ? [mode] : [], crtcs: 1)], crtcs: 1)
    card.crtcs[0].gammaSize = gammaSize
    card.planes = driver.planes
    if !isAtomic { card.capabilities.remove(.atomic) }
    return card
  }

  func makeBuffer(width: Int, height: Int, format: PixelFormat) throws(DRMError) -> DumbBuffer {
    lastBuffer += 1
    let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
    let sizes: [(stride: Int, rows: Int)] =
      switch format {
      case .nv12: [(width, height), (2 * halfWidth, halfHeight)]
      case .yuv420, .yvu420: [(width, height), (halfWidth, halfHeight), (halfWidth, halfHeight)]
      default: [(width * 4, height)]
      }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: sizes.reduce(0) { $0 + $1.stride * $1.rows }, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    var base = memory.baseAddress!.assumingMemoryBound(to: UInt8.self)
    var planes: [(base: UnsafeMutablePointer<UInt8>, stride: Int)] = []
    for size in sizes {
      planes.append((base, size.stride))
      base += size.stride * size.rows
    }
    let buffer = DumbBuffer(
      framebuffer: Framebuffer(id: lastBuffer), format: format, width: width, height: height, planes: planes, handle: lastBuffer,
      memory: memory)
    buffers[lastBuffer] = buffer
    return buffer
  }

  func destroy(_ buffer: DumbBuffer) {
    buffers[buffer.handle] = nil
    for (plane, state) in planes where state.framebuffer == buffer.framebuffer { planes[plane] = nil }
    buffer.memory.deallocate()
  }

  /// Takes a copy of the buffer, in whose first plane's descriptor its rows lie.
  func importBuffer(_ buffer: DeviceBuffer) throws(DRMError) -> Framebuffer {
    if let importError { throw DRMError(operation: "importing", code: importError) }
    let copy = try makeBuffer(width: buffer.width, height: buffer.height, format: PixelFormat(rawValue: buffer.format))
    for y in 0..<buffer.height {
      let offset = off_t(buffer.planes[0].offset + y * buffer.planes[0].stride)
      pread(buffer.planes[0].descriptor, copy.planes[0].base + y * copy.planes[0].stride, buffer.width * 4, offset)
    }
    imported.insert(copy.framebuffer.id)
    return copy.framebuffer
  }

  func forget(_ framebuffer: Framebuffer) {
    guard imported.remove(framebuffer.id) != nil, let buffer = buffers[framebuffer.id] else { return }
    destroy(buffer)
  }

  func becomeMaster() throws(DRMError) {}
  func dropMaster() {}
  func setGamma(_ table: [UInt16], crtc: UInt32) throws(DRMError) { gamma[crtc] = table }

  /// The driver forgets its tables, as some do with a monitor that goes.
  func forgetGamma() { gamma = [:] }

  func commit(_ commit: DisplayCommit) throws(DRMError) {
    if let code = nextFailure {
      if case .test = commit.kind {
      } else {
        nextFailure = nil
        throw DRMError(operation: "a commit", code: code)
      }
    }
    var (planes, isOn) = (planes, isOn)
    for plane in commit.planes { planes[plane.plane] = plane.framebuffer == nil ? nil : plane }
    // Without atomic modesetting a CRTC has one picture.
    if !isAtomic, commit.planes.count(where: { $0.framebuffer != nil }) > 1 { throw DRMError(operation: "committing", code: EINVAL) }
    if let head = commit.heads.first { isOn = head.timings != nil && head.isActive }
    if case .flip = commit.kind, !events.isEmpty { throw DRMError(operation: "flipping", code: EBUSY) }
    let layout = PlaneLayout(planes: stacked(planes).compactMap(\.assignment))
    let size = (mode.width, mode.height)
    if case .modeset = commit.kind, !isOn, !commit.heads.isEmpty {
      (self.isOn, modesetCount) = (false, modesetCount + 1)
      return
    }
    if isBusy, commit.kind == .flip { throw DRMError(operation: "flipping", code: EBUSY) }
    guard isOn, driver.contradiction(layout, mode: size) == nil, driver.accepts(layout, mode: size) else {
      if case .test = commit.kind { testCount += 1 }
      throw DRMError(operation: "committing", code: EINVAL)
    }
    switch commit.kind {
    case .test:
      testCount += 1
      return
    case .modeset: modesetCount += 1
    case .flip:
      flipCount += 1
      events.append(FlipEvent(crtc: 40, time: .zero, sequence: UInt32(flipCount)))
    }
    (self.planes, self.isOn) = (planes, isOn)
  }

  func readEvents() throws(DRMError) -> [FlipEvent] {
    defer { events = [] }
    return isStuck ? [] : events
  }

  // MARK: What the monitor shows

  /// The planes that are on, from bottom to top as the kernel stacks them.
  private func stacked(_ planes: [UInt32: DisplayCommit.Plane]) -> [DisplayCommit.Plane] {
    planes.values.sorted { one, other in
      func order(_ plane: DisplayCommit.Plane) -> (UInt64, UInt32) {
        guard let offer = driver.planes.first(where: { $0.id == plane.plane }) else { return (0, plane.plane) }
        let place = plane.assignment?.stacking ?? offer.stacking?.range.lowerBound ?? (offer.kind == .primary ? 0 : 1)
        return (place, plane.plane)
      }
      return order(one) < order(other)
    }
  }

  /// The colour at a pixel of the mode.
  subscript(x: Int, y: Int) -> Color {
    var shown = (red: 0.0, green: 0.0, blue: 0.0)
    for plane in stacked(planes) {
      guard let assignment = plane.assignment, let buffer = plane.framebuffer.flatMap({ buffers[$0.id] }),
        assignment.destination.contains(x: x, y: y)
      else { continue }
      let (destination, source) = (assignment.destination, assignment.source)
      let column = (Double(source.x) + (Double(x - destination.x) + 0.5) / Double(destination.width) * Double(source.width)) / 65_536
      let row = (Double(source.y) + (Double(y - destination.y) + 0.5) / Double(destination.height) * Double(source.height)) / 65_536
      let pixel = MockCard.pixel(buffer, Int(column), Int(row))
      let left = assignment.format == .argb8888 ? 1 - pixel.alpha / 255 : 0
      shown = (pixel.red + shown.red * left, pixel.green + shown.green * left, pixel.blue + shown.blue * left)
    }
    func channel(_ value: Double) -> UInt8 { UInt8(min(255, max(0, value.rounded()))) }
    return Color(red: channel(shown.red), green: channel(shown.green), blue: channel(shown.blue))
  }

  private static func pixel(_ buffer: DumbBuffer, _ x: Int, _ y: Int) -> (red: Double, green: Double, blue: Double, alpha: Double) {
    func byte(_ plane: Int, _ offset: Int, _ row: Int) -> Double {
      Double(buffer.planes[plane].base[row * buffer.planes[plane].stride + offset])
    }
    let chroma: (u: Double, v: Double)
    switch buffer.format {
    case .nv12: chroma = (byte(1, x / 2 * 2, y / 2), byte(1, x / 2 * 2 + 1, y / 2))
    case .yuv420: chroma = (byte(1, x / 2, y / 2), byte(2, x / 2, y / 2))
    case .yvu420: chroma = (byte(2, x / 2, y / 2), byte(1, x / 2, y / 2))
    default: return (byte(0, x * 4 + 2, y), byte(0, x * 4 + 1, y), byte(0, x * 4, y), byte(0, x * 4 + 3, y))
    }
    // BT.601, limited range.
    let (luma, u, v) = (1.164 * (byte(0, x, y) - 16), chroma.u - 128, chroma.v - 128)
    func limited(_ value: Double) -> Double { min(255, max(0, value)) }
    return (limited(luma + 1.596 * v), limited(luma - 0.392 * u - 0.813 * v), limited(luma + 2.017 * u), 255)
  }
}
