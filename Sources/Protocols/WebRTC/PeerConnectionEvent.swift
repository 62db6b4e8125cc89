import Base
import ICE
import SCTP

/// Names one data channel of a connection.
public struct DataChannelIdentifier: Sendable, Hashable {
  /// Its place in the order of creation, the closed ones counted too.
  public let rawValue: Int
}

/// W3C `RTCPeerConnectionState`.
public enum PeerConnectionState: String, Sendable { case new, connecting, connected, disconnected, failed, closed }

/// What happened on a connection, under the names of the W3C events.
public enum PeerConnectionEvent: Sendable {
  case negotiationNeeded
  case signalingStateChange(SignalingState)
  case iceGatheringStateChange(ICE.GatheringState)
  case iceConnectionStateChange(ICE.ConnectionState)
  case connectionStateChange(PeerConnectionState)
  /// The DTLS transport's state: `closed` is the peer's goodbye.
  case dtlsTransportStateChange(DTLSTransportState)
  /// A local candidate for the peer; nil when there will be no more.
  case iceCandidate(IceCandidate?)
  /// Media and data travel between other candidates now: `selectedCandidatePair` says which.
  case selectedCandidatePairChange
  /// A remote candidate has a name in place of its address (mDNS): the owner looks it up and calls `addResolvedCandidate`.
  case candidateNameUnresolved(ICE.Candidate)
  case iceCandidateError(url: String, address: String?, code: Int, text: String)
  /// The peer sends a track now.
  case track(TransceiverIdentifier)
  /// The peer sends the track no more.
  case trackRemoved(TransceiverIdentifier)
  /// The peer opened a data channel.
  case dataChannel(DataChannelIdentifier)
  case dataChannelOpen(DataChannelIdentifier)
  case dataChannelMessage(DataChannelIdentifier, [UInt8], isText: Bool)
  case dataChannelBufferedAmountLow(DataChannelIdentifier)
  /// The peer closes the channel: what it sent is still delivered.
  case dataChannelClosing(DataChannelIdentifier)
  /// The channel is closed next, and nobody asked for it.
  case dataChannelError(DataChannelIdentifier, PeerConnectionError)
  /// The channel is closed, and named no more.
  case dataChannelClose(DataChannelIdentifier)
  /// The association's state, largest message or number of channels is another.
  case sctpTransportChange(SCTPTransport)

  /// How a transceiver sends was changed: encoders read its `sendParameters`.
  case sendParametersChange(TransceiverIdentifier)
  /// How long a receiver should hold media was changed.
  case jitterBufferTargetChange(TransceiverIdentifier)
  /// A DTMF tone begins, with those that are still to come; an empty one tells of the end (W3C `tonechange`).
  case tone(TransceiverIdentifier, tone: String, rest: String)

  /// The peer's decoder needs a key frame of what the transceiver sends.
  case keyFrameRequested(TransceiverIdentifier)
  /// A picture's packets are all on their way: the first left at `first`, the last at `last`.
  case frameSent(TransceiverIdentifier, captured: Instant, first: Instant, last: Instant)
  /// The peer loses this share, 0 to 1, of the sound that the transceiver sends: redundancy (Opus in-band FEC) is chosen by it.
  case packetLoss(TransceiverIdentifier, fraction: Double)
  /// How many bits per second the network and the peer bear for all media together.
  case targetBitrate(Int)

  /// The owner opens a TCP connection (TLS when `tlsName` is set) for ICE, then calls `streamOpened` or `streamFailed`.
  case openStream(SocketIdentifier, to: SocketAddress, tlsName: String?)
  /// The owner closes that connection.
  case closeStream(SocketIdentifier)
}

/// A candidate with the section it belongs to: W3C `RTCIceCandidateInit`.
public struct IceCandidate: Sendable, Hashable {
  /// `candidate:…`; empty for the end of candidates of one generation.
  public var candidate: String
  /// The media section's identification tag.
  public var sdpMid: String?
  /// The media section's index.
  public var sdpMLineIndex: Int?
  /// The ICE generation that the candidate belongs to.
  public var usernameFragment: String?
  /// The server that told of it; of this side's candidates only.
  public var url: String?
  /// How the server of a relayed candidate is reached; likewise.
  public var relayProtocol: ICE.Candidate.RelayProtocol?

  /// A candidate for one section.
  public init(candidate: String, sdpMid: String?, sdpMLineIndex: Int?, usernameFragment: String? = nil) {
    (self.candidate, self.sdpMid) = (candidate, sdpMid)
    (self.sdpMLineIndex, self.usernameFragment) = (sdpMLineIndex, usernameFragment)
  }
}
