import Frames
import Glibc
import V4L2

/// How a picture in a device's memory lies, for a codec that reads it there: one piece of memory, its planes behind each other.
struct DeviceMemoryShape: Equatable {
  let format: FourCC
  /// Bytes from one row to the next.
  let stride: Int
  /// Whether there is one plane, after which rows may be added.
  var isPacked: Bool { format != .nv12 }
  /// Bytes of memory.
  let byteCount: Int

  /// Nil when a codec could not be told where the planes are.
  init?(_ buffer: DeviceBuffer) {
    guard let first = buffer.planes.first, first.offset == 0, buffer.modifier == 0 else { return nil }
    // DRM and V4L2 write these formats with the same characters.
    let code = FourCC(rawValue: buffer.format)
    switch (code, buffer.planes.count) {
    case (.yuyv, 1), (.uyvy, 1): break
    case (.nv12, 2):
      let chroma = buffer.planes[1]
      guard chroma.descriptor == first.descriptor, chroma.stride == first.stride, chroma.offset == first.stride * buffer.height else {
        return nil
      }
    default: return nil
    }
    (format, stride) = (code, first.stride)
    byteCount = Int(lseek(first.descriptor, 0, SEEK_END))
  }
}
