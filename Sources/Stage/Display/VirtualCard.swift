import Base
import CLinux
import Frames
import Glibc

/// A graphics card that is not there: takes what a stage shows with the vertical blanks of a clock, and shows nobody. For measurements.
final class VirtualCard: DRMDevice {
  let descriptor = linux_timer_create()
  private let mode: DisplayMode
  private let planes: [PlaneOffer]
  private let start = StageThread.now()
  private var lastBuffer: UInt32 = 0
  /// The vertical blank that a flip waits for.
  private var pending: Int64?

  /// A card with one monitor. With `hasPlanes` it shows video by itself, below and above what is composed.
  init(width: Int, height: Int, refreshRate: Double, hasPlanes: Bool) {
    let timings = StandardTimings.timings(width: width, height: height, rate: refreshRate)
    mode = DisplayMode(name: "\(width)x\(height)", timings: timings, isPreferred: true)
    var planes = [
      PlaneOffer(id: 11, kind: .primary, possibleCRTCs: 1, formats: [.xrgb8888, .argb8888].map { FormatOffer(format: $0) })
    ]
    if hasPlanes {
      for id in UInt32(12)...13 {
        planes.append(
          PlaneOffer(id: id, kind: .overlay, possibleCRTCs: 1, formats: [.nv12, .xrgb8888, .argb8888].map { FormatOffer(format: $0) }))
      }
    }
    self.planes = planes
  }

  deinit { close(descriptor) }

  func snapshot(probes: Bool) throws(DRMError) -> CardSnapshot {
    let connector = ConnectorSnapshot(id: 1, name: "VIRTUAL-1", status: .connected, modes: [mode], possibleCRTCs: 1, hasEDID: true)
    return CardSnapshot(
      driver: "virtual", capabilities: [.atomic, .dumbBuffers, .monotonicTimestamps], connectors: [connector],
      crtcs: [CRTCSnapshot(id: 21, index: 0)], planes: planes)
  }

  func makeBuffer(width: Int, height: Int, format: PixelFormat) throws(DRMError) -> DumbBuffer {
    lastBuffer += 1
    let stride = (width + 63) & ~63
    let byteCount = format.isLumaChroma ? stride * (height + (height + 1) / 2) : stride * 4 * height
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 4_096)
    unsafe memset(memory.baseAddress!, 0, byteCount)
    let base = unsafe memory.baseAddress!.assumingMemoryBound(to: UInt8.self)
    let planes = unsafe format.isLumaChroma ? [(base, stride), (base + stride * height, stride)] : [(base, stride * 4)]
    return unsafe DumbBuffer(
      framebuffer: Framebuffer(id: lastBuffer), format: format, width: width, height: height, planes: planes, handle: lastBuffer,
      memory: memory)
  }

  func destroy(_ buffer: DumbBuffer) { unsafe buffer.memory.deallocate() }

  func importBuffer(_ buffer: DeviceBuffer) throws(DRMError) -> Framebuffer {
    throw DRMError(operation: "another device's buffer", code: EINVAL)
  }

  func forget(_ framebuffer: Framebuffer) {}

  func commit(_ commit: DisplayCommit) throws(DRMError) {
    guard commit.kind == .flip else { return }
    guard pending == nil else { throw DRMError(operation: "a flip", code: EBUSY) }
    let next = (StageThread.now() - start).nanoseconds / mode.period.nanoseconds + 1
    pending = next
    linux_timer_set(descriptor, time(ofBlank: next).nanoseconds)
  }

  private func time(ofBlank number: Int64) -> Instant { start + mode.period * number }

  func readEvents() throws(DRMError) -> [FlipEvent] {
    var count: UInt64 = 0
    guard let blank = pending, unsafe read(descriptor, &count, 8) == 8 else { return [] }
    pending = nil
    return [FlipEvent(crtc: 21, time: time(ofBlank: blank), sequence: UInt32(truncatingIfNeeded: blank))]
  }

  func becomeMaster() throws(DRMError) {}
  func dropMaster() {}
  func setGamma(_ table: [UInt16], crtc: UInt32) throws(DRMError) {}
}

/// A monitor that is not there.
package enum VirtualMonitor {
  /// The thread of a stage whose picture goes to a monitor of `width` by `height` pixels that nobody sees, refreshed `refreshRate` times a
  /// second. With `hasPlanes` its card shows videos by itself.
  package static func thread(
    of stage: Stage, width: Int, height: Int, refreshRate: Double = 60, hasPlanes: Bool, onFlip: @escaping @Sendable (Flip) -> Void
  ) -> StageThread {
    let display = KMSDisplay(preferences: DisplayPreferences()) { () throws(DRMError) -> any DRMDevice in
      VirtualCard(width: width, height: height, refreshRate: refreshRate, hasPlanes: hasPlanes)
    }
    return StageThread(stage: stage, monitors: display, onFlip: onFlip)
  }
}
