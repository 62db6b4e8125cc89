import CYUV
import Frames

/// Puts video frames on a canvas: cut, scaled, turned, mirrored and converted to RGB by libyuv.
///
/// One per layer: it keeps the intermediate pictures, so that a steady video allocates nothing.
struct VideoPainter {
  private var scaled: VideoBuffer?
  private var turned: VideoBuffer?
  private var mirrored: VideoBuffer?

  /// Planes to read from, possibly a part of a larger picture.
  private struct Planes {
    var y: UnsafeMutablePointer<UInt8>
    var u: UnsafeMutablePointer<UInt8>
    var v: UnsafeMutablePointer<UInt8>
    var lumaStride: Int32
    var chromaStride: Int32
    var width: Int32
    var height: Int32

    init(_ buffer: VideoBuffer) {
      unsafe (y, u, v) = (buffer.luma, buffer.chromaU, buffer.chromaV)
      (lumaStride, chromaStride) = (Int32(buffer.lumaStride), Int32(buffer.chromaStride))
      (width, height) = (Int32(buffer.width), Int32(buffer.height))
    }

    /// The middle of `buffer`, `width` by `height` pixels of it.
    init(middleOf buffer: VideoBuffer, width: Int, height: Int) {
      self.init(buffer)
      // Even offsets, so that luma and chroma stay together.
      let (left, top) = ((buffer.width - width) / 2 & ~1, (buffer.height - height) / 2 & ~1)
      unsafe y += top * buffer.lumaStride + left
      unsafe u += top / 2 * buffer.chromaStride + left / 2
      unsafe v += top / 2 * buffer.chromaStride + left / 2
      (self.width, self.height) = (Int32(width), Int32(height))
    }
  }

  /// Paints the middle of `frame` as `placement` says, turned as the frame says.
  mutating func paint(_ frame: VideoFrame, _ placement: VideoFit.Placement, isMirrored: Bool, on canvas: Canvas) {
    let target = placement.target
    let isSideways = frame.isSideways
    var planes = Planes(
      middleOf: frame.buffer, width: isSideways ? placement.sourceHeight : placement.sourceWidth,
      height: isSideways ? placement.sourceWidth : placement.sourceHeight)

    let (width, height) = isSideways ? (target.height, target.width) : (target.width, target.height)
    if planes.width != width || planes.height != height {
      let output = Planes(VideoPainter.scratch(&scaled, width: width, height: height))
      unsafe I420Scale(
        planes.y, planes.lumaStride, planes.u, planes.chromaStride, planes.v, planes.chromaStride, planes.width, planes.height,
        output.y, output.lumaStride, output.u, output.chromaStride, output.v, output.chromaStride, output.width, output.height, kFilterBox)
      planes = output
    } else {
      scaled = nil
    }
    if frame.rotation != .none {
      let output = Planes(VideoPainter.scratch(&turned, width: target.width, height: target.height))
      unsafe I420Rotate(
        planes.y, planes.lumaStride, planes.u, planes.chromaStride, planes.v, planes.chromaStride,
        output.y, output.lumaStride, output.u, output.chromaStride, output.v, output.chromaStride, planes.width, planes.height,
        RotationMode(rawValue: UInt32(frame.rotation.rawValue)))
      planes = output
    } else {
      turned = nil
    }
    if isMirrored {
      let output = Planes(VideoPainter.scratch(&mirrored, width: target.width, height: target.height))
      unsafe I420Mirror(
        planes.y, planes.lumaStride, planes.u, planes.chromaStride, planes.v, planes.chromaStride,
        output.y, output.lumaStride, output.u, output.chromaStride, output.v, output.chromaStride, planes.width, planes.height)
      planes = output
    } else {
      mirrored = nil
    }
    unsafe I420ToARGB(
      planes.y, planes.lumaStride, planes.u, planes.chromaStride, planes.v, planes.chromaStride,
      canvas.address(x: target.x, y: target.y), Int32(canvas.stride), planes.width, planes.height)
  }

  private static func scratch(_ buffer: inout VideoBuffer?, width: Int, height: Int) -> VideoBuffer {
    if let buffer, buffer.width == width, buffer.height == height { return buffer }
    let new = VideoBuffer(width: width, height: height)
    buffer = new
    return new
  }
}

extension VideoFrame {
  /// Whether width and height change places on the screen.
  var isSideways: Bool { rotation == .quarter || rotation == .threeQuarters }
  /// Width on the screen before scaling.
  var uprightWidth: Int { isSideways ? height : width }
  /// Height on the screen before scaling.
  var uprightHeight: Int { isSideways ? width : height }
}
