import CYUV
import Frames
import V4L2

/// Makes pictures as they are inside Parlor of what a camera gives: I420, BT.601 in the limited range. Used on one thread.
///
/// Pictures come from a pool, and scratch memory stays, so that in steady state none is allocated.
final class PictureConverter {
  private enum Method {
    case rows(PictureLayout)
    case jpeg(JPEGDecoder)
    case library(LibraryConverter)
  }

  let width: Int
  let height: Int
  /// Whether pictures are turned over from left to right here.
  let isMirrored: Bool
  /// Where rows lie; nil for coded pictures.
  var layout: PictureLayout? { if case .rows(let layout) = method { layout } else { nil } }
  /// Whether the driver's colours are those inside Parlor.
  var keepsColors: Bool { format.matrix == .bt601 && !format.isFullRange }

  private let format: PictureFormat
  private let method: Method
  private let pool = VideoBufferPool()
  private let mirrorPool = VideoBufferPool(capacity: 2)

  /// A converter of `format`, of which `width` by `height` pixels are seen; nil: nothing can be made of it.
  init?(_ format: PictureFormat, width: Int, height: Int, isMirrored: Bool = false) {
    (self.format, self.width, self.height, self.isMirrored) = (format, width, height, isMirrored)
    if format.pixelFormat == .mjpeg || format.pixelFormat == .jpeg {
      method = .jpeg(JPEGDecoder())
    } else if let layout = PictureLayout(format, width: width, height: height) {
      method = .rows(layout)
    } else if FormatChoice.others.contains(format.pixelFormat), width == format.width, height == format.height,
      let converter = LibraryConverter(format)
    {
      method = .library(converter)
    } else {
      return nil
    }
  }

  /// Makes a picture of a buffer that the driver filled; `memory` holds a mapping of each plane.
  func convert(_ buffer: QueueBuffer, memory: [UnsafeMutableRawBufferPointer]) throws(CameraDiscard) -> VideoBuffer {
    let picture = try make(buffer, memory)
    if !keepsColors, !isFromLibrary {
      ColorConversion.normalize(picture, matrix: format.matrix, isFullRange: format.isFullRange)
    }
    guard isMirrored else { return picture }
    let mirrored = mirrorPool.buffer(width: width, height: height)
    _ = unsafe I420Mirror(
      picture.luma, Int32(picture.lumaStride), picture.chromaU, Int32(picture.chromaStride), picture.chromaV, Int32(picture.chromaStride),
      mirrored.luma, Int32(mirrored.lumaStride), mirrored.chromaU, Int32(mirrored.chromaStride), mirrored.chromaV,
      Int32(mirrored.chromaStride), Int32(width), Int32(height))
    return mirrored
  }

  /// The library makes BT.601 in the limited range of whatever it takes.
  private var isFromLibrary: Bool { if case .library = method { true } else { false } }

  private func make(_ buffer: QueueBuffer, _ memory: [UnsafeMutableRawBufferPointer]) throws(CameraDiscard) -> VideoBuffer {
    let first = buffer.planes[0]
    let length = unsafe min(first.byteCount, memory[0].count)
    guard length > first.offset else { throw .short }
    switch method {
    case .jpeg(let decoder):
      do throws(JPEGFailure) {
        let data = unsafe UnsafeRawBufferPointer(rebasing: memory[0][first.offset..<length])
        return try unsafe decoder.decode(data, width: width, height: height, from: pool)
      } catch {
        throw error == .wrongSize ? .wrongSize : .corrupt
      }
    case .library(let converter):
      let data = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[0][first.offset..<length])
      guard let picture = unsafe converter.convert(data, from: pool) else { throw .corrupt }
      return picture
    case .rows(let layout):
      for part in layout.parts {
        let plane = buffer.planes[part.plane]
        // Rows count from where data begins.
        guard unsafe min(plane.byteCount, memory[part.plane].count) >= plane.offset + part.byteCount else { throw .short }
      }
      return unsafe copy(layout, buffer, memory)
    }
  }

  private func copy(_ layout: PictureLayout, _ buffer: QueueBuffer, _ memory: [UnsafeMutableRawBufferPointer]) -> VideoBuffer {
    let target = pool.buffer(width: width, height: height)
    let (y, u, v) = unsafe (target.luma, target.chromaU, target.chromaV)
    let (lumaStride, chromaStride) = (Int32(target.lumaStride), Int32(target.chromaStride))
    func start(_ index: Int) -> UnsafePointer<UInt8> {
      let part = layout.parts[index]
      let base = unsafe memory[part.plane].baseAddress! + buffer.planes[part.plane].offset + part.offset
      return unsafe UnsafePointer(base.assumingMemoryBound(to: UInt8.self))
    }
    func stride(_ index: Int) -> Int32 { Int32(layout.parts[index].stride) }
    let (width, height) = (Int32(width), Int32(height))
    switch format.pixelFormat {
    case .yuyv: _ = unsafe YUY2ToI420(start(0), stride(0), y, lumaStride, u, chromaStride, v, chromaStride, width, height)
    case .uyvy: _ = unsafe UYVYToI420(start(0), stride(0), y, lumaStride, u, chromaStride, v, chromaStride, width, height)
    case .nv12, FormatChoice.nv12Apart:
      _ = unsafe NV12ToI420(start(0), stride(0), start(1), stride(1), y, lumaStride, u, chromaStride, v, chromaStride, width, height)
    default:
      unsafe target.copy(
        luma: start(0), lumaStride: layout.parts[0].stride, chromaU: start(1), chromaV: start(2), chromaStride: layout.parts[1].stride)
    }
    return target
  }
}
