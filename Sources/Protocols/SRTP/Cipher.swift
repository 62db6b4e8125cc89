import COpenSSL

/// One profile's cipher for RTP or RTCP in one direction, keyed once.
///
/// Unchecked because of OpenSSL's cipher state, a plain pointer: exactly one `Context`, which cannot be copied, holds a cipher.
final class Cipher: @unchecked Sendable {
  private let profile: Profile
  private let direction: Direction
  private let salt: InlineArray<16, UInt8>
  private let mac: HMACSHA1
  /// The EVP_CIPHER_CTX.
  private let context: OpaquePointer

  init(profile: Profile, keys: SessionKeys, direction: Direction) throws(SRTPError) {
    let algorithm =
      switch profile {
      case .aes128CMHMACSHA1: EVP_aes_128_ctr()
      case .aeadAES128GCM: EVP_aes_128_gcm()
      case .aeadAES256GCM: EVP_aes_256_gcm()
      }
    guard let context = EVP_CIPHER_CTX_new() else { throw .library }
    guard EVP_CipherInit_ex(context, algorithm, nil, keys.encryption, nil, direction == .outbound ? 1 : 0) == 1 else {
      EVP_CIPHER_CTX_free(context)
      throw .library
    }
    self.profile = profile
    self.direction = direction
    salt = InlineArray { $0 < keys.salt.count ? keys.salt[$0] : 0 }
    mac = HMACSHA1(key: keys.authentication)
    self.context = context
  }

  deinit { EVP_CIPHER_CTX_free(context) }

  /// The initialization vector: the salt, with SSRC and packet index mixed in where the profile has them (RFC 3711 section 4.1.1, RFC 7714
  /// sections 8.1 and 9.1).
  private func vector(ssrc: UInt32, index: UInt64) -> InlineArray<16, UInt8> {
    var vector = salt
    let start = profile == .aes128CMHMACSHA1 ? 4 : 2
    for byte in 0..<4 { vector[start + byte] ^= UInt8(truncatingIfNeeded: ssrc >> (24 - 8 * UInt32(byte))) }
    for byte in 0..<6 { vector[start + 4 + byte] ^= UInt8(truncatingIfNeeded: index >> (40 - 8 * UInt64(byte))) }
    return vector
  }

  /// Starts a message.
  private func start(ssrc: UInt32, index: UInt64) throws(SRTPError) {
    let vector = vector(ssrc: ssrc, index: index)
    let done = vector.span.withUnsafeBufferPointer { EVP_CipherInit_ex(context, nil, nil, nil, $0.baseAddress, -1) }
    guard done == 1 else { throw .library }
  }

  /// Encrypts or decrypts `bytes` in place, or only authenticates them.
  private func update(_ bytes: UnsafeMutableRawBufferPointer, isOutput: Bool) throws(SRTPError) {
    // A null pointer means something else to OpenSSL than no bytes.
    guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count > 0 else { return }
    var written: Int32 = 0
    guard EVP_CipherUpdate(context, isOutput ? start : nil, &written, start, Int32(bytes.count)) == 1 else { throw .library }
  }

  // MARK: AEAD

  /// Encrypts `payload` in place and writes the tag behind it. `header` and `trailer` are authenticated only.
  func seal(
    _ header: UnsafeMutableRawBufferPointer, _ payload: UnsafeMutableRawBufferPointer, trailer: UInt32?, ssrc: UInt32, index: UInt64,
    tag: UnsafeMutableRawPointer
  ) throws(SRTPError) {
    try start(ssrc: ssrc, index: index)
    try authenticate(header, trailer)
    try update(payload, isOutput: true)
    var written: Int32 = 0
    guard EVP_CipherFinal_ex(context, tag.assumingMemoryBound(to: UInt8.self), &written) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1
    else { throw .library }
  }

  /// Decrypts `payload` in place and compares the tag.
  func open(
    _ header: UnsafeMutableRawBufferPointer, _ payload: UnsafeMutableRawBufferPointer, trailer: UInt32?, ssrc: UInt32, index: UInt64,
    tag: UnsafeMutableRawPointer
  ) throws(SRTPError) {
    try start(ssrc: ssrc, index: index)
    guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag) == 1 else { throw .library }
    try authenticate(header, trailer)
    try update(payload, isOutput: true)
    var written: Int32 = 0
    // Writes nothing: all of the plain text is out.
    guard EVP_CipherFinal_ex(context, tag.assumingMemoryBound(to: UInt8.self), &written) == 1 else {
      ERR_clear_error()
      throw .authenticationFailed
    }
  }

  private func authenticate(_ header: UnsafeMutableRawBufferPointer, _ trailer: UInt32?) throws(SRTPError) {
    try update(header, isOutput: false)
    guard var word = trailer?.bigEndian else { return }
    var failure: SRTPError?
    withUnsafeMutableBytes(of: &word) { bytes in
      do throws(SRTPError) { try update(bytes, isOutput: false) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  // MARK: Counter mode and HMAC

  /// Encrypts or decrypts `payload` in place.
  func applyCounterMode(_ payload: UnsafeMutableRawBufferPointer, ssrc: UInt32, index: UInt64) throws(SRTPError) {
    try start(ssrc: ssrc, index: index)
    try update(payload, isOutput: true)
  }

  /// Writes the shortened tag of `message` and `suffix`.
  func sign(_ message: UnsafeMutableRawBufferPointer, suffix: UInt32?, tag: UnsafeMutableRawPointer) {
    let full = mac.tag(UnsafeRawBufferPointer(message), suffix: suffix)
    full.span.withUnsafeBytes { tag.copyMemory(from: $0.baseAddress!, byteCount: profile.tagCount) }
  }

  /// Compares the shortened tag of `message` and `suffix`, in a time that says nothing about it.
  func verify(_ message: UnsafeMutableRawBufferPointer, suffix: UInt32?, tag: UnsafeMutableRawPointer) throws(SRTPError) {
    let full = mac.tag(UnsafeRawBufferPointer(message), suffix: suffix)
    let difference = full.span.withUnsafeBytes { CRYPTO_memcmp($0.baseAddress, tag, profile.tagCount) }
    if difference != 0 { throw .authenticationFailed }
  }
}
