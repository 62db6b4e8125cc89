import Glibc

/// A picture in memory as planar YUV 4:2:0 (I420, BT.601 limited range unless the frame says otherwise), shared by reference and never copied between threads.
///
/// Written only between the moment a pool hands it out and the moment it is published in a `VideoFrame`; read-only from then on.
/// When the last reference goes, the memory returns to the pool it came from.
public final class VideoBuffer: @unchecked Sendable {
  // Unchecked: the planes are written by the one owner that took the buffer from its pool, before it is shared.

  /// Width of the luma plane in pixels.
  public let width: Int
  /// Height of the luma plane in pixels.
  public let height: Int
  /// Bytes from one luma row to the next.
  public let lumaStride: Int
  /// Bytes from one row to the next in each chroma plane.
  public let chromaStride: Int

  let storage: Storage
  private let pool: VideoBufferPool?

  /// Memory that outlives one use of it.
  struct Storage: @unchecked Sendable {
    // Unchecked: a plain allocation that one buffer at a time owns.
    let base: UnsafeMutableRawPointer
    let byteCount: Int
  }

  static func layout(width: Int, height: Int) -> (lumaStride: Int, chromaStride: Int, byteCount: Int) {
    let lumaStride = (width + 63) & ~63
    let chromaStride = ((width + 1) / 2 + 63) & ~63
    return (lumaStride, chromaStride, lumaStride * height + 2 * chromaStride * ((height + 1) / 2))
  }

  init(width: Int, height: Int, storage: Storage, pool: VideoBufferPool?) {
    (self.width, self.height, self.storage, self.pool) = (width, height, storage, pool)
    (lumaStride, chromaStride, _) = VideoBuffer.layout(width: width, height: height)
  }

  /// A buffer of its own, without a pool: for tests and for single pictures. `width` and `height` must be positive.
  public convenience init(width: Int, height: Int) {
    self.init(width: width, height: height, storage: VideoBuffer.allocate(width: width, height: height), pool: nil)
  }

  static func allocate(width: Int, height: Int) -> Storage {
    precondition(width > 0 && height > 0, "a picture has pixels")
    let size = layout(width: width, height: height).byteCount
    let base = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
    unsafe memset(base, 16, size)
    return unsafe Storage(base: base, byteCount: size)
  }

  deinit {
    if let pool { pool.takeBack(storage, width: width, height: height) } else { unsafe storage.base.deallocate() }
  }

  /// The luma plane's first byte.
  public var luma: UnsafeMutablePointer<UInt8> { unsafe storage.base.assumingMemoryBound(to: UInt8.self) }
  /// The first (U) chroma plane's first byte.
  public var chromaU: UnsafeMutablePointer<UInt8> { unsafe luma + lumaStride * height }
  /// The second (V) chroma plane's first byte.
  public var chromaV: UnsafeMutablePointer<UInt8> { unsafe chromaU + chromaStride * ((height + 1) / 2) }
  /// Width of each chroma plane in samples.
  public var chromaWidth: Int { (width + 1) / 2 }
  /// Height of each chroma plane in rows.
  public var chromaHeight: Int { (height + 1) / 2 }
}
