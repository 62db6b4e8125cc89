import Base
import CCurl

/// Text is not a URL that can be asked by HTTP.
public struct HTTPURLError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The text.
  public let text: String
  /// What is wrong with it.
  public let reason: String
  public var description: String { "\"\(text)\": \(reason)" }
}

/// An absolute `http` or `https` URL without user name and fragment (RFC 3986).
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
  /// The whole URL.
  public let description: String
  /// `http` or `https`.
  public let scheme: String
  /// The host in lower case; an IPv6 address without brackets.
  public let host: String
  /// The port, also when it is the scheme's own.
  public let port: UInt16
  /// The path as written, at least `/`.
  public let path: String
  /// What follows the question mark, as written.
  public let query: String?

  /// Reads an absolute URL.
  public init(_ text: String) throws(HTTPURLError) { try self.init(text, base: nil) }

  /// The URL that `reference`, absolute or relative, means in a document from this one.
  public func resolving(_ reference: String) throws(HTTPURLError) -> HTTPURL { try HTTPURL(reference, base: description) }

  /// Scheme, host and port: what a secret may be shown to.
  public var origin: String { "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

  /// Whether it never leaves this machine.
  public var isLoopback: Bool { host == "localhost" || IPAddress(host)?.isLoopback == true }

  private init(_ text: String, base: String?) throws(HTTPURLError) {
    func fail(_ reason: String) -> HTTPURLError { HTTPURLError(text: text, reason: reason) }
    guard let handle = curl_url() else { preconditionFailure("out of memory") }
    defer { curl_url_cleanup(handle) }
    guard !text.utf8.contains(0) else { throw fail("a NUL in it") }
    if let base { guard curl_url_set(handle, CURLUPART_URL, base, 0) == CURLUE_OK else { throw fail("its base is no URL") } }
    let result = curl_url_set(handle, CURLUPART_URL, text, 0)
    guard result == CURLUE_OK else {
      throw fail(result == CURLUE_UNSUPPORTED_SCHEME ? "only http and https can be asked" : String(cString: curl_url_strerror(result)))
    }
    func part(_ name: CURLUPart, _ flags: UInt32 = 0) -> String? {
      var value: UnsafeMutablePointer<CChar>?
      guard curl_url_get(handle, name, &value, flags) == CURLUE_OK, let value else { return nil }
      defer { curl_free(value) }
      return String(cString: value)
    }
    guard part(CURLUPART_USER) == nil, part(CURLUPART_PASSWORD) == nil else {
      throw HTTPURLError(text: "the URL", reason: "must not hold a user name")
    }
    curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0)
    guard let scheme = part(CURLUPART_SCHEME)?.lowercased(), scheme == "http" || scheme == "https" else {
      throw fail("only http and https can be asked")
    }
    guard let host = part(CURLUPART_HOST)?.lowercased(), !host.isEmpty else { throw fail("a host is missing") }
    guard let port = part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap(UInt16.init) else {
      throw fail("its port is not a number up to 65535")
    }
    guard let whole = part(CURLUPART_URL) else { throw fail("it cannot be written") }
    self.scheme = scheme
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    self.port = port
    path = part(CURLUPART_PATH) ?? "/"
    query = part(CURLUPART_QUERY)
    description = whole
  }
}
