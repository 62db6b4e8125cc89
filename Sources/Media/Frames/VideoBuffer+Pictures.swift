import CYUV

extension VideoBuffer {
  /// Copies the pixels of `source`, which must be as large as this buffer.
  public func copy(from source: VideoBuffer) {
    precondition(source.width == width && source.height == height, "a copy has the size of its source")
    unsafe copy(
      luma: source.luma, lumaStride: source.lumaStride, chromaU: source.chromaU, chromaV: source.chromaV,
      chromaStride: source.chromaStride)
  }

  /// Copies planes that a C library owns; each must hold at least this buffer's size.
  public func copy(
    luma: UnsafePointer<UInt8>, lumaStride: Int, chromaU: UnsafePointer<UInt8>, chromaV: UnsafePointer<UInt8>, chromaStride: Int
  ) {
    _ = unsafe I420Copy(
      luma, Int32(lumaStride), chromaU, Int32(chromaStride), chromaV, Int32(chromaStride),
      self.luma, Int32(self.lumaStride), self.chromaU, Int32(self.chromaStride), self.chromaV, Int32(self.chromaStride),
      Int32(width), Int32(height))
  }

  /// The picture at another size, in a buffer from `pool`; the aspect ratio is the caller's business.
  public func scaled(width newWidth: Int, height newHeight: Int, from pool: VideoBufferPool) -> VideoBuffer {
    let target = pool.buffer(width: newWidth, height: newHeight)
    if newWidth == width && newHeight == height {
      target.copy(from: self)
    } else {
      _ = unsafe I420Scale(
        luma, Int32(lumaStride), chromaU, Int32(chromaStride), chromaV, Int32(chromaStride), Int32(width), Int32(height),
        target.luma, Int32(target.lumaStride), target.chromaU, Int32(target.chromaStride), target.chromaV, Int32(target.chromaStride),
        Int32(newWidth), Int32(newHeight), kFilterBox)
    }
    return target
  }

  /// The picture turned clockwise, upright for a display, in a buffer from `pool`.
  public func rotated(by rotation: VideoFrame.Rotation, from pool: VideoBufferPool) -> VideoBuffer {
    let swapsSides = rotation == .quarter || rotation == .threeQuarters
    let target = pool.buffer(width: swapsSides ? height : width, height: swapsSides ? width : height)
    _ = unsafe I420Rotate(
      luma, Int32(lumaStride), chromaU, Int32(chromaStride), chromaV, Int32(chromaStride),
      target.luma, Int32(target.lumaStride), target.chromaU, Int32(target.chromaStride), target.chromaV, Int32(target.chromaStride),
      Int32(width), Int32(height), RotationMode(rawValue: numericCast(rotation.rawValue)))
    return target
  }

  /// Makes the whole picture one colour.
  public func fill(luma y: UInt8, chromaU u: UInt8 = 128, chromaV v: UInt8 = 128) {
    _ = unsafe I420Rect(
      luma, Int32(lumaStride), chromaU, Int32(chromaStride), chromaV, Int32(chromaStride), 0, 0, Int32(width), Int32(height),
      Int32(y), Int32(u), Int32(v))
  }
}

/// How alike two pictures of the same size are: the peak signal-to-noise ratio of their luma planes in dB, at most 128 (identical).
///
/// From about 30 dB a difference is hard to see. Pictures of different sizes have nothing in common: 0.
public func lumaPSNR(_ a: VideoBuffer, _ b: VideoBuffer) -> Double {
  guard a.width == b.width, a.height == b.height else { return 0 }
  return unsafe CalcFramePsnr(a.luma, Int32(a.lumaStride), b.luma, Int32(b.lumaStride), Int32(a.width), Int32(a.height))
}
