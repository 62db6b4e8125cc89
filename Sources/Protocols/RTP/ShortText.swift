import Bytes

/// Up to 16 bytes of text in place: header extension values are read from every packet, and must not touch the heap or count references.
@usableFromInline
struct ShortText: Sendable, Equatable {
  @usableFromInline var words: (UInt64, UInt64) = (0, 0)
  @usableFromInline var count: UInt8 = 0

  /// No text.
  @inlinable init() {}

  /// The text of `count` bytes at `offset`; nil when it is longer than 16 bytes, or is not a token.
  @inlinable init?(_ bytes: RawSpan, at offset: Int, count: Int) {
    guard count <= 16 else { return nil }
    for index in 0..<count {
      let byte = bytes.uint8(at: offset + index)
      // Identifiers are tokens (RFC 8843 section 15, RFC 8852 section 3): printable ASCII.
      guard (0x21...0x7E).contains(byte) else { return nil }
      append(byte)
    }
  }

  /// The text; nil when it is empty or longer than 16 bytes.
  @inlinable init?(_ text: String) {
    guard (1...16).contains(text.utf8.count) else { return nil }
    for byte in text.utf8 { append(byte) }
  }

  @inlinable mutating func append(_ byte: UInt8) {
    let shift = UInt64(count & 7) * 8
    if count < 8 { words.0 |= UInt64(byte) << shift } else { words.1 |= UInt64(byte) << shift }
    count += 1
  }

  @inlinable subscript(index: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: (index < 8 ? words.0 : words.1) >> UInt64((index & 7) * 8))
  }

  /// Nil when there is no text.
  @inlinable var string: String? {
    if count == 0 { return nil }
    return String(unsafeUninitializedCapacity: Int(count)) { buffer in
      for index in 0..<Int(count) { unsafe buffer[index] = self[index] }
      return Int(count)
    }
  }

  @inlinable static func == (a: ShortText, b: ShortText) -> Bool { a.words == b.words && a.count == b.count }
}
