/// A web origin (RFC 6454): scheme, host and port, in canonical text.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
  /// `https` or `http`.
  public let scheme: String
  /// The host's name in lower case, or an address; an IPv6 address in brackets.
  public let host: String
  /// The port, the scheme's own where the text names none.
  public let port: UInt16

  /// Reads `https://calls.example.org` or `http://localhost:8080`; nil for anything else, a path included.
  public init?(_ text: String) {
    guard let (origin, rest) = Origin.split(text), rest.isEmpty else { return nil }
    self = origin
  }

  /// The origin of an `https` or `http` URL; nil when it has none.
  public init?(url: String) {
    guard let (origin, _) = Origin.split(url) else { return nil }
    self = origin
  }

  private init(scheme: String, host: String, port: UInt16) { (self.scheme, self.host, self.port) = (scheme, host, port) }

  /// The origin and what follows it.
  private static func split(_ text: String) -> (Origin, rest: Substring)? {
    let lower = text.lowercased()
    guard let scheme = ["https", "http"].first(where: { lower.hasPrefix($0 + "://") }) else { return nil }
    let afterScheme = text.dropFirst(scheme.count + 3)
    let authority = afterScheme.prefix { !"/?#".contains($0) }
    let rest = afterScheme.dropFirst(authority.count)
    var host = authority
    var port: UInt16 = scheme == "https" ? 443 : 80
    if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
      let digits = authority[authority.index(after: colon)...]
      guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(digits), number > 0 else { return nil }
      port = number
      host = authority[..<colon]
    }
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    let allowed = "abcdefghijklmnopqrstuvwxyz0123456789-._" + (isBracketed ? "[]:" : "")
    let name = host.lowercased()
    guard !name.isEmpty, name.allSatisfy(allowed.contains) else { return nil }
    return (Origin(scheme: scheme, host: name, port: port), rest)
  }

  /// Whether nobody between can read along: `https`, or this machine itself.
  public var isSecure: Bool { scheme == "https" || isLocal }

  /// Whether it is on this machine.
  public var isLocal: Bool { host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "[::1]" }

  /// The canonical text, the port only where it is not the scheme's own.
  public var description: String {
    let isDefault = port == (scheme == "https" ? 443 : 80)
    return "\(scheme)://\(host)" + (isDefault ? "" : ":\(port)")
  }
}
