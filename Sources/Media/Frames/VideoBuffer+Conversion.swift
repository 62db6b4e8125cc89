import CYUV

extension VideoBuffer {
  /// The picture with `newWidth` by `newHeight` pixels, in a buffer from `pool`: scaled evenly, and cut off at two opposite sides where the
  /// shapes differ.
  public func croppedAndScaled(width newWidth: Int, height newHeight: Int, from pool: VideoBufferPool) -> VideoBuffer {
    // The largest part in the middle that has the new shape, on even pixels for the sake of the chroma planes.
    let isTooWide = width * newHeight > height * newWidth
    let partWidth = isTooWide ? max(2, height * newWidth / newHeight) : width
    let partHeight = isTooWide ? height : max(2, width * newHeight / newWidth)
    let (x, y) = (max(0, (width - partWidth) / 2) & ~1, max(0, (height - partHeight) / 2) & ~1)
    let target = pool.buffer(width: newWidth, height: newHeight)
    let chroma = y / 2 * chromaStride + x / 2
    _ = unsafe I420Scale(
      luma + y * lumaStride + x, Int32(lumaStride), chromaU + chroma, Int32(chromaStride), chromaV + chroma, Int32(chromaStride),
      Int32(min(partWidth, width - x)), Int32(min(partHeight, height - y)),
      target.luma, Int32(target.lumaStride), target.chromaU, Int32(target.chromaStride), target.chromaV, Int32(target.chromaStride),
      Int32(newWidth), Int32(newHeight), kFilterBox)
    return target
  }

  /// Takes a picture of RGBA bytes, which must be as many as this buffer has pixels times 4. Alpha is not looked at.
  public func copy(rgba pixels: RawSpan) {
    precondition(pixels.byteCount == width * height * 4, "a pixel of RGBA has 4 bytes")
    unsafe pixels.withUnsafeBytes { bytes in
      let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      _ = unsafe ABGRToI420(
        start, Int32(width * 4), luma, Int32(lumaStride), chromaU, Int32(chromaStride), chromaV, Int32(chromaStride), Int32(width),
        Int32(height))
    }
  }
}

extension VideoFrame {
  /// The picture as it is to be seen, upright, in RGBA bytes without gaps.
  public func rgba(from pool: VideoBufferPool) -> (width: Int, height: Int, pixels: [UInt8]) {
    let upright = rotation == .none ? buffer : buffer.rotated(by: rotation, from: pool)
    let (width, height) = (upright.width, upright.height)
    let pixels = unsafe [UInt8](unsafeUninitializedCapacity: width * height * 4) { target, count in
      _ = unsafe I420ToABGR(
        upright.luma, Int32(upright.lumaStride), upright.chromaU, Int32(upright.chromaStride), upright.chromaV, Int32(upright.chromaStride),
        target.baseAddress, Int32(width * 4), Int32(width), Int32(height))
      count = width * height * 4
    }
    return (width, height, pixels)
  }
}
