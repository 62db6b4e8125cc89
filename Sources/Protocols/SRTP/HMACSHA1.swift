import COpenSSL

/// HMAC-SHA1 with a key whose two halves are hashed ahead (RFC 2104 section 4).
///
/// OpenSSL's EVP interface allocates twice per message; copying a SHA_CTX does not.
struct HMACSHA1: Sendable {
  private var inner = SHA_CTX()
  private var outer = SHA_CTX()

  /// Length of the full tag in bytes.
  static let digestCount = 20

  /// - Parameter key: At most 64 bytes, SHA-1's block.
  init(key: [UInt8]) {
    precondition(key.count <= 64, "SRTP's authentication keys have 20 bytes")
    let padded = key + [UInt8](repeating: 0, count: 64 - key.count)
    SHA1_Init(&inner)
    SHA1_Update(&inner, padded.map { $0 ^ 0x36 }, 64)
    SHA1_Init(&outer)
    SHA1_Update(&outer, padded.map { $0 ^ 0x5C }, 64)
  }

  /// The tag of `message` followed by `suffix`.
  func tag(_ message: UnsafeRawBufferPointer, suffix: UInt32? = nil) -> InlineArray<20, UInt8> {
    var state = inner
    SHA1_Update(&state, message.baseAddress, message.count)
    if let suffix { withUnsafeBytes(of: suffix.bigEndian) { _ = SHA1_Update(&state, $0.baseAddress, 4) } }
    var digest = InlineArray<20, UInt8>(repeating: 0)
    HMACSHA1.finish(&digest, &state)
    state = outer
    digest.span.withUnsafeBytes { _ = SHA1_Update(&state, $0.baseAddress, $0.count) }
    HMACSHA1.finish(&digest, &state)
    return digest
  }

  private static func finish(_ digest: inout InlineArray<20, UInt8>, _ state: inout SHA_CTX) {
    var span = digest.mutableSpan
    span.withUnsafeMutableBufferPointer { _ = SHA1_Final($0.baseAddress, &state) }
  }
}
