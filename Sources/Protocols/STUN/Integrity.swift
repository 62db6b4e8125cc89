import Bytes

extension Message {
  static let fingerprintMask: UInt32 = 0x5354_554E

  /// Whether MESSAGE-INTEGRITY is there and right under `key` (RFC 8489 section 14.5).
  public func hasValidIntegrity(key: [UInt8]) -> Bool {
    guard let offset = integrityOffset, valueCount(at: offset) == 20 else { return false }
    return Digest.areEqual(digest(.sha1, key: key, at: offset, count: 20), bytes.extracting(offset + 4..<offset + 24))
  }

  /// Whether MESSAGE-INTEGRITY-SHA256, which may be cut to 16 bytes, is there and right under `key` (RFC 8489 section 14.6).
  public func hasValidIntegritySHA256(key: [UInt8]) -> Bool {
    guard let offset = integritySHA256Offset else { return false }
    let count = valueCount(at: offset)
    guard (16...32).contains(count), count % 4 == 0 else { return false }
    let digest = digest(.sha256, key: key, at: offset, count: count)
    return Digest.areEqual(Array(digest.prefix(count)), bytes.extracting(offset + 4..<offset + 4 + count))
  }

  /// Nil when there is no FINGERPRINT, else whether it is right and last (RFC 8489 section 14.7).
  public var isFingerprintValid: Bool? {
    guard let offset = fingerprintOffset else { return nil }
    guard valueCount(at: offset) == 4, offset + 8 == bytes.byteCount else { return false }
    var reader = ByteReader(bytes.extracting(offset + 4..<offset + 8))
    return (try? reader.uint32()) == CRC32.checksum(bytes.extracting(0..<offset)) ^ Message.fingerprintMask
  }

  /// The HMAC covers what is before the attribute, with a length field as if the attribute were the last one.
  private func digest(_ algorithm: Digest.Algorithm, key: [UInt8], at offset: Int, count: Int) -> [UInt8] {
    var covered = Array(bytes: bytes.extracting(0..<offset))
    let length = UInt16(offset + 4 + count - Message.headerCount)
    (covered[2], covered[3]) = (UInt8(length >> 8), UInt8(length & 0xFF))
    return Digest.hmac(algorithm, key: key, over: covered, count: offset)
  }

  private func valueCount(at offset: Int) -> Int {
    unsafe Int(UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset + 2, as: UInt16.self)))
  }
}
