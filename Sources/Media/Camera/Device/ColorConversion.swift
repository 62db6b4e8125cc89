import Frames
import V4L2

/// Brings colours of a picture to what they are inside Parlor: BT.601, luma from 16 to 235, chroma from 16 to 240.
enum ColorConversion {
  /// Changes `buffer`, whose colours are coded as `matrix` says, in the full range or not.
  static func normalize(_ buffer: VideoBuffer, matrix: PictureFormat.Matrix, isFullRange: Bool) {
    if isFullRange {
      let (chromaSize, chromaStride) = ((buffer.chromaWidth, buffer.chromaHeight), buffer.chromaStride)
      unsafe compress(buffer.luma, buffer.lumaStride, (buffer.width, buffer.height), factor: 219, bias: 16 * 255 + 127)
      // 128 stays: 128 · 224 + bias is 128 · 255 and a half.
      unsafe compress(buffer.chromaU, chromaStride, chromaSize, factor: 224, bias: 128 * 31 + 127)
      unsafe compress(buffer.chromaV, chromaStride, chromaSize, factor: 224, bias: 128 * 31 + 127)
    }
    switch matrix {
    case .bt601: break
    case .bt709: rematrix(buffer, ColorConversion.from709)
    case .bt2020: rematrix(buffer, ColorConversion.from2020)
    }
  }

  /// value → (value · factor + bias) / 255, rows padded to whole vectors included: a pool's strides are.
  private static func compress(_ plane: UnsafeMutablePointer<UInt8>, _ stride: Int, _ size: (Int, Int), factor: UInt16, bias: UInt16) {
    for row in 0..<size.1 {
      let line = unsafe UnsafeMutableRawPointer(plane + row * stride)
      var column = 0
      while column < size.0 {
        let bytes = unsafe line.loadUnaligned(fromByteOffset: column, as: SIMD32<UInt8>.self)
        let scaled = SIMD32<UInt16>(truncatingIfNeeded: bytes) &* factor &+ bias
        // Division by 255, exact for 16 bits.
        let result = SIMD32<UInt8>(truncatingIfNeeded: (scaled &+ 1 &+ (scaled &>> 8)) &>> 8)
        unsafe line.storeBytes(of: result, toByteOffset: column, as: SIMD32<UInt8>.self)
        column += 32
      }
    }
  }

  /// What each chroma adds to luma, U and V, in 1/512: another matrix taken back, BT.601 applied, in the limited range. All are small, so that sums
  /// of two products with a chroma fit 16 bits, in which every processor multiplies several at a time.
  private struct Weights {
    var (lumaU, lumaV, uu, uv, vu, vv): (Int16, Int16, Int16, Int16, Int16, Int16)
  }

  private static let from709 = weights(red: 0.2126, blue: 0.0722)
  private static let from2020 = weights(red: 0.2627, blue: 0.0593)

  private static func weights(red: Double, blue: Double) -> Weights {
    let (green, wantedRed, wantedBlue) = (1 - red - blue, 0.299, 0.114)
    let wantedGreen = 1 - wantedRed - wantedBlue
    // With luma and chroma from 0 to 1 and -½ to ½: R = Y + 2(1-r)·V, B = Y + 2(1-b)·U, G = Y - (r·2(1-r)·V + b·2(1-b)·U) / g.
    let (redOfV, blueOfU) = (2 * (1 - red), 2 * (1 - blue))
    let (greenOfU, greenOfV) = (-blue * blueOfU / green, -red * redOfV / green)
    let lumaU = wantedGreen * greenOfU + wantedBlue * blueOfU
    let lumaV = wantedRed * redOfV + wantedGreen * greenOfV
    let (uScale, vScale) = (1 / (2 * (1 - wantedBlue)), 1 / (2 * (1 - wantedRed)))
    func fixed(_ value: Double) -> Int16 { Int16((value * 512).rounded()) }
    // Limited luma has 219 steps where chroma has 224.
    return Weights(
      lumaU: fixed(lumaU * 219 / 224), lumaV: fixed(lumaV * 219 / 224), uu: fixed((blueOfU - lumaU) * uScale - 1),
      uv: fixed(-lumaV * uScale),
      vu: fixed(-lumaU * vScale), vv: fixed((redOfV - lumaV) * vScale - 1))
  }

  private static func rematrix(_ buffer: VideoBuffer, _ weights: Weights) {
    typealias Wide = SIMD16<Int16>
    func wide(_ pointer: UnsafeMutablePointer<UInt8>) -> Wide {
      unsafe Wide(truncatingIfNeeded: UnsafeRawPointer(pointer).loadUnaligned(as: SIMD16<UInt8>.self))
    }
    func store(_ value: Wide, _ pointer: UnsafeMutablePointer<UInt8>) {
      let clamped = value.clamped(lowerBound: Wide(repeating: 0), upperBound: Wide(repeating: 255))
      unsafe UnsafeMutableRawPointer(pointer).storeBytes(of: SIMD16<UInt8>(truncatingIfNeeded: clamped), as: SIMD16<UInt8>.self)
    }
    let half = Wide(repeating: 256)
    for row in 0..<buffer.chromaHeight {
      var column = 0
      while column < buffer.chromaWidth {
        let offset = row * buffer.chromaStride + column
        let u = unsafe wide(buffer.chromaU + offset) &- 128
        let v = unsafe wide(buffer.chromaV + offset) &- 128
        unsafe store((u &* weights.uu &+ v &* weights.uv &+ half) &>> 9 &+ u &+ 128, buffer.chromaU + offset)
        unsafe store((u &* weights.vu &+ v &* weights.vv &+ half) &>> 9 &+ v &+ 128, buffer.chromaV + offset)
        // A chroma sample covers two pixels each way.
        let change = (u &* weights.lumaU &+ v &* weights.lumaV &+ half) &>> 9
        for line in 2 * row..<min(2 * row + 2, buffer.height) {
          let luma = unsafe buffer.luma + line * buffer.lumaStride + 2 * column
          let pair = unsafe UnsafeMutableRawPointer(luma).loadUnaligned(as: SIMD32<UInt8>.self)
          let (even, odd) = (Wide(truncatingIfNeeded: pair.evenHalf) &+ change, Wide(truncatingIfNeeded: pair.oddHalf) &+ change)
          let (low, high) = (Wide(repeating: 0), Wide(repeating: 255))
          var result = SIMD32<UInt8>()
          result.evenHalf = SIMD16(truncatingIfNeeded: even.clamped(lowerBound: low, upperBound: high))
          result.oddHalf = SIMD16(truncatingIfNeeded: odd.clamped(lowerBound: low, upperBound: high))
          unsafe UnsafeMutableRawPointer(luma).storeBytes(of: result, as: SIMD32<UInt8>.self)
        }
        column += 16
      }
    }
  }
}
