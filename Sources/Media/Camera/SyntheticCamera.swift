import Base
import Frames
import Glibc

/// A camera without a device: a slowly panned landscape of soft shades, a disc and a square that move across it, and a `TimeCode` on top.
///
/// Each frame is a function of its number and capture time alone, so that the far end of a call can make the same picture and compare.
public final class SyntheticCamera: VideoSource {
  public let width: Int
  public let height: Int
  public let framesPerSecond: Double

  private let pool = VideoBufferPool()
  private let landscape: VideoBuffer
  /// How far the view pans, in pixels.
  private let margin: (x: Int, y: Int)

  /// A camera of the given size, at least 160×120.
  public init(width: Int = 640, height: Int = 360, framesPerSecond: Double = 30) {
    precondition(width >= 160 && height >= 120, "the time code needs its pixels")
    precondition(framesPerSecond > 0, "a camera makes frames")
    (self.width, self.height, self.framesPerSecond) = (width, height, framesPerSecond)
    margin = (width / 8 & ~1, height / 8 & ~1)
    landscape = SyntheticCamera.landscape(width: width + margin.x, height: height + margin.y)
  }

  /// Frame number `index`, captured on time by a clock that starts with frame 0.
  public func frame(at index: Int) -> VideoFrame { frame(at: index, captureTime: time(of: index)) }

  public func frame(at index: Int, captureTime: Instant) -> VideoFrame {
    let buffer = pool.buffer(width: width, height: height)
    let seconds = Double(index) / 30  // pictures move by the frame, whatever the rate
    let pan = (x: swing(seconds / 11, margin.x), y: swing(seconds / 17, margin.y))
    buffer.copyWindow(of: landscape, x: pan.x, y: pan.y)

    let radius = height / 8
    drawDisc(
      in: buffer, x: radius + swing(seconds / 5, width - 2 * radius), y: height / 3 + swing(seconds / 3.7, height / 2), radius: radius)
    let side = height / 9 & ~1
    let corner = (x: swing(0.25 + seconds / 7.3, width - side), y: height - side - swing(seconds / 4.1, height / 4))
    buffer.fillLuma(x: corner.x..<corner.x + side, y: corner.y..<corner.y + side, with: 70)
    buffer.fillChroma(
      x: corner.x / 2..<(corner.x + side) / 2, y: corner.y / 2..<(corner.y + side) / 2, u: 170, v: 100)

    let milliseconds = UInt64(max(0, captureTime.nanoseconds / 1_000_000))
    TimeCode(index: UInt32(truncatingIfNeeded: index), milliseconds: milliseconds).draw(into: buffer)
    var ledger = Ledger()
    ledger[.capture] = captureTime
    return VideoFrame(buffer: buffer, ledger: ledger)
  }

  /// To and fro between 0 and `range` once per turn of `phase`, in even steps.
  private func swing(_ phase: Double, _ range: Int) -> Int {
    Int((0.5 - 0.5 * cos(2 * .pi * phase)) * Double(max(0, range))) & ~1
  }

  private func drawDisc(in buffer: VideoBuffer, x: Int, y: Int, radius: Int) {
    for row in -radius..<radius {
      let half = Int(Double(radius * radius - row * row).squareRoot())
      buffer.fillLuma(x: x - half..<x + half, y: y + row..<y + row + 1, with: 190)
      if row & 1 == 0 {
        buffer.fillChroma(x: (x - half) / 2..<(x + half) / 2, y: (y + row) / 2..<(y + row) / 2 + 1, u: 100, v: 180)
      }
    }
  }

  /// Shades of a few wavelengths under a fine, faint texture: about as hard to code as an indoor scene.
  private static func landscape(width: Int, height: Int) -> VideoBuffer {
    let buffer = VideoBuffer(width: width, height: height)
    var random = RandomSource(seed: 20)
    // The sums of separate waves along each axis: two tables instead of a sine per pixel.
    let columns = (0..<width).map { x in 34 * sin(Double(x) / 61) + 12 * sin(Double(x) / 13 + 1) }
    let rows = (0..<height).map { y in 30 * cos(Double(y) / 47) + 10 * sin(Double(y) / 11) }
    // Bits of a random word each dim or brighten one pixel by one step.
    for y in 0..<height {
      let line = unsafe buffer.luma + y * buffer.lumaStride
      let shade = rows[y]
      var bits = random.next()
      for x in 0..<width {
        if x & 31 == 0 { bits = random.next() }
        unsafe line[x] = UInt8(118 + columns[x] + shade + Double(bits & 3))
        bits >>= 2
      }
    }
    for y in 0..<buffer.chromaHeight {
      let (u, v) = unsafe (buffer.chromaU + y * buffer.chromaStride, buffer.chromaV + y * buffer.chromaStride)
      for x in 0..<buffer.chromaWidth {
        unsafe u[x] = UInt8(128 + 0.4 * columns[2 * x < width ? 2 * x : x])
        unsafe v[x] = UInt8(128 - 0.4 * rows[2 * y < height ? 2 * y : y])
      }
    }
    return buffer
  }
}
