import Frames

/// How bright a picture is, and whether there is anything to be seen in it.
public struct PictureLight: Sendable, Equatable {
  /// The mean of its brightness, 0 (black) to 1 (white).
  public var brightness: Double
  /// How far pixels are from that on average (standard deviation), in the same unit.
  public var contrast: Double

  /// Looks at one pixel in sixteen of a picture in limited range (16 is black, 235 white).
  public init(of buffer: VideoBuffer) {
    var (sum, squares, count) = (0, 0, 0)
    for row in stride(from: 0, to: buffer.height, by: 4) {
      let line = unsafe buffer.luma + row * buffer.lumaStride
      for column in stride(from: 0, to: buffer.width, by: 4) {
        let value = unsafe Int(line[column])
        (sum, squares, count) = (sum + value, squares + value * value, count + 1)
      }
    }
    let mean = Double(sum) / Double(count)
    let variance = max(0, Double(squares) / Double(count) - mean * mean)
    brightness = min(max((mean - 16) / 219, 0), 1)
    contrast = variance.squareRoot() / 219
  }

  /// Whether nobody would see anything in it: a covered lens, a night.
  public var isDark: Bool { brightness < 0.04 }
  /// Whether it is of one colour: a driver that gives no picture, a lens that shows a wall out of focus.
  public var isFlat: Bool { contrast < 0.01 }
}
