/// The keys for SRTP that a handshake exported (RFC 5764 section 4.2).
public struct KeyingMaterial: Sendable, Hashable {
  /// The SRTP protection profile: 0x0001 AES128_CM_SHA1_80, 0x0007 AEAD_AES_128_GCM, 0x0008 AEAD_AES_256_GCM.
  public var profile: UInt16
  /// The master key of what the DTLS client sends.
  public var clientKey: [UInt8]
  /// The master salt of what the DTLS client sends.
  public var clientSalt: [UInt8]
  /// The master key of what the DTLS server sends.
  public var serverKey: [UInt8]
  /// The master salt of what the DTLS server sends.
  public var serverSalt: [UInt8]

  /// Splits what the exporter returned: both keys, then both salts, the client's first.
  init(profile: SRTPProfile, exported: [UInt8]) {
    let (key, salt) = (profile.keyCount, profile.saltCount)
    precondition(exported.count == profile.exportedCount, "the exporter was asked for two keys and two salts")
    self.profile = profile.rawValue
    clientKey = Array(exported[..<key])
    serverKey = Array(exported[key..<2 * key])
    clientSalt = Array(exported[(2 * key)..<(2 * key + salt)])
    serverSalt = Array(exported[(2 * key + salt)...])
  }
}

/// The SRTP protection profiles that can be negotiated (RFC 5764 section 4.1.2, RFC 7714 section 14.2).
enum SRTPProfile: UInt16 {
  case aes128CMHMACSHA1 = 0x0001
  case aeadAES128GCM = 0x0007
  case aeadAES256GCM = 0x0008

  /// OpenSSL's name.
  var name: String {
    switch self {
    case .aes128CMHMACSHA1: "SRTP_AES128_CM_SHA1_80"
    case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
    case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
    }
  }

  var keyCount: Int { self == .aeadAES256GCM ? 32 : 16 }
  var saltCount: Int { self == .aes128CMHMACSHA1 ? 14 : 12 }
  var exportedCount: Int { 2 * (keyCount + saltCount) }
}
