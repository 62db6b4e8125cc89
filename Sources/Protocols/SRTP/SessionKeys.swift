import COpenSSL

/// The keys that protect packets, derived from the master key (RFC 3711 section 4.3). Packets of RTP and RTCP have keys of their own.
struct SessionKeys {
  /// For the cipher.
  var encryption: [UInt8]
  /// For HMAC-SHA1; empty where the cipher authenticates.
  var authentication: [UInt8]
  /// For the initialization vectors.
  var salt: [UInt8]

  /// What the keys are for: the labels of RFC 3711 section 4.3.1 are this, plus 1 for authentication, plus 2 for the salt.
  enum Purpose: UInt8 {
    case rtp = 0
    case rtcp = 3
  }

  /// Keys from elsewhere: the vectors of RFC 7714 begin here.
  init(encryption: [UInt8], authentication: [UInt8], salt: [UInt8]) {
    self.encryption = encryption
    self.authentication = authentication
    self.salt = salt
  }

  init(_ purpose: Purpose, profile: Profile, masterKey: [UInt8], masterSalt: [UInt8]) throws(SRTPError) {
    let label = purpose.rawValue
    encryption = try SessionKeys.derive(label, profile.keyCount, masterKey, masterSalt)
    authentication = profile == .aes128CMHMACSHA1 ? try SessionKeys.derive(label + 1, 20, masterKey, masterSalt) : []
    salt = try SessionKeys.derive(label + 2, profile.saltCount, masterKey, masterSalt)
  }

  /// `count` bytes of AES counter mode keystream, with the label mixed into the salt (RFC 3711 section 4.3.3, RFC 6188 for 256 bits).
  static func derive(_ label: UInt8, _ count: Int, _ masterKey: [UInt8], _ masterSalt: [UInt8]) throws(SRTPError) -> [UInt8] {
    // A salt of 12 bytes, which AEAD profiles have, is continued by zeros (RFC 7714 section 11).
    var counter = masterSalt + [UInt8](repeating: 0, count: 16 - masterSalt.count)
    counter[7] ^= label
    guard let context = EVP_CIPHER_CTX_new() else { throw .library }
    defer { EVP_CIPHER_CTX_free(context) }
    let cipher = masterKey.count == 32 ? EVP_aes_256_ctr() : EVP_aes_128_ctr()
    var output = [UInt8](repeating: 0, count: count)
    var written: Int32 = 0
    guard EVP_EncryptInit_ex(context, cipher, nil, masterKey, counter) == 1,
      EVP_EncryptUpdate(context, &output, &written, output, Int32(count)) == 1
    else { throw .library }
    return output
  }
}
