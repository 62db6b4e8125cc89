import COpenSSL

/// What can go wrong with a certificate or an association.
public enum DTLSError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The peer's certificate is not the one that its session description announced.
  case fingerprintMismatch(expected: [Fingerprint], actual: Fingerprint)
  /// None of the announced fingerprints uses a supported hash function; the algorithms that were announced.
  case noUsableFingerprint(algorithms: [String])
  /// The peer ended the association with a fatal alert.
  case alert(Alert)
  /// The handshake broke a rule of the protocol, or the peers have nothing in common; OpenSSL's reason.
  case protocolViolation(String)
  /// The peer stayed silent through all retransmissions.
  case timedOut
  /// Application data can only be sent while connected.
  case notConnected
  /// The message is longer than a record can hold, in bytes.
  case messageTooLarge(count: Int, limit: Int)
  /// Not a certificate and key that can be used; why.
  case invalidCertificate(String)
  /// An SRTP protection profile that is not supported.
  case unsupportedProfile(UInt16)
  /// The MTU is outside `Endpoint.validMTU`.
  case invalidMTU(Int)
  /// OpenSSL refused an operation that has no reason to fail; which one and why.
  case library(String)

  public var description: String {
    switch self {
    case .fingerprintMismatch(let expected, let actual):
      "the peer's certificate has the fingerprint \(actual), its description announced "
        + expected.map(\.description).joined(separator: " or ")
    case .noUsableFingerprint(let algorithms):
      "the peer announced " + (algorithms.isEmpty ? "no fingerprint" : "fingerprints of " + algorithms.joined(separator: ", ") + " only")
        + "; accepted are " + HashFunction.allCases.map(\.rawValue).joined(separator: ", ")
    case .alert(let alert): "the peer ended the DTLS association: \(alert)"
    case .protocolViolation(let reason): "DTLS failed: \(reason)"
    case .timedOut: "the peer did not answer the DTLS handshake"
    case .notConnected: "the DTLS association is not connected"
    case .messageTooLarge(let count, let limit): "a message of \(count) bytes does not fit in a DTLS record of at most \(limit)"
    case .invalidCertificate(let reason): "unusable certificate: \(reason)"
    case .unsupportedProfile(let profile): "unsupported SRTP protection profile \(profile)"
    case .invalidMTU(let mtu): "an MTU of \(mtu) bytes is outside \(Endpoint.validMTU)"
    case .library(let reason): "OpenSSL failed: \(reason)"
    }
  }

  /// Empties OpenSSL's error queue; its oldest entry as an error.
  static func fromQueue(doing what: String) -> DTLSError {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0 else { return .library(what) }
    let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "error \(code)"
    guard Int32(truncatingIfNeeded: code >> 23) & 0xFF == ERR_LIB_SSL else { return .library("\(what): \(text)") }
    let reason = Int32(truncatingIfNeeded: code & 0x7F_FFFF)
    // OpenSSL reports a fatal alert of the peer as this offset plus the alert's number.
    if let alert = UInt8(exactly: reason - SSL_AD_REASON_OFFSET) { return .alert(Alert(code: alert)) }
    return reason == SSL_R_READ_TIMEOUT_EXPIRED ? .timedOut : .protocolViolation(text)
  }

  /// Throws what OpenSSL has to say unless `result` is its value for success.
  static func check(_ result: some BinaryInteger, _ what: String) throws(DTLSError) {
    if result <= 0 { throw fromQueue(doing: what) }
  }
}
