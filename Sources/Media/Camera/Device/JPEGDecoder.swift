import CTurboJPEG
import CYUV
import Frames
import Glibc

/// Decodes JPEG pictures of a camera into pooled pictures. Used on one thread.
final class JPEGDecoder {
  private let handle: tjhandle
  /// Planes as the decoder lays them out, whose sides are rounded up to whole blocks. Grows to what is needed, and stays.
  private var scratch = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  init() {
    guard let handle = unsafe tjInitDecompress() else { preconditionFailure("turbojpeg has memory for a decoder") }
    self.handle = handle
  }

  deinit {
    unsafe tjDestroy(handle)
    unsafe scratch.deallocate()
  }

  /// Decodes `data` into a picture of `width` by `height` pixels from `pool`, its colours in the full range. A picture may be padded to the right and below
  /// by less than a block of 32: hardware codes 1,088 rows for 1,080.
  func decode(_ data: UnsafeRawBufferPointer, width: Int, height: Int, from pool: VideoBufferPool) throws(JPEGFailure) -> VideoBuffer {
    let bytes = unsafe data.baseAddress?.assumingMemoryBound(to: UInt8.self)
    var (codedWidth, codedHeight, sampling, space): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    guard let bytes = unsafe bytes,
      unsafe tjDecompressHeader3(handle, bytes, UInt(data.count), &codedWidth, &codedHeight, &sampling, &space) == 0,
      codedWidth > 0, codedHeight > 0
    else { throw .corrupt }
    guard (0..<32).contains(Int(codedWidth) - width), (0..<32).contains(Int(codedHeight) - height) else { throw .wrongSize }

    let isGray = sampling == TJSAMP_GRAY.rawValue
    func side(_ component: Int32, _ size: (Int32, Int32, Int32) -> Int32, _ length: Int32) -> Int {
      isGray && component > 0 ? 0 : Int(size(component, length, sampling))
    }
    let widths = (side(0, tjPlaneWidth, codedWidth), side(1, tjPlaneWidth, codedWidth))
    let heights = (side(0, tjPlaneHeight, codedHeight), side(1, tjPlaneHeight, codedHeight))
    guard widths.0 > 0, heights.0 > 0, isGray || widths.1 > 0 && heights.1 > 0 else { throw .corrupt }
    let strides = ((widths.0 + 31) & ~31, (widths.1 + 31) & ~31)
    reserve(strides.0 * heights.0 + 2 * strides.1 * heights.1)

    let luma = unsafe scratch.baseAddress!.assumingMemoryBound(to: UInt8.self)
    let chromaU = unsafe luma + strides.0 * heights.0
    let chromaV = unsafe chromaU + strides.1 * heights.1
    var planes: InlineArray<3, UnsafeMutablePointer<UInt8>?> = [luma, chromaU, chromaV]
    var lengths: InlineArray<3, Int32> = [Int32(strides.0), Int32(strides.1), Int32(strides.1)]
    var planeSpan = planes.mutableSpan
    var lengthSpan = lengths.mutableSpan
    let status = unsafe planeSpan.withUnsafeMutableBufferPointer { planes in
      unsafe lengthSpan.withUnsafeMutableBufferPointer { lengths in
        unsafe tjDecompressToYUVPlanes(
          handle, bytes, UInt(data.count), planes.baseAddress, codedWidth, lengths.baseAddress, codedHeight, 0)
      }
    }
    // A picture that lacks its end is grey or green from there on: it is not shown. Bytes too many do no harm, and some cameras always send them.
    if status != 0, unsafe strstr(tjGetErrorStr2(handle), "extraneous bytes") == nil { throw .corrupt }

    let target = pool.buffer(width: width, height: height)
    unsafe CopyPlane(luma, Int32(strides.0), target.luma, Int32(target.lumaStride), Int32(width), Int32(height))
    guard !isGray else {
      unsafe SetPlane(target.chromaU, Int32(target.chromaStride), Int32(target.chromaWidth), Int32(target.chromaHeight), 128)
      unsafe SetPlane(target.chromaV, Int32(target.chromaStride), Int32(target.chromaWidth), Int32(target.chromaHeight), 128)
      return target
    }
    // The part of the coded chroma that belongs to what is seen, brought to half the size each way.
    let seenWidth = Int32(chroma(width, of: Int(codedWidth), coded: widths.1))
    let seenHeight = Int32(chroma(height, of: Int(codedHeight), coded: heights.1))
    func scale(_ source: UnsafeMutablePointer<UInt8>, _ plane: UnsafeMutablePointer<UInt8>) {
      unsafe ScalePlane(
        source, Int32(strides.1), seenWidth, seenHeight, plane, Int32(target.chromaStride), Int32(target.chromaWidth),
        Int32(target.chromaHeight), kFilterBox)
    }
    unsafe scale(chromaU, target.chromaU)
    unsafe scale(chromaV, target.chromaV)
    return target
  }

  /// Samples of a chroma side that `seen` of `full` pixels take.
  private func chroma(_ seen: Int, of full: Int, coded: Int) -> Int {
    let factor = max(1, (full + coded - 1) / coded)
    return min(coded, (seen + factor - 1) / factor)
  }

  private func reserve(_ byteCount: Int) {
    guard unsafe scratch.count < byteCount + 64 else { return }
    unsafe scratch.deallocate()
    unsafe scratch = .allocate(byteCount: byteCount + 64, alignment: 64)
  }
}

/// Why a JPEG picture was not decoded.
enum JPEGFailure: Error { case corrupt, wrongSize }
