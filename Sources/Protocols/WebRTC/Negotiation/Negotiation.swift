import DTLS
import ICE
import RTP
import SDP

/// The offer/answer machine of RFC 8829 as a value: descriptions in and out, transceivers and media agreements as the result.
///
/// It knows no transport: what a description says of one is passed in as a `LocalTransport`. All sections share one transport (RFC 8843,
/// policy `max-bundle`), with RTCP on the same port (RFC 5761): both are what every WebRTC peer speaks.
struct Negotiation: Sendable {
  /// What local descriptions say of the one transport.
  struct LocalTransport: Sendable {
    var parameters: ICE.Parameters
    var fingerprint: DTLS.Fingerprint
    /// The DTLS role in force; nil before a connection, when offers say `actpass` and answers choose.
    var role: DTLS.Role?
  }

  /// One media section, by its place in every description.
  struct Section: Sendable {
    var mid: String
    var kind: MediaDescription.Kind
    var transceiver: TransceiverIdentifier?
    var isRejected = false
  }

  /// A thing that a remote description brought about.
  enum Effect: Sendable, Equatable {
    case trackAdded(TransceiverIdentifier)
    case trackRemoved(TransceiverIdentifier)
  }

  var signalingState = SignalingState.stable
  var transceivers: [Transceiver] = []
  var sections: [Section] = []
  var currentLocal: Described?
  var pendingLocal: Described?
  var currentRemote: Described?
  var pendingRemote: Described?
  var payloadTypes = PayloadTypes()
  /// The identifiers in use for header extensions, over the whole bundle and the whole life of the connection (RFC 8285 section 5).
  var extensionNumbers: [HeaderExtension: UInt8] = [:]
  /// Whether this side has data channels for the peer.
  var wantsData = false
  /// The stream of tracks whose peer names none (RFC 8829 section 5.10).
  var defaultStream = ""
  var nextMid = 0
  /// The tag that the latest offer gave a data section of which there was none yet.
  var dataMid: String?
  var nextTransceiver = 0
  /// The state that a rollback returns to.
  var stable: [Negotiation] = []

  let codecs: [CodecCapability]
  let extensions: [MediaKind: [HeaderExtension]]
  let sessionIdentifier: UInt64
  let canonicalName: String
  let maximumMessageSize: Int
  var sessionVersion: UInt64 = 1
  var generator: any RandomNumberGenerator & Sendable

  /// A description with its type.
  struct Described: Sendable {
    var type: DescriptionType
    var description: SessionDescription
  }

  var localDescription: Described? { pendingLocal ?? currentLocal }
  var remoteDescription: Described? { pendingRemote ?? currentRemote }

  subscript(identifier: TransceiverIdentifier) -> Transceiver? {
    get { transceivers.first { $0.identifier == identifier } }
    set {
      guard let index = transceivers.firstIndex(where: { $0.identifier == identifier }), let newValue else { return }
      transceivers[index] = newValue
    }
  }

  mutating func addTransceiver(
    kind: MediaKind, direction: Direction, streams: [String] = [], trackIdentifier: String? = nil, isAddedByTrack: Bool = false
  ) -> TransceiverIdentifier {
    let identifier = TransceiverIdentifier(rawValue: nextTransceiver)
    nextTransceiver += 1
    var transceiver = Transceiver(
      identifier: identifier, kind: kind, direction: direction, sendStreamIdentifiers: streams,
      sendTrackIdentifier: trackIdentifier ?? token(16), receiveTrackIdentifier: token(16), source: source(), retransmissionSource: source()
    )
    transceiver.isAddedByTrack = isAddedByTrack
    transceiver.hasTrack = isAddedByTrack || trackIdentifier != nil
    transceiver.trackIdentifier = trackIdentifier
    transceivers.append(transceiver)
    return identifier
  }

  /// A random name of letters and digits.
  mutating func token(_ count: Int) -> String {
    let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<count).map { _ in alphabet[Int(random() % 36)] })
  }

  mutating func source() -> UInt32 {
    while true {
      let candidate = UInt32(truncatingIfNeeded: random())
      // 0 and 1 are what some peers use for probing.
      let isTaken = transceivers.contains { transceiver in
        transceiver.source == candidate || transceiver.retransmissionSource == candidate
          || transceiver.encodingSources.values.contains { $0.media == candidate || $0.retransmission == candidate }
      }
      if candidate > 1, !isTaken {
        return candidate
      }
    }
  }

  private mutating func random() -> UInt64 { generator.next() }
}
