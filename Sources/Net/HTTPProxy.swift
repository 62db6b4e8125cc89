/// Who makes HTTP requests for this machine.
public struct HTTPProxy: Sendable, Equatable {
  /// Where it is: `http://HOST:PORT`.
  public var url: String
  /// The user's name; nil: it asks for none.
  public var username: String?
  /// The user's password.
  public var password: String?
  /// Hosts, domains, addresses and prefixes (`192.0.2.0/24`) that are asked without it. This machine always is.
  public var exceptions: [String] = []

  /// The proxy at `url`.
  public init(url: String) { self.url = url }
}
