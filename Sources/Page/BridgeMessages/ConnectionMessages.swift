// Page → run: the peer connection itself (W3C WebRTC 1.0, section 4).

/// W3C `RTCConfiguration`, its servers with `urls` always a list.
public struct ConnectionConfiguration: Codable, Sendable, Equatable {
  /// W3C `RTCIceServer`.
  public struct Server: Codable, Sendable, Equatable {
    /// URLs of RFC 7064 and 7065.
    public var urls: [String]
    /// The user name for TURN.
    public var username: String?
    /// The password for TURN.
    public var credential: String?

    /// A server.
    public init(urls: [String], username: String? = nil, credential: String? = nil) {
      (self.urls, self.username, self.credential) = (urls, username, credential)
    }
  }

  /// STUN and TURN servers.
  public var iceServers: [Server]?
  /// W3C `RTCIceTransportPolicy`: `all` or `relay`.
  public var iceTransportPolicy: String?
  /// W3C `RTCBundlePolicy`; every value acts as `max-bundle`.
  public var bundlePolicy: String?
  /// W3C `RTCRtcpMuxPolicy`: `require`.
  public var rtcpMuxPolicy: String?
  /// W3C `iceCandidatePoolSize`; a hint that is not used.
  public var iceCandidatePoolSize: Int?
  /// The number of a certificate made by `certificate.generate`; nil: the box's own.
  public var certificate: UInt32?

  /// A configuration with the standard's defaults.
  public init(iceServers: [Server]? = nil, iceTransportPolicy: String? = nil, certificate: UInt32? = nil) {
    (self.iceServers, self.iceTransportPolicy, self.certificate) = (iceServers, iceTransportPolicy, certificate)
  }
}

/// W3C `RTCSessionDescriptionInit`.
public struct Description: Codable, Sendable, Equatable {
  /// W3C `RTCSdpType`.
  public enum Kind: String, Codable, Sendable { case offer, pranswer, answer, rollback }

  /// What it is in the exchange.
  public var type: Kind
  /// The text of RFC 8866.
  public var sdp: String

  /// A description.
  public init(type: Kind, sdp: String) { (self.type, self.sdp) = (type, sdp) }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    type = try container.decode(Kind.self, forKey: .type)
    // A rollback has no text.
    sdp = try container.decodeIfPresent(String.self, forKey: .sdp) ?? ""
  }
}

/// Makes a connection: W3C `new RTCPeerConnection()`.
public struct ConnectionCreate: ControlMessage {
  public static let type = "connection.create"
  /// The connection's number.
  public var connection: UInt32
  /// What it is made with.
  public var configuration: ConnectionConfiguration

  /// The message.
  public init(connection: UInt32, configuration: ConnectionConfiguration = ConnectionConfiguration()) {
    (self.connection, self.configuration) = (connection, configuration)
  }
}

/// W3C `setConfiguration`.
public struct ConnectionConfigure: Request {
  public static let type = "connection.configure"
  public var id: UInt32
  /// The connection's number.
  public var connection: UInt32
  /// What holds from now on.
  public var configuration: ConnectionConfiguration
}

/// W3C `createOffer`; answered with a ``Description``.
public struct CreateOffer: Request {
  /// W3C `RTCOfferOptions`.
  public struct Options: Codable, Sendable, Equatable {
    /// Whether the offer names new ICE credentials.
    public var iceRestart: Bool?

    /// The options.
    public init(iceRestart: Bool? = nil) { self.iceRestart = iceRestart }
  }

  public static let type = "connection.createOffer"
  public var id: UInt32
  /// The connection's number.
  public var connection: UInt32
  /// What to heed.
  public var options: Options?

  /// The message.
  public init(id: UInt32, connection: UInt32, options: Options? = nil) {
    (self.id, self.connection, self.options) = (id, connection, options)
  }
}

/// W3C `createAnswer`; answered with a ``Description``.
public struct CreateAnswer: Request {
  public static let type = "connection.createAnswer"
  public var id: UInt32
  /// The connection's number.
  public var connection: UInt32

  /// The message.
  public init(id: UInt32, connection: UInt32) { (self.id, self.connection) = (id, connection) }
}

/// W3C `setLocalDescription`; answered with a ``Snapshot``.
public struct SetLocalDescription: Request {
  public static let type = "connection.setLocalDescription"
  public var id: UInt32
  /// The connection's number.
  public var connection: UInt32
  /// The description; nil: the one that the state asks for.
  public var description: Description?

