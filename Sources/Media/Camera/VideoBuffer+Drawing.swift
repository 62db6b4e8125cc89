import Frames
import Glibc

extension VideoBuffer {
  /// Fills a rectangle of the luma plane; what lies outside of the picture is cut off.
  func fillLuma(x: Range<Int>, y: Range<Int>, with value: UInt8) {
    let (x, y) = (x.clamped(to: 0..<width), y.clamped(to: 0..<height))
    guard !x.isEmpty else { return }
    for row in y { unsafe memset(luma + row * lumaStride + x.lowerBound, Int32(value), x.count) }
  }

  /// Fills whole rows of both chroma planes.
  func fillChroma(rows: Range<Int>, u: UInt8, v: UInt8) {
    fillChroma(x: 0..<chromaWidth, y: rows, u: u, v: v)
  }

  /// Fills a rectangle of both chroma planes, in chroma samples; what lies outside of the picture is cut off.
  func fillChroma(x: Range<Int>, y: Range<Int>, u: UInt8, v: UInt8) {
    let (x, y) = (x.clamped(to: 0..<chromaWidth), y.clamped(to: 0..<chromaHeight))
    guard !x.isEmpty else { return }
    for row in y {
      unsafe memset(chromaU + row * chromaStride + x.lowerBound, Int32(u), x.count)
      unsafe memset(chromaV + row * chromaStride + x.lowerBound, Int32(v), x.count)
    }
  }

  /// The mean of a rectangle of the luma plane that lies inside of the picture.
  func meanLuma(x: Range<Int>, y: Range<Int>) -> Int {
    var sum = 0
    for row in y {
      let line = unsafe luma + row * lumaStride
      for column in x { unsafe sum += Int(line[column]) }
    }
    return sum / (x.count * y.count)
  }

  /// Copies a window of `source`, with even corner coordinates, over the whole picture.
  func copyWindow(of source: VideoBuffer, x: Int, y: Int) {
    precondition(x & 1 == 0 && y & 1 == 0, "a chroma sample covers two pixels each way")
    precondition(x + width <= source.width && y + height <= source.height, "the window lies inside of its source")
    for row in 0..<height { unsafe memcpy(luma + row * lumaStride, source.luma + (y + row) * source.lumaStride + x, width) }
    for row in 0..<chromaHeight {
      let offset = (y / 2 + row) * source.chromaStride + x / 2
      unsafe memcpy(chromaU + row * chromaStride, source.chromaU + offset, chromaWidth)
      unsafe memcpy(chromaV + row * chromaStride, source.chromaV + offset, chromaWidth)
    }
  }
}
