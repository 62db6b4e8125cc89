import Bytes

/// The stream does not hold what it should; it cannot be read any further.
public struct StreamError: Error, Sendable, Equatable {
  /// The first byte of what should have been a frame.
  public var firstByte: UInt8
}

/// Cuts a TCP or TLS byte stream into the messages that it carries.
public struct StreamReassembler: Sendable {
  /// How messages stand in the stream.
  public enum Framing: Sendable {
    /// STUN messages and padded ChannelData, told apart by their first bits (RFC 8656 section 12.5).
    case turn
    /// A 16-bit count before each message (RFC 4571), as ICE-TCP has it.
    case lengthPrefixed
  }

  private let framing: Framing
  private var buffer: [UInt8] = []
  private var offset = 0

  /// An empty stream.
  public init(_ framing: Framing) { self.framing = framing }

  /// Takes the next bytes of the stream.
  public mutating func append(_ bytes: RawSpan) {
    if offset > 0 {
      buffer.removeSubrange(0..<offset)
      offset = 0
    }
    bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
  }

  /// The next whole message, without prefix or padding; nil until more bytes come. At most 65,555 bytes are held back.
  public mutating func next() throws(StreamError) -> [UInt8]? {
    let available = buffer.count - offset
    switch framing {
    case .lengthPrefixed:
      guard available >= 2 else { return nil }
      return take(header: 2, count: uint16(at: offset), padding: 0)
    case .turn:
      guard available >= 4 else { return nil }
      let count = uint16(at: offset + 2)
      switch buffer[offset] >> 6 {
      case 0: return take(header: 0, count: 20 + count, padding: 0)
      case 1: return take(header: 0, count: 4 + count, padding: (4 - count % 4) % 4)
      default: throw StreamError(firstByte: buffer[offset])
      }
    }
  }

  private mutating func take(header: Int, count: Int, padding: Int) -> [UInt8]? {
    guard buffer.count - offset >= header + count + padding else { return nil }
    defer { offset += header + count + padding }
    return Array(buffer[offset + header..<offset + header + count])
  }

  private func uint16(at index: Int) -> Int { Int(buffer[index]) << 8 | Int(buffer[index + 1]) }
}