  /// The message.
  public init(id: UInt32, connection: UInt32, description: Description? = nil) {
    (self.id, self.connection, self.description) = (id, connection, description)
  }
}

/// W3C `setRemoteDescription`; answered with a ``Snapshot``.
public struct SetRemoteDescription: Request {
  public static let type = "connection.setRemoteDescription"
  public var id: UInt32
  /// The connection's number.
  public var connection: UInt32
  /// The peer's description.
  public var description: Description

  /// The message.
  public init(id: UInt32, connection: UInt32, description: Description) {
    (self.id, self.connection, self.description) = (id, connection, description)
  }
}

/// W3C `RTCIceCandidateInit`, and with a local candidate where it came from.
public struct Candidate: Codable, Sendable, Equatable {
  /// `candidate:…`; empty for the end of one generation's candidates.
  public var candidate: String?
  /// The media section's identification tag.
  public var sdpMid: String?
  /// The media section's index.
  public var sdpMLineIndex: Int?
  /// The ICE generation.
  public var usernameFragment: String?
  /// The server's URL, of a local candidate that one told of.
  public var url: String?
  /// How the server of a local relayed candidate is reached: `udp`, `tcp` or `tls`.
  public var relayProtocol: String?

  /// A candidate.
  public init(
    candidate: String?, sdpMid: String? = nil, sdpMLineIndex: Int? = nil, usernameFragment: String? = nil, url: String? = nil,
    relayProtocol: String? = nil
  ) {
    (self.candidate, self.sdpMid, self.sdpMLineIndex) = (candidate, sdpMid, sdpMLineIndex)
    (self.usernameFragment, self.url, self.relayProtocol) = (usernameFragment, url, relayProtocol)
  }
}

/// W3C `addIceCandidate`; answered with a ``Snapshot``.
public struct AddIceCandidate: Request {
  public static let type = "connection.addIceCandidate"
  public var id: UInt32
  /// The connection's number.
  public var connection: UInt32
  /// The peer's candidate; nil: there will be no more.
  public var candidate: Candidate?

  /// The message.
  public init(id: UInt32, connection: UInt32, candidate: Candidate?) {
    (self.id, self.connection, self.candidate) = (id, connection, candidate)
  }
}

/// W3C `restartIce`.
public struct RestartIce: ControlMessage {
  public static let type = "connection.restartIce"
  /// The connection's number.
  public var connection: UInt32

  /// The message.
  public init(connection: UInt32) { self.connection = connection }
}

/// W3C `close`.
public struct ConnectionClose: ControlMessage {
  public static let type = "connection.close"
  /// The connection's number.
  public var connection: UInt32

  /// The message.
  public init(connection: UInt32) { self.connection = connection }
}

/// W3C `getStats`; answered with the report's dictionaries.
public struct GetStats: Request {
  /// Which half of a transceiver is asked about.
  public enum Side: String, Codable, Sendable { case sender, receiver }

  public static let type = "connection.getStats"
  public var id: UInt32
  /// The connection's number.
  public var connection: UInt32
  /// The transceiver whose half is asked about; nil: the whole connection.
  public var transceiver: UInt32?
  /// The half.
  public var side: Side?

  /// The message.
  public init(id: UInt32, connection: UInt32, transceiver: UInt32? = nil, side: Side? = nil) {
    (self.id, self.connection, self.transceiver, self.side) = (id, connection, transceiver, side)
  }
}

/// Makes a certificate (W3C `generateCertificate`); answered with a ``CertificateReply``.
public struct CertificateGenerate: Request {
  /// The kinds of key.
  public enum Algorithm: String, Codable, Sendable {
    /// ECDSA on the curve P-256.
    case ecdsa = "ECDSA"
    /// RSA with 2048 bits.
    case rsa = "RSA"
  }

  public static let type = "certificate.generate"
  public var id: UInt32
  /// The certificate's number.
  public var certificate: UInt32
  /// The kind of key.
  public var algorithm: Algorithm
  /// When it is to expire, in milliseconds since 1970.
  public var expires: Double?

  /// The message.
  public init(id: UInt32, certificate: UInt32, algorithm: Algorithm, expires: Double? = nil) {
    (self.id, self.certificate, self.algorithm, self.expires) = (id, certificate, algorithm, expires)
  }
}

/// The page has lost a certificate.
public struct CertificateRelease: ControlMessage {
  public static let type = "certificate.release"
  /// The certificate's number.
  public var certificate: UInt32

  /// The message.
  public init(certificate: UInt32) { self.certificate = certificate }
}
