import COpenSSL

/// Why a TLS connection was refused, in words for the person who has to mend it.
public enum TLSError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The certificate's time has passed, or the clock runs ahead.
  case expired
  /// The certificate's time has not come, or the clock is behind.
  case notYetValid
  /// Nobody whom the trust store knows vouches for the certificate.
  case untrusted(reason: String)
  /// The certificate is for other names than `expected`.
  case nameMismatch(expected: String, names: [String])
  /// The handshake or a record failed for another reason.
  case failed(reason: String)

  /// A stable code: `tls.expired`, `tls.notYetValid`, `tls.untrusted`, `tls.name` or `tls.failed`.
  public var code: String {
    switch self {
    case .expired: "tls.expired"
    case .notYetValid: "tls.notYetValid"
    case .untrusted: "tls.untrusted"
    case .nameMismatch: "tls.name"
    case .failed: "tls.failed"
    }
  }

  public var description: String {
    switch self {
    case .expired: "the server's certificate has expired, or the clock is wrong"
    case .notYetValid: "the server's certificate is not valid yet; the clock may be wrong"
    case .untrusted(let reason): "the server's certificate is not trusted: \(reason)"
    case .nameMismatch(let expected, let names):
      names.isEmpty
        ? "the certificate of \(expected) names nothing" : "the certificate of \(expected) names \(names.joined(separator: ", ")) only"
    case .failed(let reason): "TLS failed: \(reason)"
    }
  }

  /// The error for OpenSSL's verification result `code`.
  init(verificationResult code: Int) {
    switch Int32(truncatingIfNeeded: code) {
    case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
    case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
    default: self = .untrusted(reason: String(cString: X509_verify_cert_error_string(code)))
    }
  }

  /// OpenSSL's last word on this thread, and an empty error queue.
  static func lastReason() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0, let text = ERR_reason_error_string(code) else { return "the connection was cut" }
    return String(cString: text)
  }
}
