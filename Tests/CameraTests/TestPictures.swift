import CTurboJPEG
import CYUV
import Frames
import V4L2

@testable import Camera

/// A picture whose every part can be told from every other: shades that rise to the right and down, and colours that change across.
func testPicture(width: Int, height: Int) -> VideoBuffer {
  let picture = VideoBuffer(width: width, height: height)
  for y in 0..<height {
    for x in 0..<width { picture.luma[y * picture.lumaStride + x] = UInt8(30 + (x * 120 + y * 60) / max(width, height)) }
  }
  for y in 0..<picture.chromaHeight {
    for x in 0..<picture.chromaWidth {
      picture.chromaU[y * picture.chromaStride + x] = UInt8(90 + 70 * x / picture.chromaWidth)
      picture.chromaV[y * picture.chromaStride + x] = UInt8(160 - 70 * y / picture.chromaHeight)
    }
  }
  return picture
}

/// The greatest difference of two pictures of the same size in any sample.
func greatestDifference(_ a: VideoBuffer, _ b: VideoBuffer) -> (luma: Int, chroma: Int) {
  precondition(a.width == b.width && a.height == b.height)
  func plane(_ a: UnsafeMutablePointer<UInt8>, _ aStride: Int, _ b: UnsafeMutablePointer<UInt8>, _ bStride: Int, _ w: Int, _ h: Int) -> Int
  {
    var most = 0
    for y in 0..<h { for x in 0..<w { most = max(most, abs(Int(a[y * aStride + x]) - Int(b[y * bStride + x]))) } }
    return most
  }
  let luma = plane(a.luma, a.lumaStride, b.luma, b.lumaStride, a.width, a.height)
  let u = plane(a.chromaU, a.chromaStride, b.chromaU, b.chromaStride, a.chromaWidth, a.chromaHeight)
  let v = plane(a.chromaV, a.chromaStride, b.chromaV, b.chromaStride, a.chromaWidth, a.chromaHeight)
  return (luma, max(u, v))
}

extension VideoBuffer {
  /// A picture's bytes as a driver lays them out in `format`, whose padding is bright green.
  func bytes(in format: PictureFormat) -> [[UInt8]] {
    var planes = format.planes.map { [UInt8](repeating: 0xD7, count: $0.size) }
    let layout = PictureLayout(format, width: width, height: height)!
    func copy(_ source: UnsafeMutablePointer<UInt8>, _ sourceStride: Int, to part: PictureLayout.Part, pixel: Int = 1, first: Int = 0) {
      let columns = (part.rowBytes - first + pixel - 1) / pixel
      for row in 0..<part.rows {
        for column in 0..<columns {
          planes[part.plane][part.offset + row * part.stride + first + column * pixel] =
            source[row * sourceStride + min(column, sourceStride - 1)]
        }
      }
    }
    switch format.pixelFormat {
    case .yuyv, .uyvy:
      let part = layout.parts[0]
      let order = format.pixelFormat == .yuyv ? (y: 0, u: 1, v: 3) : (y: 1, u: 0, v: 2)
      for row in 0..<height {
        for pair in 0..<chromaWidth {
          let start = part.offset + row * part.stride + pair * 4
          planes[0][start + order.y] = luma[row * lumaStride + 2 * pair]
          planes[0][start + order.y + 2] = luma[row * lumaStride + min(2 * pair + 1, width - 1)]
          planes[0][start + order.u] = chromaU[row / 2 * chromaStride + pair]
          planes[0][start + order.v] = chromaV[row / 2 * chromaStride + pair]
        }
      }
    case .nv12, FormatChoice.nv12Apart:
      copy(luma, lumaStride, to: layout.parts[0])
      copy(chromaU, chromaStride, to: layout.parts[1], pixel: 2)
      copy(chromaV, chromaStride, to: layout.parts[1], pixel: 2, first: 1)
    default:
      copy(luma, lumaStride, to: layout.parts[0])
      copy(chromaU, chromaStride, to: layout.parts[1])
      copy(chromaV, chromaStride, to: layout.parts[2])
    }
    return planes
  }

  /// The picture as a camera's JPEG, its samples taken as they are.
  func jpeg(sampling: TJSAMP = TJSAMP_422, quality: Int32 = 95) -> [UInt8] {
    let (w, h) = (Int32(width), Int32(height))
    let sides = (Int(tjPlaneWidth(1, w, Int32(sampling.rawValue))), Int(tjPlaneHeight(1, h, Int32(sampling.rawValue))))
    var u = [UInt8](repeating: 128, count: max(1, sides.0 * sides.1))
    var v = u
    if sampling != TJSAMP_GRAY {
      ScalePlane(
        chromaU, Int32(chromaStride), Int32(chromaWidth), Int32(chromaHeight), &u, Int32(sides.0), Int32(sides.0), Int32(sides.1),
        kFilterBilinear)
      ScalePlane(
        chromaV, Int32(chromaStride), Int32(chromaWidth), Int32(chromaHeight), &v, Int32(sides.0), Int32(sides.0), Int32(sides.1),
        kFilterBilinear)
    }
    let full = (Int(tjPlaneWidth(0, w, Int32(sampling.rawValue))), Int(tjPlaneHeight(0, h, Int32(sampling.rawValue))))
    var y = [UInt8](repeating: 0, count: full.0 * full.1)
    for row in 0..<full.1 {
      for column in 0..<full.0 { y[row * full.0 + column] = luma[min(row, height - 1) * lumaStride + min(column, width - 1)] }
    }
    let handle = tjInitCompress()!
    defer { tjDestroy(handle) }
    var output: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    let status = y.withUnsafeBufferPointer { y in
      u.withUnsafeBufferPointer { u in
        v.withUnsafeBufferPointer { v in
          var planes: [UnsafePointer<UInt8>?] = [y.baseAddress, u.baseAddress, v.baseAddress]
          var strides = [Int32(full.0), Int32(sides.0), Int32(sides.0)]
          return tjCompressFromYUVPlanes(handle, &planes, w, &strides, h, Int32(sampling.rawValue), &output, &count, quality, 0)
        }
      }
    }
    precondition(status == 0)
    defer { tjFree(output) }
    return Array(UnsafeBufferPointer(start: output, count: Int(count)))
  }
}

extension PictureConverter {
  /// Converts planes of bytes as if a driver had filled a buffer with them.
  func convert(_ planes: [[UInt8]], byteCounts: [Int]? = nil) throws(CameraDiscard) -> VideoBuffer {
    var buffer = QueueBuffer(index: 0)
    buffer.planeCount = planes.count
    let memory = planes.map { bytes in
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 64)
      copy.copyBytes(from: bytes)
      return copy
    }
    defer { for plane in memory { plane.deallocate() } }
    for index in planes.indices {
      buffer.planes[index].byteCount = byteCounts?[index] ?? planes[index].count
      buffer.planes[index].length = planes[index].count
    }
    return try convert(buffer, memory: memory)
  }
}
