/// Everything of a connection that descriptions change, told as one so that the page's script can apply it at one moment.
public struct Snapshot: Codable, Sendable, Equatable {
  /// W3C `RTCRtpTransceiver` with its sender and receiver.
  public struct Transceiver: Codable, Sendable, Equatable {
    /// The track that is received.
    public struct ReceivingTrack: Codable, Sendable, Equatable {
      /// Its number.
      public var track: UInt32
      /// Its identifier.
      public var trackId: String

      /// A track.
      public init(track: UInt32, trackId: String) { (self.track, self.trackId) = (track, trackId) }
    }

    public var transceiver: UInt32
    public var kind: TrackKind
    @ExplicitNull public var mid: String?
    public var direction: TransceiverDirection
    @ExplicitNull public var currentDirection: TransceiverDirection?
    public var isStopped: Bool
    public var receivingTrack: ReceivingTrack
    /// Identifiers of the streams that the peer put the track into.
    public var remoteStreams: [String]
    /// Whether the peer's description says that it sends.
    public var remoteIsSending: Bool
    /// Whether the sender has a transport, so that its track is sent once it is connected.
    public var senderHasTransport: Bool
    /// What was agreed on.
    public var codecs: [Codec]
    public var headerExtensions: [HeaderExtension]

    /// A transceiver.
    public init(
      transceiver: UInt32, kind: TrackKind, mid: String?, direction: TransceiverDirection, currentDirection: TransceiverDirection?,
      isStopped: Bool, receivingTrack: ReceivingTrack, remoteStreams: [String], remoteIsSending: Bool, senderHasTransport: Bool,
      codecs: [Codec], headerExtensions: [HeaderExtension]
    ) {
      (self.transceiver, self.kind, self.mid, self.direction) = (transceiver, kind, mid, direction)
      (self.currentDirection, self.isStopped, self.receivingTrack) = (currentDirection, isStopped, receivingTrack)
      (self.remoteStreams, self.remoteIsSending, self.senderHasTransport) = (remoteStreams, remoteIsSending, senderHasTransport)
      (self.codecs, self.headerExtensions) = (codecs, headerExtensions)
    }
  }

  /// W3C `RTCRtpHeaderExtensionParameters`.
  public struct HeaderExtension: Codable, Sendable, Equatable {
    public var uri: String
    public var id: Int

    /// An extension.
    public init(uri: String, id: Int) { (self.uri, self.id) = (uri, id) }
  }

  /// W3C `RTCSctpTransport`.
  public struct SCTPTransport: Codable, Sendable, Equatable {
    /// In bytes; nil for no limit.
    @ExplicitNull public var maxMessageSize: Int?
    @ExplicitNull public var maxChannels: Int?
    /// W3C `RTCSctpTransportState`.
    public var state: String

    /// A transport.
    public init(maxMessageSize: Int?, maxChannels: Int?, state: String) {
      (self.maxMessageSize, self.maxChannels, self.state) = (maxMessageSize, maxChannels, state)
    }
  }

  /// A data channel that has its stream.
  public struct Channel: Codable, Sendable, Equatable {
    public var channel: UInt32
    /// The SCTP stream.
    public var identifier: Int

    /// A channel.
    public init(channel: UInt32, identifier: Int) { (self.channel, self.identifier) = (channel, identifier) }
  }

  public var signalingState: String
  @ExplicitNull public var pendingLocal: Description?
  @ExplicitNull public var currentLocal: Description?
  @ExplicitNull public var pendingRemote: Description?
  @ExplicitNull public var currentRemote: Description?
  /// nil before a remote description.
  @ExplicitNull public var canTrickleIceCandidates: Bool?
  /// All, in the connection's order.
  public var transceivers: [Transceiver]
  @ExplicitNull public var sctp: SCTPTransport?
  /// Those that have their stream.
  public var channels: [Channel]

  /// A snapshot.
  public init(
    signalingState: String, pendingLocal: Description?, currentLocal: Description?, pendingRemote: Description?,
    currentRemote: Description?, canTrickleIceCandidates: Bool?, transceivers: [Transceiver], sctp: SCTPTransport?, channels: [Channel]
  ) {
    (self.signalingState, self.pendingLocal, self.currentLocal) = (signalingState, pendingLocal, currentLocal)
    (self.pendingRemote, self.currentRemote) = (pendingRemote, currentRemote)
    (self.canTrickleIceCandidates, self.transceivers) = (canTrickleIceCandidates, transceivers)
    (self.sctp, self.channels) = (sctp, channels)
  }
}
