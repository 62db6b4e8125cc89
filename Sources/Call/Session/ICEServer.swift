/// A STUN or TURN server as configuration, pages and endpoints name it: W3C `RTCIceServer` with one URL (RFC 9725 section 4.6 for links).
public struct ICEServer: Sendable, Equatable {
  /// Its URL, such as `turn:turn.example.org?transport=udp` (RFC 7064, 7065).
  public var url: String
  /// The user name for TURN.
  public var username: String?
  /// The password for TURN.
  public var credential: String?

  /// A server.
  public init(url: String, username: String? = nil, credential: String? = nil) {
    (self.url, self.username, self.credential) = (url, username, credential)
  }

  /// The servers among the links of an answer, in their order. Credentials other than passwords, which nobody has defined a use for, are left out.
  public init?(_ link: LinkHeader) {
    guard link.relations.contains("ice-server") else { return nil }
    let scheme = link.target.prefix { $0 != ":" }.lowercased()
    guard ["stun", "stuns", "turn", "turns"].contains(scheme), link.target.count > scheme.count + 1 else { return nil }
    if let type = link["credential-type"], type.lowercased() != "password" { return nil }
    self.init(url: link.target, username: link["username"], credential: link["credential"])
  }

  /// The server as a `Link` field's value.
  public var linkHeader: LinkHeader {
    var link = LinkHeader(target: url, parameters: [.init(name: "rel", value: "ice-server")])
    if let username { link.parameters.append(.init(name: "username", value: username)) }
    if let credential {
      link.parameters.append(.init(name: "credential", value: credential))
      link.parameters.append(.init(name: "credential-type", value: "password"))
    }
    return link
  }
}
