import Base
import CYUV
import Frames
import Glibc

/// What a plane of its own shows of one video: the frame's own buffer where the display can read it, else one of two that frames are copied to.
final class VideoPlane {
  /// How a frame came onto the screen.
  enum Passage {
    /// Through a buffer of the card, that the processor copied it to.
    case copied
    /// From where it was, in another device's memory.
    case imported
  }

  private struct Shown {
    var frame: VideoFrame
    var format: PixelFormat
    var modifier: UInt64
    var framebuffer: Framebuffer
    var passage: Passage

    func isThis(_ frame: VideoFrame, as assignment: PlaneAssignment) -> Bool {
      self.frame.buffer === frame.buffer && self.frame.deviceBuffer === frame.deviceBuffer && format == assignment.format
        && modifier == assignment.modifier
    }
  }

  private let device: any DRMDevice
  /// Two that are shown in turn.
  private var copies: [DumbBuffer] = []
  /// Those of another size or format, of which one may still be on the screen.
  private var outgrown: [DumbBuffer] = []
  private var imported = ImportedBuffers()
  /// What the plane shows, and what it shows next: frames whose own buffers are read must not go back to their devices.
  private var shown: Shown?
  private var next: Shown?
  private var hasComplained = false

  init(device: any DRMDevice) { self.device = device }

  deinit {
    imported.forgetAll(on: device)
    for buffer in copies + outgrown { device.destroy(buffer) }
  }

  /// A sync file that the next buffer has to be waited for with; -1: none.
  var fence: Int32 { next?.passage == .imported ? next?.frame.deviceBuffer?.fence ?? -1 : -1 }

  /// Makes a frame ready to be shown as `assignment` says. What is on the screen stays as it is. Throws EINVAL when the plane cannot show it so.
  func prepare(_ frame: VideoFrame, _ assignment: PlaneAssignment) throws(DRMError) -> Framebuffer {
    if let next, next.isThis(frame, as: assignment) { return next.framebuffer }
    if let shown, shown.isThis(frame, as: assignment) {
      next = nil
      return shown.framebuffer
    }
    let (framebuffer, passage): (Framebuffer, Passage)
    if let buffer = frame.deviceBuffer, buffer.format == assignment.format.rawValue, buffer.modifier == assignment.modifier,
      buffer.width == assignment.bufferWidth, buffer.height == assignment.bufferHeight
    {
      (framebuffer, passage) = (try importing(buffer), .imported)
    } else {
      let buffer = try freeCopy(assignment)
      copy(frame, to: buffer)
      (framebuffer, passage) = (buffer.framebuffer, .copied)
    }
    next = Shown(frame: frame, format: assignment.format, modifier: assignment.modifier, framebuffer: framebuffer, passage: passage)
    return framebuffer
  }

  /// What was prepared is on the screen now. Says how it came there; nil: it was there already.
  func flip() -> Passage? {
    guard let next else { return nil }
    (shown, self.next) = (next, nil)
    discardOutgrown()
    return next.passage
  }

  /// The plane shows something else now: frames go back to their devices.
  func rest() {
    (shown, next) = (nil, nil)
    discardOutgrown()
    imported.forgetAll(on: device)
  }

  private func importing(_ buffer: DeviceBuffer) throws(DRMError) -> Framebuffer {
    do throws(DRMError) {
      return try imported.framebuffer(of: buffer, on: device, shown: shown?.framebuffer)
    } catch {
      if !hasComplained { Log.notice("\(error); frames are copied instead") }
      hasComplained = true
      // Whatever the reason is, it lies with this buffer, and not with the display.
      throw DRMError(operation: error.operation, code: EINVAL)
    }
  }

  /// A buffer that frames can be copied to, as the assignment says, and that is not on the screen.
  private func freeCopy(_ assignment: PlaneAssignment) throws(DRMError) -> DumbBuffer {
    let (width, height, format) = (assignment.bufferWidth, assignment.bufferHeight, assignment.format)
    if copies.first.map({ $0.width != width || $0.height != height || $0.format != format }) ?? false {
      outgrown += copies
      copies = []
    }
    while copies.count < 2 { copies.append(try device.makeBuffer(width: width, height: height, format: format)) }
    return copies[0].framebuffer == shown?.framebuffer ? copies[1] : copies[0]
  }

  private func discardOutgrown() {
    for buffer in outgrown where buffer.framebuffer != shown?.framebuffer { device.destroy(buffer) }
    outgrown.removeAll { $0.framebuffer != shown?.framebuffer }
  }

  /// Brings a frame into the buffer's format.
  private func copy(_ frame: VideoFrame, to buffer: DumbBuffer) {
    let (from, planes) = unsafe (frame.buffer, buffer.planes)
    let (width, height) = (Int32(min(from.width, buffer.width)), Int32(min(from.height, buffer.height)))
    switch buffer.format {
    case .nv12:
      unsafe I420ToNV12(
        from.luma, Int32(from.lumaStride), from.chromaU, Int32(from.chromaStride), from.chromaV, Int32(from.chromaStride),
        planes[0].base, Int32(planes[0].stride), planes[1].base, Int32(planes[1].stride), width, height)
    case .yuv420, .yvu420:
      let (u, v) = buffer.format == .yuv420 ? (1, 2) : (2, 1)
      unsafe I420Copy(
        from.luma, Int32(from.lumaStride), from.chromaU, Int32(from.chromaStride), from.chromaV, Int32(from.chromaStride),
        planes[0].base, Int32(planes[0].stride), planes[u].base, Int32(planes[u].stride), planes[v].base, Int32(planes[v].stride), width,
        height)
    default:
      unsafe I420ToARGB(
        from.luma, Int32(from.lumaStride), from.chromaU, Int32(from.chromaStride), from.chromaV, Int32(from.chromaStride),
        planes[0].base, Int32(planes[0].stride), width, height)
    }
  }
}
