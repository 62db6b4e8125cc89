import CYUV
import Frames
import V4L2

/// Where the planes of a picture in 4:2:0 lie in a buffer of a codec, and the copies from and to a `VideoBuffer`.
struct RawLayout: Sendable, Equatable {
  // libyuv has a type of this name too.
  private typealias FourCC = V4L2.FourCC

  private enum Chroma { case planar, interleaved, interleavedInReverse }

  private static let separatePlanes = FourCC("YM12")
  private static let separateInterleaved = FourCC("NM12")
  private static let reverseInterleaved = FourCC("NV21")
  /// What can be read and written, best first: I420 is copied as it is.
  static let formats: [V4L2.FourCC] = [.yuv420, .nv12, separatePlanes, separateInterleaved, reverseInterleaved]

  let format: PictureFormat
  private let chroma: Chroma
  /// Where each colour plane begins: which piece of memory, and how many bytes from its start. Interleaved: both are in the second.
  private let places: [(piece: Int, offset: Int)]
  private let lumaStride: Int
  private let chromaStride: Int

  static func == (a: RawLayout, b: RawLayout) -> Bool { a.format == b.format }

  /// The layout of a format; nil when it is not one of `formats`, or the driver's numbers do not fit.
  init?(_ format: PictureFormat) {
    guard format.width > 0, format.height > 0, let first = format.planes.first, first.stride >= format.width else { return nil }
    self.format = format
    lumaStride = first.stride
    let lumaSize = first.stride * format.height
    let chromaHeight = (format.height + 1) / 2
    switch format.pixelFormat {
    case .yuv420:
      chroma = .planar
      chromaStride = lumaStride / 2
      places = [(0, 0), (0, lumaSize), (0, lumaSize + chromaStride * chromaHeight)]
    case .nv12, RawLayout.reverseInterleaved:
      chroma = format.pixelFormat == .nv12 ? .interleaved : .interleavedInReverse
      chromaStride = lumaStride
      places = [(0, 0), (0, lumaSize)]
    case RawLayout.separatePlanes:
      guard format.planes.count == 3, format.planes[1].stride == format.planes[2].stride else { return nil }
      chroma = .planar
      chromaStride = format.planes[1].stride
      places = [(0, 0), (1, 0), (2, 0)]
    case RawLayout.separateInterleaved:
      guard format.planes.count == 2 else { return nil }
      chroma = .interleaved
      chromaStride = format.planes[1].stride
      places = [(0, 0), (1, 0)]
    default: return nil
    }
    guard chromaStride >= (chroma == .planar ? (format.width + 1) / 2 : (format.width + 1) / 2 * 2) else { return nil }
    let ends = places.indices.map { places[$0].offset + ($0 == 0 ? lumaSize : chromaStride * chromaHeight) }
    for (place, end) in zip(places, ends) where place.piece >= format.planes.count || end > format.planes[place.piece].size { return nil }
  }

  private func start(_ plane: Int, _ memory: [UnsafeMutableRawBufferPointer]) -> UnsafeMutablePointer<UInt8> {
    let place = places[plane]
    return unsafe memory[place.piece].baseAddress!.assumingMemoryBound(to: UInt8.self) + place.offset
  }

  /// Copies a picture, no larger than the format, into the top left corner. What is left over repeats its last column and row.
  func write(_ picture: VideoBuffer, to memory: [UnsafeMutableRawBufferPointer]) {
    let (width, height) = (Int32(picture.width), Int32(picture.height))
    let luma = unsafe start(0, memory)
    if chroma == .planar {
      _ = unsafe I420Copy(
        picture.luma, Int32(picture.lumaStride), picture.chromaU, Int32(picture.chromaStride), picture.chromaV, Int32(picture.chromaStride),
        luma, Int32(lumaStride), start(1, memory), Int32(chromaStride), start(2, memory), Int32(chromaStride), width, height)
      for plane in 1...2 {
        unsafe extend(
          start(plane, memory), chromaStride, from: (picture.chromaWidth, picture.chromaHeight),
          to: ((format.width + 1) / 2, (format.height + 1) / 2), unit: 1)
      }
    } else {
      let isReverse = chroma == .interleavedInReverse
      let (first, second) = unsafe isReverse ? (picture.chromaV, picture.chromaU) : (picture.chromaU, picture.chromaV)
      _ = unsafe I420ToNV12(
        picture.luma, Int32(picture.lumaStride), first, Int32(picture.chromaStride), second, Int32(picture.chromaStride),
        luma, Int32(lumaStride), start(1, memory), Int32(chromaStride), width, height)
      unsafe extend(
        start(1, memory), chromaStride, from: (picture.chromaWidth, picture.chromaHeight),
        to: ((format.width + 1) / 2, (format.height + 1) / 2), unit: 2)
    }
    unsafe extend(luma, lumaStride, from: (picture.width, picture.height), to: (format.width, format.height), unit: 1)
  }

  /// Copies `visible`, which must lie within the format and begin on even pixels, into `picture`, which is as large.
  func read(_ visible: Selection, from memory: [UnsafeMutableRawBufferPointer], into picture: VideoBuffer) {
    let (width, height) = (Int32(visible.width), Int32(visible.height))
    let luma = unsafe start(0, memory) + visible.y * lumaStride + visible.x
    if chroma == .planar {
      let offset = visible.y / 2 * chromaStride + visible.x / 2
      _ = unsafe I420Copy(
        luma, Int32(lumaStride), start(1, memory) + offset, Int32(chromaStride), start(2, memory) + offset, Int32(chromaStride),
        picture.luma, Int32(picture.lumaStride), picture.chromaU, Int32(picture.chromaStride), picture.chromaV, Int32(picture.chromaStride),
        width, height)
    } else {
      let isReverse = chroma == .interleavedInReverse
      let (first, second) = unsafe isReverse ? (picture.chromaV, picture.chromaU) : (picture.chromaU, picture.chromaV)
      _ = unsafe NV12ToI420(
        luma, Int32(lumaStride), start(1, memory) + visible.y / 2 * chromaStride + visible.x, Int32(chromaStride),
        picture.luma, Int32(picture.lumaStride), first, Int32(picture.chromaStride), second, Int32(picture.chromaStride), width, height)
    }
  }

  /// Repeats the last column and row of a plane up to its full size.
  private func extend(
    _ plane: UnsafeMutablePointer<UInt8>, _ stride: Int, from size: (width: Int, height: Int), to full: (width: Int, height: Int), unit: Int
  ) {
    if full.width > size.width {
      for y in 0..<size.height {
        let row = unsafe plane + y * stride
        for x in size.width * unit..<full.width * unit { unsafe row[x] = row[x - unit] }
      }
    }
    for y in size.height..<max(size.height, full.height) {
      unsafe UnsafeMutableRawPointer(plane + y * stride).copyMemory(from: plane + (y - 1) * stride, byteCount: full.width * unit)
    }
  }
}
