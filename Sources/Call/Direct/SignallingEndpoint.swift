import Net

/// Where a direct call is signalled: the URL of a WHIP or WHEP endpoint, and what proves that we may.
public struct SignallingEndpoint: Sendable {
  /// The endpoint.
  public var url: HTTPURL
  /// The bearer token (RFC 6750); nil when none is asked for.
  public var token: String?
  /// Whether the token goes along when the server redirects to another origin, or puts the session there. Off: the token is for whom the configuration
  /// names, and a server that needs it elsewhere answers 401.
  public var keepsTokenAcrossOrigins = false

  /// Reads the URL; a token may not hold white space or control characters.
  public init(url: String, token: String? = nil) throws(SignallingError) {
    do { self.url = try HTTPURL(url) } catch { throw .url("\(error)") }
    if let token, token.isEmpty || !token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) { throw .url("the token is empty or holds white space") }
    self.token = token
  }
}
