/// The parsers of this room cut between bytes, not between what Swift calls characters: a combining accent after a colon would hide it.
extension Substring {
  /// The parts between single bytes of `separator`, empty ones left out.
  func parts(_ separator: Unicode.Scalar = " ") -> [Substring] {
    utf8.split(separator: UInt8(ascii: separator)).map { Substring($0) }
  }

  /// What stands before and after the first `separator`; nil without one.
  func cut(_ separator: Unicode.Scalar) -> (head: Substring, tail: Substring)? {
    guard let index = utf8.firstIndex(of: UInt8(ascii: separator)) else { return nil }
    return (Substring(utf8[..<index]), Substring(utf8[utf8.index(after: index)...]))
  }

  /// The text without spaces at its ends.
  var trimmed: Substring {
    var bytes = utf8[...]
    while bytes.first == UInt8(ascii: " ") { bytes = bytes.dropFirst() }
    while bytes.last == UInt8(ascii: " ") { bytes = bytes.dropLast() }
    return Substring(bytes)
  }

  /// The unsigned decimal number that the whole text is; nil for signs, anything else and what does not fit.
  func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
    guard let first = utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return nil }
    return Number(self)
  }

  /// An RTP payload type, 0 to 127.
  var payloadType: UInt8? { number(UInt8.self).flatMap { $0 < 128 ? $0 : nil } }
}
