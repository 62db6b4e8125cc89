// Run → page: what happened on a connection, under the names of the W3C events.

/// The local descriptions as they are with the candidates gathered so far.
public struct LocalDescriptions: Codable, Sendable, Equatable {
  @ExplicitNull public var pendingLocal: Description?
  @ExplicitNull public var currentLocal: Description?

  /// The two.
  public init(pendingLocal: Description?, currentLocal: Description?) {
    (self.pendingLocal, self.currentLocal) = (pendingLocal, currentLocal)
  }
}

/// A local candidate, or the end of them.
public struct IceCandidateFound: ControlMessage {
  public static let type = "connection.icecandidate"
  public var connection: UInt32
  @ExplicitNull public var candidate: Candidate?
  public var localDescriptions: LocalDescriptions

  /// The message.
  public init(connection: UInt32, candidate: Candidate?, localDescriptions: LocalDescriptions) {
    (self.connection, self.candidate, self.localDescriptions) = (connection, candidate, localDescriptions)
  }
}

/// W3C `RTCPeerConnectionIceErrorEvent`.
public struct IceCandidateError: ControlMessage {
  public static let type = "connection.icecandidateerror"
  public var connection: UInt32
  @ExplicitNull public var address: String?
  @ExplicitNull public var port: Int?
  public var url: String
  public var errorCode: Int
  public var errorText: String

  /// The message.
  public init(connection: UInt32, address: String?, port: Int?, url: String, errorCode: Int, errorText: String) {
    (self.connection, self.address, self.port) = (connection, address, port)
    (self.url, self.errorCode, self.errorText) = (url, errorCode, errorText)
  }
}

/// W3C `iceGatheringState` changed.
public struct IceGatheringState: ControlMessage {
  public static let type = "connection.icegatheringstate"
  public var connection: UInt32
  public var state: String
  public var localDescriptions: LocalDescriptions

  /// The message.
  public init(connection: UInt32, state: String, localDescriptions: LocalDescriptions) {
    (self.connection, self.state, self.localDescriptions) = (connection, state, localDescriptions)
  }
}

/// W3C `iceConnectionState` changed.
public struct IceConnectionState: ControlMessage {
  public static let type = "connection.iceconnectionstate"
  public var connection: UInt32
  public var state: String

  /// The message.
  public init(connection: UInt32, state: String) { (self.connection, self.state) = (connection, state) }
}

/// W3C `connectionState` changed.
public struct ConnectionState: ControlMessage {
  public static let type = "connection.connectionstate"
  public var connection: UInt32
  public var state: String

  /// The message.
  public init(connection: UInt32, state: String) { (self.connection, self.state) = (connection, state) }
}

/// W3C `RTCDtlsTransport.state` changed.
public struct DTLSState: ControlMessage {
  /// Candidates of the pair in use, as texts.
  public struct Pair: Codable, Sendable, Equatable {
    public var local: String
    public var remote: String

    /// A pair.
    public init(local: String, remote: String) { (self.local, self.remote) = (local, remote) }
  }

  public static let type = "connection.dtlsstate"
  public var connection: UInt32
  public var state: String
  /// DER as base64, the peer's own first.
  public var remoteCertificates: [String]
  @ExplicitNull public var selectedPair: Pair?

  /// The message.
  public init(connection: UInt32, state: String, remoteCertificates: [String], selectedPair: Pair?) {
    (self.connection, self.state, self.remoteCertificates, self.selectedPair) = (connection, state, remoteCertificates, selectedPair)
  }
}

/// W3C `RTCSctpTransport` changed.
public struct SCTPState: ControlMessage {
  public static let type = "connection.sctpstate"
  public var connection: UInt32
  public var state: String
  @ExplicitNull public var maxMessageSize: Int?
  @ExplicitNull public var maxChannels: Int?

  /// The message.
  public init(connection: UInt32, state: String, maxMessageSize: Int?, maxChannels: Int?) {
    (self.connection, self.state, self.maxMessageSize, self.maxChannels) = (connection, state, maxMessageSize, maxChannels)
  }
}

/// W3C `negotiationneeded` is due.
public struct NegotiationNeeded: ControlMessage {
  public static let type = "connection.negotiationneeded"
  public var connection: UInt32

  /// The message.
  public init(connection: UInt32) { self.connection = connection }
}

/// A tone begins, or with an empty one the last has ended.
public struct Tone: ControlMessage {
  public static let type = "connection.tone"
  public var connection: UInt32
  public var transceiver: UInt32
  public var tone: String
  /// What is still to come.
  public var rest: String

  /// The message.
  public init(connection: UInt32, transceiver: UInt32, tone: String, rest: String) {
    (self.connection, self.transceiver, self.tone, self.rest) = (connection, transceiver, tone, rest)
  }
}

/// Media of a received track began or ceased to arrive.
public struct Receiving: ControlMessage {
  public static let type = "connection.receiving"
  public var connection: UInt32
  public var track: UInt32
  public var isMuted: Bool

  /// The message.
  public init(connection: UInt32, track: UInt32, isMuted: Bool) {
    (self.connection, self.track, self.isMuted) = (connection, track, isMuted)
  }
}

/// The value that answers ``CertificateGenerate``.
public struct CertificateReply: Codable, Sendable, Equatable {
  /// W3C `RTCDtlsFingerprint`.
  public struct Fingerprint: Codable, Sendable, Equatable {
    public var algorithm: String
    public var value: String

    /// A fingerprint.
    public init(algorithm: String, value: String) { (self.algorithm, self.value) = (algorithm, value) }
  }

  /// In milliseconds since 1970.
  public var expires: Double
  public var fingerprints: [Fingerprint]

  /// The value.
  public init(expires: Double, fingerprints: [Fingerprint]) { (self.expires, self.fingerprints) = (expires, fingerprints) }
}
