/// The description of a fatal alert (RFC 5246 section 7.2).
public struct Alert: Sendable, Hashable, CustomStringConvertible {
  /// The number on the wire.
  public var code: UInt8

  /// The alert with the number `code`.
  public init(code: UInt8) { self.code = code }

  /// The peer refuses our certificate: its description carries another fingerprint.
  public static let badCertificate = Alert(code: 42)

  /// The RFC's name, such as `handshake_failure`.
  public var description: String {
    switch code {
    case 0: "close_notify"
    case 10: "unexpected_message"
    case 20: "bad_record_mac"
    case 22: "record_overflow"
    case 30: "decompression_failure"
    case 40: "handshake_failure"
    case 42: "bad_certificate"
    case 43: "unsupported_certificate"
    case 44: "certificate_revoked"
    case 45: "certificate_expired"
    case 46: "certificate_unknown"
    case 47: "illegal_parameter"
    case 48: "unknown_ca"
    case 49: "access_denied"
    case 50: "decode_error"
    case 51: "decrypt_error"
    case 70: "protocol_version"
    case 71: "insufficient_security"
    case 80: "internal_error"
    case 90: "user_canceled"
    case 100: "no_renegotiation"
    case 110: "unsupported_extension"
    default: "alert \(code)"
    }
  }
}
