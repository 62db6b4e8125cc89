import Bytes

/// The byte stream format of H.264: NAL units behind start codes (ITU-T H.264 Annex B).
public enum AnnexB {
  /// The first NAL unit in `stream`; empty when there is none. A stream without any start code is one NAL unit.
  public static func firstUnit(in stream: RawSpan) -> Range<Int> {
    let code = startCode(in: stream, from: 0)
    if code == stream.byteCount { return trimmed(stream, 0..<code) }
    // Only zeros may precede the first start code; anything else is a unit of its own.
    for index in 0..<code where stream.uint8(at: index) != 0 { return trimmed(stream, 0..<code) }
    return unit(in: stream, after: code)
  }

  /// The next NAL unit that is not empty, behind the start code found from `offset` on; empty when there is none.
  public static func unit(in stream: RawSpan, after offset: Int) -> Range<Int> {
    var code = startCode(in: stream, from: offset)
    while code < stream.byteCount {
      let start = code + 3
      code = startCode(in: stream, from: start)
      let unit = trimmed(stream, start..<code)
      if !unit.isEmpty { return unit }
    }
    return stream.byteCount..<stream.byteCount
  }

  /// Where the next 00 00 01 lies, or the stream's end.
  private static func startCode(in stream: RawSpan, from offset: Int) -> Int {
    let end = stream.byteCount
    var index = offset
    while index + 2 < end {
      let third = stream.uint8(at: index + 2)
      if third > 1 {
        index += 3
      } else if third == 1, stream.uint8(at: index) == 0, stream.uint8(at: index + 1) == 0 {
        return index
      } else {
        index += 1
      }
    }
    return end
  }

  /// Without the zeros that belong to the next start code or pad the stream: a NAL unit never ends with one.
  private static func trimmed(_ stream: RawSpan, _ unit: Range<Int>) -> Range<Int> {
    var end = unit.upperBound
    while end > unit.lowerBound, stream.uint8(at: end - 1) == 0 { end -= 1 }
    return unit.lowerBound..<end
  }
}
