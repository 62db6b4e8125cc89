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
  /// The direction wanted.
  public var direction: Direction
  /// The direction agreed on; nil before that.
  public internal(set) var currentDirection: Direction?
  /// Whether a track was ever attached to the sender, so that a remote offer may use the transceiver (RFC 8829 section 5.10).
  public internal(set) var isAddedByTrack = false
  /// Whether the sender has a track: W3C `sender.track`.
  public internal(set) var hasTrack = false
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

  var sectionIndex: Int?
  /// Whether the sender was ever allowed to send: then `addTrack` takes another one (W3C section 5.1).
  var hasSent = false
  var negotiated: NegotiatedMedia?
  /// Set by `setRemoteDescription(offer)`, so that a rollback can take it away again.
  var isCreatedByRemoteOffer = false

  /// Whether the transceiver is stopped for good.
  public var isStopped: Bool { direction == .stopped }
  /// The codec that is sent, once negotiated.
  public var sendCodec: NegotiatedCodec? { negotiated?.sendCodec }
  /// All codecs agreed on.
  public var negotiatedCodecs: [NegotiatedCodec] { negotiated?.codecs ?? [] }
}
