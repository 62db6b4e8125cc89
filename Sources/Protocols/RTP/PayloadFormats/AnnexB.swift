import Bytes
import Glibc

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
    return unsafe stream.withUnsafeBytes { bytes in
      var index = offset + 2
      // A byte of value 1 is rare, and the C library looks for it many bytes at a time.
      while index < end, let found = unsafe memchr(bytes.baseAddress! + index, 1, end - index) {
        index = unsafe UnsafeRawPointer(found) - bytes.baseAddress!
        if unsafe bytes[index - 1] == 0 && bytes[index - 2] == 0 { return index - 2 }
        index += 1
      }
      return end
    }
  }

  /// Without the zeros that belong to the next start code or pad the stream: a NAL unit never ends with one.
  private static func trimmed(_ stream: RawSpan, _ unit: Range<Int>) -> Range<Int> {
    var end = unit.upperBound
    while end > unit.lowerBound, stream.uint8(at: end - 1) == 0 { end -= 1 }
    return unit.lowerBound..<end
  }
}
