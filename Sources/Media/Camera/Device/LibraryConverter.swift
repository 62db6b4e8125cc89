import CV4L2
import CYUV
import Frames
import Glibc
import V4L2

/// Converts pictures of seldom formats by libv4lconvert. Used on one thread.
final class LibraryConverter {
  private let handle: OpaquePointer
  private var source = v4l2_format()
  private var target = v4l2_format()
  private let width: Int
  private let height: Int
  /// A whole picture without gaps between rows, as the library makes it.
  private let scratch: UnsafeMutableRawBufferPointer

  /// The library keeps its address.
  private let silentDevice: UnsafeMutablePointer<libv4l_dev_ops>

  /// A converter of pictures of `format`; nil when the library has no memory.
  init?(_ format: PictureFormat) {
    let device = UnsafeMutablePointer<libv4l_dev_ops>.allocate(capacity: 1)
    unsafe device.initialize(to: v4l2_silent_operations())
    guard let handle = unsafe v4lconvert_create_with_dev_ops(-1, nil, device) else {
      unsafe device.deallocate()
      return nil
    }
    unsafe (self.handle, silentDevice) = (handle, device)
    (width, height) = (format.width, format.height)
    let size = width * height + 2 * ((width + 1) / 2) * ((height + 1) / 2)
    unsafe scratch = .allocate(byteCount: size, alignment: 64)
    source.type = BufferType.capture.rawValue
    source.fmt.pix.width = UInt32(width)
    source.fmt.pix.height = UInt32(height)
    source.fmt.pix.pixelformat = format.pixelFormat.rawValue
    source.fmt.pix.field = 1
    source.fmt.pix.bytesperline = UInt32(format.planes[0].stride)
    source.fmt.pix.sizeimage = UInt32(format.planes[0].size)
    target = source
    target.fmt.pix.pixelformat = FourCC.yuv420.rawValue
    target.fmt.pix.bytesperline = UInt32(width)
    target.fmt.pix.sizeimage = UInt32(size)
  }

  deinit {
    unsafe v4lconvert_destroy(handle)
    unsafe silentDevice.deallocate()
    unsafe scratch.deallocate()
  }

  /// Converts `data` into a picture from `pool`; nil: the library makes nothing of it.
  func convert(_ data: UnsafeMutableRawBufferPointer, from pool: VideoBufferPool) -> VideoBuffer? {
    let count = unsafe v4lconvert_convert(
      handle, &source, &target, data.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(data.count),
      scratch.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(scratch.count))
    guard unsafe Int(count) == scratch.count else { return nil }
    let buffer = pool.buffer(width: width, height: height)
    let luma = unsafe scratch.baseAddress!.assumingMemoryBound(to: UInt8.self)
    let chromaStride = (width + 1) / 2
    let chromaU = unsafe luma + width * height
    unsafe buffer.copy(
      luma: luma, lumaStride: width, chromaU: chromaU, chromaV: chromaU + chromaStride * ((height + 1) / 2), chromaStride: chromaStride)
    return buffer
  }
}
