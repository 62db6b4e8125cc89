import SDP

/// Names one transceiver of a connection for as long as the connection lives.
public struct TransceiverIdentifier: Sendable, Hashable {
  /// Its place in the order of creation.
  public let rawValue: Int
}

/// Which way media flows: W3C `RTCRtpTransceiverDirection`.
public enum Direction: String, Sendable, Hashable {
  case sendrecv, sendonly, recvonly, inactive
  /// No way any more, for ever.
  case stopped

  /// Whether this side sends.
  public var sends: Bool { self == .sendrecv || self == .sendonly }
  /// Whether this side receives.
  public var receives: Bool { self == .sendrecv || self == .recvonly }

  init(sends: Bool, receives: Bool) {
    self = sends ? (receives ? .sendrecv : .sendonly) : (receives ? .recvonly : .inactive)
  }

  init(_ direction: SDP.Direction) {
    self.init(sends: direction.sends, receives: direction.receives)
  }

  /// The same seen from the other end.
  var reversed: Direction { self == .stopped ? .stopped : Direction(sends: receives, receives: sends) }

  var description: SDP.Direction {
    switch self {
    case .sendrecv: .sendrecv
    case .sendonly: .sendonly
    case .recvonly: .recvonly
    case .inactive, .stopped: .inactive
    }
  }
}

/// One sender and one receiver that share a media section: W3C `RTCRtpTransceiver`, `RTCRtpSender` and `RTCRtpReceiver` in one value.
public struct Transceiver: Sendable {
  /// Its name within the connection.
  public let identifier: TransceiverIdentifier
  /// Audio or video.
  public let kind: MediaKind
  /// The media section's identification tag; nil until a description carries it.
  public internal(set) var mid: String?
  /// The media section's place in the descriptions (`sdpMLineIndex`); nil while `mid` is.
  public internal(set) var sectionIndex: Int?
  /// The direction wanted.
  public var direction: Direction
  /// The direction agreed on; nil before that.
  public internal(set) var currentDirection: Direction?
  /// Whether a track was ever attached to the sender, so that a remote offer may use the transceiver (RFC 8829 section 5.10).
  public internal(set) var isAddedByTrack = false
  /// Whether the sender has a track: W3C `sender.track`.
  public internal(set) var hasTrack = false
  /// The name of the sender's track; nil without one, and where nobody gave it a name. A replaced track keeps its predecessor's
  /// `sendTrackIdentifier` in descriptions.
  public internal(set) var trackIdentifier: String?
  /// Codecs in the order wanted; empty: all, in the connection's order.
  public var codecPreferences: [CodecCapability] = []

  /// The streams that the sent track belongs to.
  public var sendStreamIdentifiers: [String]
  /// The sent track's identifier.
  public var sendTrackIdentifier: String
  /// The streams that the received track belongs to, as the peer named them.
  public internal(set) var receiveStreamIdentifiers: [String] = []
  /// The received track's identifier.
  public internal(set) var receiveTrackIdentifier: String

  /// The source this side sends with.
  public let source: UInt32
  /// The source of this side's retransmissions.
  public let retransmissionSource: UInt32

  /// Whether the peer sends now, by its latest description: the receiving half of W3C `[[FiredDirection]]`.
  public internal(set) var isRemoteSending = false
  /// How the sender sends: W3C `RTCRtpSendParameters`.
  public internal(set) var sendParameters = SendParameters()
  /// How long the receiver should hold media before it is played, in milliseconds from 0 to 4,000; nil for the shortest time that is smooth
  /// (W3C `jitterBufferTarget`, WebRTC Extensions section 6).
  public internal(set) var jitterBufferTarget: Double?

  /// The sources of encodings beyond the first, each with that of its retransmissions, by their rids.
  var encodingSources: [String: EncodingSource] = [:]

  /// The tag that the latest offer made gave the transceiver, which counts once that offer is set.
  var offeredMid: String?
  /// Whether the sender was ever allowed to send: then `addTrack` takes another one (W3C section 5.1).
  var hasSent = false
  var negotiated: NegotiatedMedia?
  /// Set by `setRemoteDescription(offer)`, so that a rollback can take it away again.
  var isCreatedByRemoteOffer = false

  /// The source and the retransmissions' source that an encoding is sent with.
  func source(of encoding: SendEncoding) -> EncodingSource {
    encoding.rid.flatMap { encodingSources[$0] } ?? EncodingSource(media: source, retransmission: retransmissionSource)
  }

  /// Whether `stop` was called, or the peer gave the section up: nothing flows any more (W3C `[[Stopping]]`).
  public var isStopping: Bool { direction == .stopped }
  /// Whether both sides gave the section up (W3C `[[Stopped]]`). A stopped transceiver is always stopping too.
  public var isStopped: Bool { currentDirection == .stopped }
  /// The codec that is sent, once negotiated.
  public var sendCodec: NegotiatedCodec? { negotiated?.sendCodec }
  /// Most bits per second that the peer wants to receive of this section (`b=`); nil when it does not say. Encoders keep below it.
  public var bandwidthLimit: Int? { negotiated?.bandwidth }
  /// All codecs agreed on.
  public var negotiatedCodecs: [NegotiatedCodec] { negotiated?.codecs ?? [] }

  /// Takes over what the application set while an exchange was under way, which a rollback does not undo; and what the peer stopped stays so.
  mutating func takeApplicationValues(of other: Transceiver) {
    direction = other.direction
    if other.isStopped {
      (currentDirection, negotiated, isRemoteSending, receiveStreamIdentifiers) = (.stopped, nil, false, [])
    }
    codecPreferences = other.codecPreferences
    (sendStreamIdentifiers, sendTrackIdentifier) = (other.sendStreamIdentifiers, other.sendTrackIdentifier)
    (isAddedByTrack, hasTrack, trackIdentifier) = (other.isAddedByTrack, other.hasTrack, other.trackIdentifier)
    (jitterBufferTarget, offeredMid) = (other.jitterBufferTarget, other.offeredMid)
    // A simulcast that only the peer's offer brought goes with the offer.
    if sendParameters.encodings.map(\.rid) == other.sendParameters.encodings.map(\.rid) { sendParameters = other.sendParameters }
  }
}

/// What one encoding is sent with.
struct EncodingSource: Sendable, Equatable {
  var media: UInt32
  var retransmission: UInt32
}
