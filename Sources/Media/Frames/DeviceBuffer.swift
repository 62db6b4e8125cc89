import Glibc

/// A picture in a device's memory that other devices can read without a copy: a DMA-BUF (Linux, Documentation/driver-api/dma-buf.rst).
///
/// Shared by reference; the device may write into it again when the last reference is gone.
public final class DeviceBuffer: Sendable {
  /// One plane of the picture.
  public struct Plane: Sendable, Hashable {
    /// The descriptor of the memory that it lies in, which the buffer owns; planes may share one.
    public var descriptor: Int32
    /// Where it begins, in bytes.
    public var offset: Int
    /// Bytes from one row to the next.
    public var stride: Int

    /// A plane.
    public init(descriptor: Int32, offset: Int, stride: Int) { (self.descriptor, self.offset, self.stride) = (descriptor, offset, stride) }
  }

  /// Width in pixels.
  public let width: Int
  /// Height in pixels.
  public let height: Int
  /// How pixels lie in memory, a `DRM_FORMAT_…` code of the kernel's `drm_fourcc.h`.
  public let format: UInt32
  /// How tiles lie in memory, a `DRM_FORMAT_MOD_…` code; 0: rows one after the other.
  public let modifier: UInt64
  /// The planes, one to four.
  public let planes: [Plane]
  /// A sync file that is ready when the picture is whole; -1: it is. The buffer owns it.
  public let fence: Int32
  private let onRelease: @Sendable () -> Void

  /// A picture in a device's memory. The buffer closes its descriptors when it goes, and then calls `onRelease`.
  public init(
    width: Int, height: Int, format: UInt32, modifier: UInt64 = 0, planes: [Plane], fence: Int32 = -1,
    onRelease: @escaping @Sendable () -> Void = {}
  ) {
    precondition((1...4).contains(planes.count), "a picture has one to four planes")
    (self.width, self.height, self.format, self.modifier) = (width, height, format, modifier)
    (self.planes, self.fence, self.onRelease) = (planes, fence, onRelease)
  }

  deinit {
    for descriptor in Set(planes.map(\.descriptor) + [fence]) where descriptor >= 0 { close(descriptor) }
    onRelease()
  }
}
