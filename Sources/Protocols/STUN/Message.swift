import Base
import Bytes

/// Why bytes are not a STUN message.
public enum MessageError: Error, Sendable, Equatable {
  /// Fewer bytes than a header, or than the length field says.
  case tooShort
  /// The first two bits or the magic cookie are not those of STUN.
  case notSTUN
  /// The length field is no multiple of 4, or less than what follows the header.
  case badLength
  /// An attribute reaches past the message's end.
  case truncatedAttribute(AttributeType)
}

/// A STUN message read in place, without a copy (RFC 8489 sections 5 and 14).
///
/// Reading checks the structure only; whoever acts on a message first checks its integrity. Attributes after MESSAGE-INTEGRITY are
/// ignored, except MESSAGE-INTEGRITY-SHA256 and FINGERPRINT. Where an attribute occurs twice the first one counts.
public struct Message: ~Escapable {
  /// The magic cookie, the second word of every message.
  public static let magicCookie: UInt32 = 0x2112_A442
  /// Bytes before the first attribute.
  public static let headerCount = 20

  /// The whole message.
  public let bytes: RawSpan
  /// Request, indication, success or error response.
  public let messageClass: MessageClass
  /// What it is about.
  public let method: Method
  /// Joins response and request.
  public let transactionID: TransactionID
  let integrityOffset: Int?
  let integritySHA256Offset: Int?
  let fingerprintOffset: Int?
  /// Where the attributes end that may be read: at the first integrity attribute.
  let attributesEnd: Int

