import Base

/// Why a text is no URL of a server that can be used.
public enum ServerURLError: Error, Sendable, Equatable {
  /// Not `stun:`, `turn:` or `turns:`. (`stuns:` gives nothing that `stun:` does not, and no browser has it.)
  case unsupportedScheme(String)
  /// The host is missing or malformed.
  case invalidHost(String)
  /// The port is no number from 1 to 65535.
  case invalidPort(String)
  /// The query is not `transport=udp` or `transport=tcp`, or it does not go with the scheme.
  case unsupportedTransport(String)
}

/// A `stun:`, `turn:` or `turns:` URL (RFC 7064 section 3, RFC 7065 section 3).
public struct ServerURL: Sendable, Hashable {
  /// What the server does.
  public var kind: Server.Kind
  /// A name, or an IP address without brackets.
  public var host: String
  /// The port; 3478, or 5349 over TLS, when the URL has none.
  public var port: UInt16

  /// Reads a URL such as `turns:turn.example.org?transport=tcp`.
  public init(parsing text: String) throws(ServerURLError) {
    guard let colon = text.firstIndex(of: ":") else { throw .unsupportedScheme(text) }
    let scheme = text[..<colon].lowercased()
    let rest = text[text.index(after: colon)...]
    let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let query = parts.count > 1 ? parts[1].lowercased() : ""
    switch (scheme, query) {
    case ("stun", ""): kind = .stun
    case ("turn", ""), ("turn", "transport=udp"): kind = .turnUDP
    case ("turn", "transport=tcp"): kind = .turnTCP
    case ("turns", ""), ("turns", "transport=tcp"): kind = .turnTLS
    case ("stun", _), ("turn", _), ("turns", _): throw .unsupportedTransport(query)
    default: throw .unsupportedScheme(scheme)
    }

    var host = parts[0]
    var portText: Substring?
    if host.hasPrefix("[") {
      guard let bracket = host.firstIndex(of: "]") else { throw .invalidHost(String(host)) }
      let tail = host[host.index(after: bracket)...]
      guard tail.isEmpty || tail.hasPrefix(":") else { throw .invalidHost(String(host)) }
      if !tail.isEmpty { portText = tail.dropFirst() }
      host = host[host.index(after: host.startIndex)..<bracket]
      guard IPAddress(String(host))?.family == .v6 else { throw .invalidHost(String(host)) }
    } else if let separator = host.firstIndex(of: ":") {
      portText = host[host.index(after: separator)...]
      host = host[..<separator]
    }
    let isPlain = host.utf8.allSatisfy { byte in byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "@") }
    guard !host.isEmpty, isPlain else { throw .invalidHost(String(host)) }
    self.host = String(host)
    if let portText {
      guard let port = UInt16(portText), port > 0 else { throw .invalidPort(String(portText)) }
      self.port = port
    } else {
      port = kind == .turnTLS ? 5349 : 3478
    }
  }
}
