import CYUV
import Frames

/// Puts video frames on a canvas: cut, scaled, turned, mirrored and converted to RGB by libyuv.
///
/// One per layer: it keeps the intermediate pictures, so that a steady video allocates nothing.
struct VideoPainter {
  private var scaled: VideoBuffer?
  private var turned: VideoBuffer?
  private var mirrored: VideoBuffer?
  private var prepared: Planes?
  /// Keeps the prepared planes' memory when it is the frame's own.
  private var frame: VideoFrame?

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

    /// A part of `buffer` at an even offset, so that luma and chroma stay together.
    init(_ buffer: VideoBuffer, crop: Rectangle) {
      self.init(buffer)
      unsafe y += crop.y * buffer.lumaStride + crop.x
      unsafe u += crop.y / 2 * buffer.chromaStride + crop.x / 2
      unsafe v += crop.y / 2 * buffer.chromaStride + crop.x / 2
      (width, height) = (Int32(crop.width), Int32(crop.height))
    }
  }

  /// Paints the middle of `frame` as `placement` says, turned as the frame says.
  mutating func paint(_ frame: VideoFrame, _ placement: VideoFit.Placement, isMirrored: Bool, on canvas: Canvas) {
    let (width, height) =
      frame.isSideways ? (placement.sourceHeight, placement.sourceWidth) : (placement.sourceWidth, placement.sourceHeight)
    let crop = Rectangle(x: (frame.width - width) / 2 & ~1, y: (frame.height - height) / 2 & ~1, width: width, height: height)
    let target = placement.target
    let turn = Turn(quarters: 0, isMirrored: isMirrored).after(frame.rotation)
    prepare(frame, crop: crop, turn: turn, width: target.width, height: target.height)
    convert(target, from: target, to: canvas.raster)
    forget()
  }

  /// Makes a part of `frame` `width` by `height` pixels large, after turning it, ready to be converted. Nothing is copied when nothing changes.
  ///
  /// `crop` lies inside the buffer at an even offset.
  mutating func prepare(_ frame: VideoFrame, crop: Rectangle, turn: Turn, width: Int, height: Int) {
    var planes = Planes(frame.buffer, crop: crop)
    let (scaledWidth, scaledHeight) = turn.isSideways ? (height, width) : (width, height)
    if planes.width != scaledWidth || planes.height != scaledHeight {
      let output = Planes(VideoPainter.scratch(&scaled, width: scaledWidth, height: scaledHeight))
      unsafe I420Scale(
        planes.y, planes.lumaStride, planes.u, planes.chromaStride, planes.v, planes.chromaStride, planes.width, planes.height,
        output.y, output.lumaStride, output.u, output.chromaStride, output.v, output.chromaStride, output.width, output.height, kFilterBox)
      planes = output
    } else {
      scaled = nil
    }
    if turn.quarters != 0 {
      let output = Planes(VideoPainter.scratch(&turned, width: width, height: height))
      unsafe I420Rotate(
        planes.y, planes.lumaStride, planes.u, planes.chromaStride, planes.v, planes.chromaStride,
        output.y, output.lumaStride, output.u, output.chromaStride, output.v, output.chromaStride, planes.width, planes.height,
        RotationMode(rawValue: UInt32(turn.quarters * 90)))
      planes = output
    } else {
      turned = nil
    }
    if turn.isMirrored {
      let output = Planes(VideoPainter.scratch(&mirrored, width: width, height: height))
      unsafe I420Mirror(
        planes.y, planes.lumaStride, planes.u, planes.chromaStride, planes.v, planes.chromaStride,
        output.y, output.lumaStride, output.u, output.chromaStride, output.v, output.chromaStride, planes.width, planes.height)
      planes = output
    } else {
      mirrored = nil
    }
    prepared = planes
    self.frame = frame
  }

  /// Lets the frame go that was prepared.
  mutating func forget() { (prepared, frame) = (nil, nil) }

  /// Converts the part that stands at `area` of the screen, when the prepared picture stands at `place`, which contains it.
  func convert(_ area: Rectangle, from place: Rectangle, to raster: Raster) {
    guard let planes = prepared else { return }
    // Two pixels share a chroma sample. At an odd offset the first stands alone, so that a part has the same pixels as the whole.
    var (x, width) = (area.x - place.x, area.width)
    var column = area.x
    while width > 0 {
      let columns = x % 2 == 1 ? 1 : width
      var (y, height) = (area.y - place.y, area.height)
      var row = area.y
      while height > 0 {
        let rows = y % 2 == 1 ? 1 : height
        unsafe I420ToARGB(
          planes.y + y * Int(planes.lumaStride) + x, planes.lumaStride, planes.u + y / 2 * Int(planes.chromaStride) + x / 2,
          planes.chromaStride, planes.v + y / 2 * Int(planes.chromaStride) + x / 2, planes.chromaStride,
          raster.address(x: column, y: row), Int32(raster.stride), Int32(columns), Int32(rows))
        (y, row, height) = (y + rows, row + rows, height - rows)
      }
      (x, column, width) = (x + columns, column + columns, width - columns)
    }
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
  package var uprightWidth: Int { isSideways ? height : width }
  /// Height on the screen before scaling.
  package var uprightHeight: Int { isSideways ? width : height }
}
