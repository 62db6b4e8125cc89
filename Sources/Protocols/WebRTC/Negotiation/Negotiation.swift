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
    var candidates: [ICE.Candidate] = []
    var isGatheringComplete = false
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
  /// Whether a data channel was asked for, by this side or by the peer.
  var wantsData = false
  /// Receivers that a `track` event was fired for and not yet taken back.
  var receiving: Set<TransceiverIdentifier> = []
  var nextMid = 0
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
    transceivers.append(transceiver)
    return identifier
  }

  /// A random name of letters and digits.
  mutating func token(_ count: Int) -> String {
    let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<count).map { _ in alphabet[Int(random() % 36)] })
  }

  private mutating func source() -> UInt32 {
    while true {
      let candidate = UInt32(truncatingIfNeeded: random())
      // 0 and 1 are what some peers use for probing.
      if candidate > 1, !transceivers.contains(where: { $0.source == candidate || $0.retransmissionSource == candidate }) {
        return candidate
      }
    }
  }

  private mutating func random() -> UInt64 { generator.next() }

  /// Whether an offer is due: W3C "check if negotiation is needed".
  var isNegotiationNeeded: Bool {
    guard let local = currentLocal?.description, let remote = currentRemote?.description else {
      return wantsData || transceivers.contains { !$0.isStopped }
    }
    if wantsData, !sections.contains(where: { $0.kind == .application && !$0.isRejected }) { return true }
    for transceiver in transceivers {
      guard let index = transceiver.sectionIndex, index < local.media.count, index < remote.media.count else {
        if !transceiver.isStopped { return true }
        continue
      }
      if transceiver.isStopped {
        if local.media[index].port != 0, remote.media[index].port != 0 { return true }
        continue
      }
      if local.media[index].port == 0 { continue }
      if transceiver.direction.sends {
        let announced = Set(local.media[index].msids.map(\.stream))
        let wanted = Set(transceiver.sendStreamIdentifiers.isEmpty ? ["-"] : transceiver.sendStreamIdentifiers)
        if announced != wanted { return true }
      }
      if currentLocal?.type == .offer {
        let agreed = Direction(local.media[index].direction)
        let theirs = Direction(remote.media[index].direction).reversed
        if agreed != transceiver.direction && theirs != transceiver.direction { return true }
      } else {
        let possible = Direction(remote.media[index].direction).reversed
        let wanted = Direction(
          sends: transceiver.direction.sends && possible.sends, receives: transceiver.direction.receives && possible.receives)
        if Direction(local.media[index].direction) != wanted { return true }
      }
    }
    return false
  }
}
