import CCurl
import Glibc

/// Why there is no HTTP response.
public enum HTTPError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The URL cannot be asked.
  case url(HTTPURLError)
  /// The host's name is not known, or no name server answers.
  case resolution(host: String)
  /// Nothing listens there.
  case refused(host: String, port: UInt16)
  /// The host cannot be reached, or the connection broke.
  case unreachable(reason: String)
  /// No whole answer came in time.
  case timedOut(host: String)
  /// The certificate or the handshake was at fault.
  case tls(TLSError)
  /// The answer is longer than permitted.
  case tooLarge(limit: Int)
  /// Redirected too often, or to a place that may not be followed.
  case redirect(reason: String)
  /// What came is not HTTP, or not what was asked for.
  case invalid(reason: String)
  /// The task that asked was cancelled, or the client was closed.
  case cancelled

  /// A stable code, such as `http.refused`; the TLS error's own for `tls`.
  public var code: String {
    switch self {
    case .url: "http.url"
    case .resolution: "http.dns"
    case .refused: "http.refused"
    case .unreachable: "http.unreachable"
    case .timedOut: "http.timeout"
    case .tls(let error): error.code
    case .tooLarge: "http.tooLarge"
    case .redirect: "http.redirect"
    case .invalid: "http.invalid"
    case .cancelled: "http.cancelled"
    }
  }

  public var description: String {
    switch self {
    case .url(let error): error.description
    case .resolution(let host): "the name \(host) could not be looked up"
    case .refused(let host, let port): "\(host) refuses connections on port \(port)"
    case .unreachable(let reason): "the server cannot be reached: \(reason)"
    case .timedOut(let host): "\(host) did not answer in time"
    case .tls(let error): error.description
    case .tooLarge(let limit): "the answer is longer than \(limit) bytes"
    case .redirect(let reason): "the redirection was not followed: \(reason)"
    case .invalid(let reason): "the answer is not valid HTTP: \(reason)"
    case .cancelled: "the request was cancelled"
    }
  }
}
