import Bytes

/// Error causes of ABORT and ERROR chunks (RFC 9260 section 3.3.10).
enum ErrorCause: UInt16 {
  case invalidStreamIdentifier = 1
  case missingMandatoryParameter = 2
  case staleCookie = 3
  case outOfResource = 4
  case unresolvableAddress = 5
  case unrecognizedChunkType = 6
  case invalidMandatoryParameter = 7
  case unrecognizedParameters = 8
  case noUserData = 9
  case cookieReceivedWhileShuttingDown = 10
  case restartWithNewAddresses = 11
  case userInitiatedAbort = 12
  case protocolViolation = 13

  /// The cause as it stands in a chunk, padded.
  func encoded(_ information: [UInt8] = []) -> [UInt8] {
    var bytes = networkOrder(rawValue) + networkOrder(UInt16(truncatingIfNeeded: 4 + information.count)) + information
    while bytes.count % 4 != 0 { bytes.append(0) }
    return bytes
  }

  /// The causes in an ABORT or ERROR chunk's value in words, for people who read a log. Nil when there is none.
  static func description(of value: RawSpan) -> String? {
    var reader = ByteReader(value)
    var parts: [String] = []
    while parts.count < 4, let code = try? reader.uint16(), let length = try? reader.uint16(), length >= 4,
      let information = try? reader.array(Int(length) - 4)
    {
      var text = ErrorCause(rawValue: code).map { "\($0)" } ?? "cause \(code)"
      let readable = information.allSatisfy { (0x20..<0x7F).contains($0) }
      if readable, !information.isEmpty { text += " (\(String(decoding: information.prefix(120), as: UTF8.self)))" }
      parts.append(text)
      try? reader.skip(min(reader.remaining, Size.padded(Int(length)) - Int(length)))
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

/// The bytes of `value`, most significant first. For control chunks; data goes through `ByteWriter`.
func networkOrder<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
  (0..<Value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> Value(Value.bitWidth - 8 - 8 * $0)) }
}

/// A whole chunk: header, `value` and padding.
func encodedChunk(_ type: ChunkType, flags: UInt8 = 0, _ value: [UInt8] = []) -> [UInt8] {
  var bytes = [type.rawValue, flags] + networkOrder(UInt16(truncatingIfNeeded: Size.chunkHeader + value.count)) + value
  while bytes.count % 4 != 0 { bytes.append(0) }
  return bytes
}
