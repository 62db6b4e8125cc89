/// An SRTP protection profile: cipher, authentication and tag lengths, with its IANA number (RFC 5764 section 4.1.2, RFC 7714 section 14.2).
public enum Profile: UInt16, Sendable, CaseIterable {
  /// AES in counter mode with 128-bit keys, HMAC-SHA1 cut to 80 bits.
  case aes128CMHMACSHA1 = 0x0001
  /// AES in Galois counter mode with 128-bit keys and a 128-bit tag.
  case aeadAES128GCM = 0x0007
  /// AES in Galois counter mode with 256-bit keys and a 128-bit tag.
  case aeadAES256GCM = 0x0008

  /// Length of the master key in bytes.
  public var keyCount: Int { self == .aeadAES256GCM ? 32 : 16 }
  /// Length of the master salt in bytes.
  public var saltCount: Int { self == .aes128CMHMACSHA1 ? 14 : 12 }
  /// Length of the authentication tag in bytes: what protection adds to an RTP packet.
  public var tagCount: Int { self == .aes128CMHMACSHA1 ? 10 : 16 }
  /// What protection adds to an RTP packet, in bytes.
  public var rtpOverhead: Int { tagCount }
  /// What protection adds to an RTCP packet, in bytes: the tag and the SRTCP index.
  public var rtcpOverhead: Int { tagCount + 4 }
  /// The most that protection adds to any packet with any profile, in bytes.
  public static let maximumTrailer = 20

  /// Whether the cipher authenticates too.
  var isAEAD: Bool { self != .aes128CMHMACSHA1 }

  /// The IANA name, which W3C statistics show.
  public var name: String {
    switch self {
    case .aes128CMHMACSHA1: "SRTP_AES128_CM_HMAC_SHA1_80"
    case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
    case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
    }
  }
}