  /// Whether a datagram is STUN by its first byte and its cookie (RFC 7983), so that `init` is worth trying.
  public static func isSTUN(_ bytes: RawSpan) -> Bool {
    guard bytes.byteCount >= headerCount else { return false }
    return unsafe bytes.unsafeLoad(fromUncheckedByteOffset: 0, as: UInt8.self) < 4
      && UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: 4, as: UInt32.self)) == magicCookie
  }

  /// Reads the header and walks over all attributes. `bytes` must hold one message and nothing else.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) throws(MessageError) {
    var reader = ByteReader(bytes)
    let field: UInt16
    let length: Int
    let cookie: UInt32
    let id: TransactionID
    do {
      field = try reader.uint16()
      length = Int(try reader.uint16())
      cookie = try reader.uint32()
      id = TransactionID(high: try reader.uint32(), low: try reader.uint64())
    } catch { throw .tooShort }
    guard field < 0x4000, cookie == Message.magicCookie else { throw .notSTUN }
    guard length <= reader.remaining else { throw .tooShort }
    guard length == reader.remaining, length % 4 == 0 else { throw .badLength }

    var integrity: Int?
    var integritySHA256: Int?
    var fingerprint: Int?
    while !reader.isAtEnd {
      let offset = reader.offset
      var type = AttributeType(rawValue: 0)
      do {
        type = AttributeType(rawValue: try reader.uint16())
        let count = Int(try reader.uint16())
        try reader.skip((count + 3) & ~3)
      } catch { throw .truncatedAttribute(type) }
      if fingerprint != nil { continue }
      switch type {
      case .messageIntegrity where integrity == nil && integritySHA256 == nil: integrity = offset
      case .messageIntegritySHA256 where integritySHA256 == nil: integritySHA256 = offset
      case .fingerprint: fingerprint = offset
      default: break
      }
    }
    self.bytes = bytes
    (messageClass, method) = (MessageType(field: field).messageClass, MessageType(field: field).method)
    transactionID = id
    (integrityOffset, integritySHA256Offset, fingerprintOffset) = (integrity, integritySHA256, fingerprint)
    attributesEnd = min(integrity ?? bytes.byteCount, integritySHA256 ?? bytes.byteCount, fingerprint ?? bytes.byteCount)
  }

  /// Whether the message carries MESSAGE-INTEGRITY or MESSAGE-INTEGRITY-SHA256.
  public var hasIntegrity: Bool { integrityOffset != nil || integritySHA256Offset != nil }

  /// The value of the first attribute of `type`, without padding.
  @_lifetime(copy self)
  public func attribute(_ type: AttributeType) -> RawSpan? {
    guard let range = range(of: type, from: Message.headerCount) else { return nil }
    return bytes.extracting(range)
  }

  /// Where the value of the first attribute of `type` at or after `start` stands in `bytes`. `start` must be an attribute's first byte.
  public func range(of type: AttributeType, from start: Int = Message.headerCount) -> Range<Int>? {
    var offset = start
    while offset + 4 <= attributesEnd {
      let count = Int(uint16(at: offset + 2))
      if uint16(at: offset) == type.rawValue { return offset + 4..<offset + 4 + count }
      offset += 4 + (count + 3) & ~3
    }
    return nil
  }

  /// Whether an attribute of `type` is there, whatever its value.
  public func has(_ type: AttributeType) -> Bool { range(of: type) != nil }

  /// The value of a 4-byte attribute; nil when it is absent or of another size.
  public func uint32(_ type: AttributeType) -> UInt32? {
    guard let value = attribute(type), value.byteCount == 4 else { return nil }
    var reader = ByteReader(value)
    return try? reader.uint32()
  }

  /// The value of an 8-byte attribute; nil when it is absent or of another size.
  public func uint64(_ type: AttributeType) -> UInt64? {
    guard let value = attribute(type), value.byteCount == 8 else { return nil }
    var reader = ByteReader(value)
    return try? reader.uint64()
  }

  /// The value of a text attribute, at most 763 bytes (RFC 8489 section 14); malformed UTF-8 is repaired.
  public func text(_ type: AttributeType) -> String? {
    guard let value = attribute(type), value.byteCount <= 763 else { return nil }
    return String(decoding: Array(bytes: value), as: UTF8.self)
  }

  /// An address attribute that is masked with cookie and transaction (RFC 8489 section 14.2); nil when absent or malformed.
  public func xorAddress(_ type: AttributeType) -> SocketAddress? {
    guard let value = attribute(type) else { return nil }
    return xorAddress(value)
  }

  /// All addresses in attributes of `type`, masked as above: an allocation with two families has two.
  public func xorAddresses(_ type: AttributeType) -> [SocketAddress] {
    var (result, start): ([SocketAddress], Int) = ([], Message.headerCount)
    while let range = range(of: type, from: start) {
      if let address = xorAddress(bytes.extracting(range)) { result.append(address) }
      start = (range.upperBound + 3) & ~3
    }
    return result
  }

  /// An address attribute in the clear (RFC 8489 section 14.1); nil when absent or malformed.
  public func address(_ type: AttributeType) -> SocketAddress? {
    guard let value = attribute(type) else { return nil }
    return Message.address(value)
  }

  /// The comprehension-required attributes that are not in `known`, in order of appearance.
  public func unknownAttributes(known: Set<AttributeType>) -> [AttributeType] {
    var (result, offset): ([AttributeType], Int) = ([], Message.headerCount)
    while offset + 4 <= attributesEnd {
      let type = AttributeType(rawValue: uint16(at: offset))
      if type.isComprehensionRequired, !known.contains(type), !result.contains(type) { result.append(type) }
      offset += 4 + (Int(uint16(at: offset + 2)) + 3) & ~3
    }
    return result
  }

  private func uint16(at offset: Int) -> UInt16 {
    unsafe UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  private func xorAddress(_ value: RawSpan) -> SocketAddress? {
    guard let plain = Message.address(value) else { return nil }
    let port = plain.port ^ UInt16(Message.magicCookie >> 16)
    switch plain.ip.family {
    case .v4: return SocketAddress(IPAddress(v4: UInt32(plain.ip.low) ^ Message.magicCookie), port)
    case .v6:
      let high = plain.ip.high ^ (UInt64(Message.magicCookie) << 32 | UInt64(transactionID.high))
      return SocketAddress(IPAddress(v6: high, plain.ip.low ^ transactionID.low), port)
    }
  }

  private static func address(_ value: RawSpan) -> SocketAddress? {
    var reader = ByteReader(value)
    guard let family = try? reader.uint16(), let port = try? reader.uint16() else { return nil }
    switch (family & 0xFF, reader.remaining) {
    case (1, 4):
      guard let bits = try? reader.uint32() else { return nil }
      return SocketAddress(IPAddress(v4: bits), port)
    case (2, 16):
      guard let high = try? reader.uint64(), let low = try? reader.uint64() else { return nil }
      return SocketAddress(IPAddress(v6: high, low), port)
    default: return nil
    }
  }
}
