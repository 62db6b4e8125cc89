import Base
import Bytes

/// Writes a STUN message, attribute by attribute in the order of the calls; the length field is right after each of them.
public struct MessageBuilder: Sendable {
  /// The message so far, with header.
  public private(set) var bytes: [UInt8]
  /// The transaction, which masks addresses.
  public let transactionID: TransactionID

  /// A message without attributes.
  public init(_ messageClass: MessageClass, _ method: Method, transactionID: TransactionID) {
    self.transactionID = transactionID
    bytes = []
    bytes.reserveCapacity(128)
    put(MessageType(messageClass, method).field)
    put(UInt16(0))
    put(Message.magicCookie)
    put(transactionID.high)
    put(transactionID.low)
  }

  /// A response to `request` in its method and transaction.
  public init(_ messageClass: MessageClass, to request: borrowing Message) {
    self.init(messageClass, request.method, transactionID: request.transactionID)
  }

  /// Appends an attribute with any value, at most 65,535 bytes, and pads it.
  public mutating func append(_ type: AttributeType, bytes value: some Collection<UInt8>) {
    begin(type, value.count)
    bytes.append(contentsOf: value)
    end()
  }

  /// Appends an attribute with a copy of `value`.
  public mutating func append(_ type: AttributeType, span value: RawSpan) {
    begin(type, value.byteCount)
    value.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    end()
  }

  /// Appends an attribute without a value.
  public mutating func append(_ type: AttributeType) {
    begin(type, 0)
    end()
  }

  /// Appends a text attribute in UTF-8.
  public mutating func append(_ type: AttributeType, text: String) { append(type, bytes: Array(text.utf8)) }

  /// Appends a 4-byte attribute.
  public mutating func append(_ type: AttributeType, uint32: UInt32) {
    begin(type, 4)
    put(uint32)
    end()
  }

  /// Appends an 8-byte attribute.
  public mutating func append(_ type: AttributeType, uint64: UInt64) {
    begin(type, 8)
    put(uint64)
    end()
  }

  /// Appends an address masked with cookie and transaction (RFC 8489 section 14.2).
  public mutating func append(_ type: AttributeType, xorAddress address: SocketAddress) {
    begin(type, address.ip.family == .v4 ? 8 : 20)
    put(address.ip.family == .v4 ? UInt16(1) : 2)
    put(address.port ^ UInt16(Message.magicCookie >> 16))
    if address.ip.family == .v4 {
      put(UInt32(truncatingIfNeeded: address.ip.low) ^ Message.magicCookie)
    } else {
      put(address.ip.high ^ (UInt64(Message.magicCookie) << 32 | UInt64(transactionID.high)))
      put(address.ip.low ^ transactionID.low)
    }
    end()
  }

  /// Appends an address in the clear (RFC 8489 section 14.1).
  public mutating func append(_ type: AttributeType, address: SocketAddress) {
    append(type, bytes: [0, address.ip.family == .v4 ? 1 : 2, UInt8(address.port >> 8), UInt8(address.port & 0xFF)] + address.ip.bytes)
  }

  /// Appends ERROR-CODE. The code must be 300 to 699.
  public mutating func append(_ error: ErrorCode) {
    precondition((300..<700).contains(error.code), "STUN has error codes 300 to 699")
    append(.errorCode, bytes: [0, 0, UInt8(error.code / 100), UInt8(error.code % 100)] + Array(error.reason.utf8))
  }

  /// Appends MESSAGE-INTEGRITY: HMAC-SHA1 under `key` over all before it (RFC 8489 section 14.5).
  public mutating func appendIntegrity(key: [UInt8]) {
    begin(.messageIntegrity, 20)
    let covered = bytes.count - 4
    bytes.append(contentsOf: Digest.hmac(.sha1, key: key, over: bytes, count: covered))
  }

  /// Appends MESSAGE-INTEGRITY-SHA256 in full length (RFC 8489 section 14.6).
  public mutating func appendIntegritySHA256(key: [UInt8]) {
    begin(.messageIntegritySHA256, 32)
    let covered = bytes.count - 4
    bytes.append(contentsOf: Digest.hmac(.sha256, key: key, over: bytes, count: covered))
  }

  /// Appends FINGERPRINT, which must be last (RFC 8489 section 14.7).
  public mutating func appendFingerprint() {
    begin(.fingerprint, 4)
    put(CRC32.checksum(bytes.span.bytes.extracting(0..<bytes.count - 4)) ^ Message.fingerprintMask)
  }

  /// Starts an attribute and counts it, padding included, into the length field.
  private mutating func begin(_ type: AttributeType, _ count: Int) {
    precondition(count <= 0xFFFF && bytes.count + count + 7 <= 0xFFFF, "a STUN message has a 16-bit length")
    let length = UInt16(bytes.count - Message.headerCount + 4 + (count + 3) & ~3)
    (bytes[2], bytes[3]) = (UInt8(length >> 8), UInt8(length & 0xFF))
    put(type.rawValue)
    put(UInt16(count))
  }

  private mutating func end() { while bytes.count % 4 != 0 { bytes.append(0) } }

  private mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
  }
}
