import CYUV
import Frames

/// What a plane of its own shows of one video: the frame's own buffer where the display can read it, else one of two that frames are copied to.
final class VideoPlane {
  private let device: any DRMDevice
  private var buffers: [DumbBuffer] = []
  private var index = 0
  /// What the plane shows, and what it shows next: frames whose own buffers are read must not go back to their devices.
  private var shown: Shown?
  private var next: Shown?
  /// Buffers of devices that are known to the driver, by the descriptor's memory.
  private var imported: [ObjectIdentifier: (buffer: DeviceBuffer, framebuffer: Framebuffer)] = [:]

  private struct Shown {
    var frame: VideoFrame
    var framebuffer: Framebuffer
    var isImported: Bool
  }

  init(device: any DRMDevice) { self.device = device }

  deinit {
    for entry in imported.values { device.forget(entry.framebuffer) }
    for buffer in buffers { device.destroy(buffer) }
  }

  /// Whether `frame` is what the plane shows, or is about to.
  func shows(_ frame: VideoFrame) -> Bool { (next ?? shown)?.frame.buffer === frame.buffer }

  /// A sync file that the next buffer has to be waited for with; -1: none.
  var fence: Int32 { next?.isImported == true ? next?.frame.deviceBuffer?.fence ?? -1 : -1 }

  /// Makes a frame ready to be shown as `assignment` says.
  func prepare(_ frame: VideoFrame, _ assignment: PlaneAssignment) throws(DRMError) -> Framebuffer {
    if let next, next.frame.buffer === frame.buffer { return next.framebuffer }
    if let device = frame.deviceBuffer, device.format == assignment.format.rawValue, device.modifier == assignment.modifier,
      device.width == assignment.bufferWidth, device.height == assignment.bufferHeight
    {
      let framebuffer = try importing(device)
      next = Shown(frame: frame, framebuffer: framebuffer, isImported: true)
      return framebuffer
    }
    try allocate(assignment)
    index = 1 - index
    copy(frame, to: buffers[index])
    let framebuffer = buffers[index].framebuffer
    next = Shown(frame: frame, framebuffer: framebuffer, isImported: false)
    return framebuffer
  }

  /// What was prepared is on the screen now.
  func flip() {
    guard let next else { return }
    (shown, self.next) = (next, nil)
    // A device has a handful of buffers; those that it has given up are forgotten.
    if imported.count > 16 {
      for (key, entry) in imported where entry.framebuffer != next.framebuffer {
        device.forget(entry.framebuffer)
        imported[key] = nil
      }
    }
  }

  private func importing(_ buffer: DeviceBuffer) throws(DRMError) -> Framebuffer {
    if let known = imported[ObjectIdentifier(buffer)] { return known.framebuffer }
    let framebuffer = try device.importBuffer(buffer)
    imported[ObjectIdentifier(buffer)] = (buffer, framebuffer)
    return framebuffer
  }

  private func allocate(_ assignment: PlaneAssignment) throws(DRMError) {
    if let first = buffers.first, first.width == assignment.bufferWidth, first.height == assignment.bufferHeight,
      first.format == assignment.format
    {
      return
    }
    for buffer in buffers { device.destroy(buffer) }
    buffers = []
    for _ in 0..<2 {
      buffers.append(
        try device.makeBuffer(width: assignment.bufferWidth, height: assignment.bufferHeight, format: assignment.format))
    }
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
