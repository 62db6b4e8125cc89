import Frames

/// A frame's number and capture time as black and white blocks across the top of the picture: what a machine at the other end of a call reads
/// back, after any codec and scaling.
///
/// Three rows of 32 square blocks, each a 32nd of the picture's width: the number, the lower 32 bits of the time, then the time's upper 8 bits,
/// a CRC-16 of both, and the pattern 10100101. Most significant bit first, white is one.
public struct TimeCode: Sendable, Hashable {
  /// The frame's number.
  public var index: UInt32
  /// When it was captured, in milliseconds on the sender's clock; the lower 40 bits count (34 years).
  public var milliseconds: UInt64

  private static let columns = 32
  private static let rows = 3
  private static let pattern: UInt32 = 0b1010_0101
  // Inside the legal range, so that ringing of a codec's filters is not clipped.
  private static let black: UInt8 = 32
  private static let white: UInt8 = 220

  /// A code from its parts.
  public init(index: UInt32, milliseconds: UInt64) {
    (self.index, self.milliseconds) = (index, milliseconds & 0xFF_FFFF_FFFF)
  }

  /// How many rows of pixels the strip takes at the top of a picture of the given width.
  public static func height(forWidth width: Int) -> Int { edge(rows, of: width) }

  /// Where block number `position` begins: blocks of fractional size share the pixels out evenly.
  private static func edge(_ position: Int, of width: Int) -> Int { position * width / columns }

  private var words: [UInt32] {
    let high = UInt32(milliseconds >> 32 & 0xFF)
    return [index, UInt32(truncatingIfNeeded: milliseconds), high << 24 | UInt32(checksum) << 8 | TimeCode.pattern]
  }

  /// CRC-16 (CCITT polynomial, all ones first) of the 72 bits.
  private var checksum: UInt16 {
    var remainder: UInt16 = 0xFFFF
    func add(_ byte: UInt8) {
      remainder ^= UInt16(byte) << 8
      for _ in 0..<8 { remainder = remainder & 0x8000 != 0 ? remainder << 1 ^ 0x1021 : remainder << 1 }
    }
    for shift in stride(from: 24, through: 0, by: -8) { add(UInt8(truncatingIfNeeded: index >> UInt32(shift))) }
    for shift in stride(from: 32, through: 0, by: -8) { add(UInt8(truncatingIfNeeded: milliseconds >> UInt64(shift))) }
    return remainder
  }

  /// Paints the strip over the top of `buffer`, which should be at least 160×120.
  public func draw(into buffer: VideoBuffer) {
    let words = words
    for row in 0..<TimeCode.rows {
      let (top, bottom) = (TimeCode.edge(row, of: buffer.width), min(TimeCode.edge(row + 1, of: buffer.width), buffer.height))
      guard top < bottom else { continue }
      for column in 0..<TimeCode.columns {
        let (left, right) = (TimeCode.edge(column, of: buffer.width), TimeCode.edge(column + 1, of: buffer.width))
        let isOne = words[row] >> UInt32(31 - column) & 1 == 1
        buffer.fillLuma(x: left..<right, y: top..<bottom, with: isOne ? TimeCode.white : TimeCode.black)
      }
    }
    buffer.fillChroma(rows: 0..<min(buffer.chromaHeight, (TimeCode.height(forWidth: buffer.width) + 1) / 2), u: 128, v: 128)
  }

  /// Reads the strip at the top of `buffer`; nil when there is none, or it is damaged.
  public static func read(from buffer: VideoBuffer) -> TimeCode? {
    read(from: buffer, x: 0, y: 0, width: buffer.width)
  }

  /// Reads the strip of a picture that was composed into `buffer`, `width` pixels wide with its corner at (`x`, `y`).
  public static func read(from buffer: VideoBuffer, x: Int, y: Int, width: Int) -> TimeCode? {
    guard width >= columns * 2, x >= 0, y >= 0, x + width <= buffer.width, y + height(forWidth: width) <= buffer.height else { return nil }
    var means: [Int] = []
    means.reserveCapacity(rows * columns)
    for row in 0..<rows {
      for column in 0..<columns {
        means.append(
          buffer.meanLuma(
            x: inner(x + edge(column, of: width), x + edge(column + 1, of: width)),
            y: inner(y + edge(row, of: width), y + edge(row + 1, of: width))))
      }
    }
    guard let darkest = means.min(), let brightest = means.max(), brightest - darkest > 48 else { return nil }
    let threshold = (darkest + brightest) / 2
    let words = (0..<rows).map { row in
      means[row * columns..<(row + 1) * columns].reduce(UInt32(0)) { $0 << 1 | ($1 > threshold ? 1 : 0) }
    }
    let code = TimeCode(index: words[0], milliseconds: UInt64(words[2] >> 24) << 32 | UInt64(words[1]))
    return code.words == words ? code : nil
  }

  /// The middle half of a block: its edges are smeared by scaling and coding.
  private static func inner(_ start: Int, _ end: Int) -> Range<Int> {
    let margin = (end - start) / 4
    return start + margin..<max(start + margin + 1, end - margin)
  }
}
