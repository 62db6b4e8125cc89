import Base

/// A STUN or TURN server whose name the owner has looked up.
public struct Server: Sendable, Hashable {
  /// What the server does, and over which transport.
  public enum Kind: Sendable, Hashable {
    case stun, turnUDP, turnTCP, turnTLS

    /// How a relay is reached; nil for a server that relays nothing.
    var relayProtocol: Candidate.RelayProtocol? {
      switch self {
      case .stun: nil
      case .turnUDP: .udp
      case .turnTCP: .tcp
      case .turnTLS: .tls
      }
    }
  }

  /// What the server does.
  public var kind: Kind
  /// Where it is.
  public var address: SocketAddress
  /// The name it was given by; the certificate of a TLS server must carry it. Empty when it was given by address.
  public var hostName: String
  /// Long-term credentials for TURN.
  public var username: String, password: String

  /// A server at `address`.
  public init(kind: Kind, address: SocketAddress, hostName: String = "", username: String = "", password: String = "") {
    (self.kind, self.address, self.hostName) = (kind, address, hostName)
    (self.username, self.password) = (username, password)
  }

  /// The server as a URL (RFC 7064, 7065), for error events.
  public var url: String {
    let host = hostName.isEmpty ? String(address.description.dropLast(String(address.port).utf8.count + 1)) : hostName
    switch kind {
    case .stun: return "stun:\(host):\(address.port)"
    case .turnUDP: return "turn:\(host):\(address.port)?transport=udp"
    case .turnTCP: return "turn:\(host):\(address.port)?transport=tcp"
    case .turnTLS: return "turns:\(host):\(address.port)?transport=tcp"
    }
  }
}
