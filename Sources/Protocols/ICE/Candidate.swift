import Base

/// The transport that a candidate's packets travel in.
public enum TransportProtocol: Sendable, Hashable {
  case udp, tcp
}

/// Why a text is no usable candidate.
public enum CandidateError: Error, Sendable, Equatable {
  /// The text ends before this field.
  case missing(field: String)
  /// This field does not have the form that RFC 8839 gives it.
  case invalid(field: String, value: String)
  /// Neither UDP nor TCP.
  case unsupportedTransport(String)
}

/// An address where one side of a call may be reached (RFC 8445 section 5.1, grammar of RFC 8839 section 5.1).
public struct Candidate: Sendable, Hashable {
  /// How the address was learnt.
  public enum Kind: String, Sendable {
    /// An address of the machine itself.
    case host
    /// The address that a STUN server sees.
    case serverReflexive = "srflx"
    /// The address that the peer sees.
    case peerReflexive = "prflx"
    /// An address on a TURN server.
    case relayed = "relay"
  }

  /// Who opens the connection of a TCP candidate (RFC 6544 section 4.5).
  public enum TCPType: String, Sendable {
    /// This side does.
    case active
    /// The other side does.
    case passive
    /// Both at once.
    case simultaneousOpen = "so"
  }

  /// Equal for candidates of the same kind, base and server; 1 to 32 characters.
  public var foundation: String
  /// 1 for RTP and everything bundled with it.
  public var component: Int
  /// UDP or TCP.
  public var transport: TransportProtocol
  /// Higher is tried first.
  public var priority: UInt32
  /// Where to send. The IP is unspecified while only `hostName` is known.
  public var address: SocketAddress
  /// A name that stands for the address, as mDNS names in `.local` do; nil when the address was given as such.
  public var hostName: String?
  /// How the address was learnt.
  public var kind: Kind
  /// The base of a reflexive candidate, or the reflexive address of a relayed one.
  public var relatedAddress: SocketAddress?
  /// Who connects; nil for UDP.
  public var tcpType: TCPType?
  /// The credentials' generation that the candidate belongs to.
  public var usernameFragment: String?
  /// The server that told the address (RFC 7064, 7065); known of this side's candidates only, and no part of the text.
  public var url: String?
  /// How a relayed candidate's server is reached, likewise.
  public var relayProtocol: RelayProtocol?

  /// How a TURN server is reached: W3C `RTCIceServerTransportProtocol`.
  public enum RelayProtocol: String, Sendable { case udp, tcp, tls }

  /// A candidate of component 1 with these fields.
  public init(
    foundation: String, transport: TransportProtocol = .udp, priority: UInt32, address: SocketAddress, hostName: String? = nil, kind: Kind,
    relatedAddress: SocketAddress? = nil, tcpType: TCPType? = nil, usernameFragment: String? = nil, url: String? = nil,
    relayProtocol: RelayProtocol? = nil
  ) {
    (self.foundation, component, self.transport, self.priority) = (foundation, 1, transport, priority)
    (self.address, self.hostName, self.kind) = (address, hostName, kind)
    (self.relatedAddress, self.tcpType, self.usernameFragment) = (relatedAddress, tcpType, usernameFragment)
    (self.url, self.relayProtocol) = (url, relayProtocol)
  }

  /// Reads `candidate:1 1 udp 2113937151 192.0.2.1 54400 typ host …`, with or without `a=` and `candidate:` before it. Unknown attributes
  /// at the end are ignored.
  public init(parsing text: String) throws(CandidateError) {
    var fields = text.split(whereSeparator: { $0 == " " || $0 == "\r" || $0 == "\n" || $0 == "\r\n" || $0 == "\t" })[...]
    func next(_ name: String) throws(CandidateError) -> String {
      guard let field = fields.popFirst() else { throw .missing(field: name) }
      return String(field)
    }
    func number<T: FixedWidthInteger>(_ name: String, _ range: ClosedRange<T>) throws(CandidateError) -> T {
      let field = try next(name)
      guard field.utf8.first != UInt8(ascii: "+"), let value = T(field), range.contains(value) else {
        throw .invalid(field: name, value: field)
      }
      return value
    }

    var foundation = try next("foundation")
    for prefix in ["a=", "candidate:"] where foundation.hasPrefix(prefix) { foundation.removeFirst(prefix.count) }
    guard (1...32).contains(foundation.utf8.count) else { throw .invalid(field: "foundation", value: foundation) }
    self.foundation = foundation
    component = try number("component", 1...256)
    let transport = try next("transport")
    switch transport.lowercased() {
    case "udp": self.transport = .udp
    case "tcp", "ssltcp": self.transport = .tcp
    default: throw .unsupportedTransport(transport)
    }
    priority = try number("priority", 0...UInt32.max)
    let host = try next("address")
    let port: UInt16 = try number("port", 0...UInt16.max)
    if let ip = IPAddress(host) {
      address = SocketAddress(ip, port)
    } else {
      guard Candidate.isHostName(host) else { throw .invalid(field: "address", value: host) }
      (hostName, address) = (host, SocketAddress(IPAddress(v4: 0), port))
    }
    let marker = try next("typ")
    guard marker.lowercased() == "typ" else { throw .invalid(field: "typ", value: marker) }
    let type = try next("type")
    guard let kind = Kind(rawValue: type.lowercased()) else { throw .invalid(field: "type", value: type) }
    self.kind = kind

    var relatedIP: IPAddress?
    var relatedPort: UInt16 = 0
    while let name = fields.popFirst(), let value = fields.popFirst() {
      switch name.lowercased() {
      case "raddr": relatedIP = IPAddress(String(value))
      case "rport": relatedPort = UInt16(value) ?? 0
      case "tcptype":
        guard let type = TCPType(rawValue: value.lowercased()) else { throw .invalid(field: "tcptype", value: String(value)) }
        tcpType = type
      case "ufrag": usernameFragment = String(value)
      default: break
      }
    }
    relatedAddress = relatedIP.map { SocketAddress($0, relatedPort) }
  }

  private static func isHostName(_ text: String) -> Bool {
    (1...253).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
        }
      }
  }
}

extension Candidate: CustomStringConvertible {
  /// The candidate attribute without `a=`.
  public var description: String {
    let transport = self.transport == .udp ? "udp" : "tcp"
    let host = hostName ?? address.ip.description
    var text = "candidate:\(foundation) \(component) \(transport) \(priority) \(host) \(address.port) typ \(kind.rawValue)"
    if let relatedAddress { text += " raddr \(relatedAddress.ip) rport \(relatedAddress.port)" }
    if let tcpType { text += " tcptype \(tcpType.rawValue)" }
    if let usernameFragment { text += " ufrag \(usernameFragment)" }
    return text
  }
}
