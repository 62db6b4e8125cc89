import Base
import Bytes
import DTLS
import ICE
import RTP
import SCTP
import SDP

/// A WebRTC peer connection with the W3C names, states and events (W3C WebRTC 1.0, RFC 8829), as a value without sockets, clocks or threads.
///
/// Its owner passes datagrams and the time in, and drains packets, events and the next deadline:
///
///     connection.addSocket(id, address: address)
///     let offer = try connection.createOffer(now: now)
///     try connection.setLocalDescription(.offer, offer, now: now)
///     while let event = connection.pollEvent() { … }
///     while let packet = connection.pollTransmit(into: &buffer, now: now) { … }
///
/// All media and data share one transport (bundle policy `max-bundle`, RTCP multiplexed).
public struct PeerConnection: ~Copyable {
  /// What a connection is made with: W3C `RTCConfiguration`, and what this side is able to do.
  public struct Configuration: Sendable {
    /// STUN and TURN servers, their names already resolved.
    public var iceServers: [ICE.Server] = []
    /// Whether `setIceServers` will be called later: gathering does not complete before.
    public var expectsIceServers = false
    /// W3C `iceTransportPolicy: "relay"`: only relayed candidates.
    public var isRelayOnly = false
    /// Names that stand for host addresses in candidates (mDNS); empty: addresses are shown.
    public var concealedNames: [IPAddress: String] = [:]
    /// The DTLS certificate, made ahead of the call.
    public var certificate: Certificate
    /// What can be sent and received, in order of preference.
    public var codecs = CodecCapability.all
    /// Header extensions that are offered and accepted.
    public var headerExtensions: [MediaKind: [HeaderExtension]] = [
      .audio: [.audioLevel, .absoluteSendTime, .transportSequenceNumber, .mid],
      .video: [
        .absoluteSendTime, .transportSequenceNumber, .mid, .rid, .repairedRid, .videoOrientation, .playoutDelay, .absoluteCaptureTime,
      ],
    ]
    /// SRTP profiles in order of preference (IANA numbers).
    public var srtpProfiles: [UInt16] = [7, 8, 1]
    /// The largest data channel message this side takes, in bytes.
    public var maximumMessageSize = 262_144
    /// How many bytes of data channel messages this side holds that are not complete or not taken yet; then the peer waits. At least 1,500.
    public var receiveWindow = 5 << 20
    /// Bits per second that sending starts with.
    public var startBitrate = 1_000_000
    /// Bits per second that sending never exceeds.
    public var maximumBitrate = 4_000_000
    /// Makes all randomness a function of the seed, for tests; nil: the system's generator.
    public var seed: UInt64?

    /// A configuration without servers.
    public init(certificate: Certificate) { self.certificate = certificate }
  }

  /// What the connection was made with.
  public let configuration: Configuration
  var negotiation: Negotiation
  var transport: Transport
  var media: MediaStreams
  var association: Association?
  /// While set, data channel messages stay in the association, whose receive window then closes: for an application that is slower than
  /// the network. After clearing it `handleTimeout` hands on what waits.
  public var holdsMessages = false
  var isAssociationStarted = false
  var isAssociationEnded = false
  var channels = DataChannels()
  var announcedSCTPTransport: SCTPTransport?
  var events = Queue<PeerConnectionEvent>()
  var isClosed = false
  /// W3C `[[NegotiationNeeded]]`.
  var isNegotiationNeededAnnounced = false
  var isNegotiationNeededDue = false
  var localCandidates: [ICE.Candidate] = []
  var selectedPairChanges = 0
  /// Credentials that an offer or answer names and that take effect when it is set as local description.
  var restartParameters: ICE.Parameters?
  var wantsRestart = false
  var beforeRestart: BeforeRestart?
  var lastOffer: Created?
  var lastAnswer: Created?
  private var announcedDTLSState = DTLSTransportState.new

  /// W3C `iceConnectionState`.
  public private(set) var iceConnectionState = ICE.ConnectionState.new
  /// W3C `iceGatheringState`.
  public private(set) var iceGatheringState = ICE.GatheringState.new
  /// W3C `connectionState`.
  public private(set) var connectionState = PeerConnectionState.new

  /// A connection in its initial state.
  public init(configuration: Configuration) {
    self.configuration = configuration
    var generator: any RandomNumberGenerator & Sendable =
      configuration.seed.map { RandomSource(seed: $0) } ?? SystemRandomNumberGenerator()
    var ice = ICE.Agent.Configuration()
    ice.servers = configuration.iceServers
    ice.expectsServers = configuration.expectsIceServers
    ice.relayOnly = configuration.isRelayOnly
    ice.concealedNames = configuration.concealedNames
    transport = Transport(
      ice: ICE.Agent(configuration: ice, isControlling: true, seed: configuration.seed), certificate: configuration.certificate)
    let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    let name = String((0..<16).map { _ in alphabet[Int(generator.next() % UInt64(alphabet.count))] })
    media = MediaStreams(
      canonicalName: name, startBitrate: configuration.startBitrate, maximumBitrate: configuration.maximumBitrate,
      source: UInt32(truncatingIfNeeded: generator.next()) | 2)
    negotiation = Negotiation(
      codecs: configuration.codecs, extensions: configuration.headerExtensions,
      // RFC 8829 section 5.2.1: 63 random bits.
      sessionIdentifier: generator.next() >> 1, canonicalName: name, maximumMessageSize: configuration.maximumMessageSize,
      generator: generator)
  }

  // MARK: State

  /// W3C `signalingState`.
  public var signalingState: SignalingState { isClosed ? .closed : negotiation.signalingState }
  /// The transceivers, in the order of their creation.
  public var transceivers: [Transceiver] { negotiation.transceivers }
  /// The transceiver of that name.
  public func transceiver(_ identifier: TransceiverIdentifier) -> Transceiver? { negotiation[identifier] }
  /// Why the connection failed; nil when nobody knows.
  public var failureReason: String? {
    transport.failure ?? (iceConnectionState == .failed ? "no candidate pair works any more (ICE)" : nil)
  }
  /// Whether the peer can be sent media and data now.
  public var isConnected: Bool { connectionState == .connected && transport.isSecure }

  /// W3C `localDescription`, with the candidates gathered so far.
  public var localDescription: (type: DescriptionType, description: SessionDescription)? {
    negotiation.localDescription.map { ($0.type, withCandidates($0.description)) }
  }
  /// W3C `remoteDescription`.
  public var remoteDescription: (type: DescriptionType, description: SessionDescription)? {
    negotiation.remoteDescription.map { ($0.type, $0.description) }
  }
  /// W3C `currentLocalDescription`.
  public var currentLocalDescription: SessionDescription? { negotiation.currentLocal.map { withCandidates($0.description) } }
  /// W3C `pendingLocalDescription`.
  public var pendingLocalDescription: SessionDescription? { negotiation.pendingLocal.map { withCandidates($0.description) } }
  /// W3C `currentRemoteDescription`.
  public var currentRemoteDescription: SessionDescription? { negotiation.currentRemote?.description }
  /// W3C `pendingRemoteDescription`.
  public var pendingRemoteDescription: SessionDescription? { negotiation.pendingRemote?.description }

  func withCandidates(_ description: SessionDescription) -> SessionDescription {
    guard let index = description.transportSection(),
      description.media[index].usernameFragment == transport.ice.localParameters.usernameFragment
    else { return description }
    var description = description
    description.media[index].candidates = localCandidates.map(\.description)
    description.media[index].hasEndOfCandidates = iceGatheringState == .complete
    if let address = localCandidates.first(where: { $0.hostName == nil && $0.transport == .udp })?.address {
      // The default destination is one of the candidates (RFC 8839 section 4.2.1.1).
      description.media[index].port = address.port
      description.media[index].connection = SDP.Connection(
        addressType: address.ip.family == .v4 ? "IP4" : "IP6", address: "\(address.ip)")
    }
    return description
  }

  // MARK: Events and states

  func checkOpen() throws(PeerConnectionError) {
    if isClosed { throw PeerConnectionError(.invalidState, "the connection is closed") }
  }

  mutating func checkNegotiationNeeded() {
    guard !isClosed, negotiation.signalingState == .stable else { return }
    let isNeeded = negotiation.isNegotiationNeeded || wantsRestart
    if isNeeded, !isNegotiationNeededAnnounced { isNegotiationNeededDue = true }
    isNegotiationNeededAnnounced = isNeeded
  }

  /// The next thing that happened.
  public mutating func pollEvent() -> PeerConnectionEvent? {
    takeIceEvents()
    updateConnectionState()
    announceSCTPTransport()
    if let event = events.popFirst() { return event }
    // Last, and only if it is still true: what happened meanwhile may have settled it.
    defer { isNegotiationNeededDue = false }
    guard isNegotiationNeededDue, isNegotiationNeededAnnounced, signalingState == .stable else { return nil }
    return .negotiationNeeded
  }

  mutating func takeIceEvents() {
    while let event = transport.ice.pollEvent() {
      switch event {
      case .closeStream(let socket): events.append(.closeStream(socket))
      case _ where isClosed: break
      case .localCandidate(let candidate):
        localCandidates.append(candidate)
        events.append(.iceCandidate(described(candidate)))
      case .gatheringState(let state):
        // The end of one transport's candidates has an event of its own, before the state changes (W3C section 4.8.1.1).
        if state == .complete { events.append(.iceCandidate(described(nil))) }
        if state == .new { localCandidates = [] }
        iceGatheringState = state
        events.append(.iceGatheringStateChange(state))
        if state == .complete { events.append(.iceCandidate(nil)) }
      case .connectionState(let state):
        iceConnectionState = state
        events.append(.iceConnectionStateChange(state))
      case .selectedPair:
        selectedPairChanges += 1
        events.append(.selectedCandidatePairChange)
      case .openStream(let socket, let address, let name): events.append(.openStream(socket, to: address, tlsName: name))
      case .candidateError(let url, let address, let code, let text):
        events.append(.iceCandidateError(url: url, address: address?.description, code: code, text: text))
      }
    }
  }

  /// A candidate as the application sees it; nil for the end of candidates of the generation.
  private func described(_ candidate: ICE.Candidate?) -> IceCandidate {
    let index = negotiation.localDescription?.description.transportSection() ?? 0
    var result = IceCandidate(
      candidate: candidate?.description ?? "", sdpMid: index < negotiation.sections.count ? negotiation.sections[index].mid : nil,
      sdpMLineIndex: index, usernameFragment: transport.ice.localParameters.usernameFragment)
    (result.url, result.relayProtocol) = (candidate?.url, candidate?.relayProtocol)
    return result
  }

  /// W3C `RTCPeerConnectionState`: the ICE and the DTLS transport's states taken together. A peer's goodbye, which closes DTLS, changes nothing
  /// by itself; it is told by `dtlsTransportStateChange`.
  private mutating func updateConnectionState() {
    guard !isClosed else { return }
    if transport.state != announcedDTLSState {
      announcedDTLSState = transport.state
      events.append(.dtlsTransportStateChange(announcedDTLSState))
    }
    let state: PeerConnectionState =
      switch (iceConnectionState, transport.state) {
      case (.failed, _), (_, .failed): .failed
      case (.disconnected, _): .disconnected
      case (.new, .new), (.new, .closed): .new
      case (.connected, .connected), (.completed, .connected), (.connected, .closed), (.completed, .closed): .connected
      default: .connecting
      }
    guard state != connectionState else { return }
    connectionState = state
    events.append(.connectionStateChange(state))
  }

  /// W3C `close()`: says goodbye to the peer; what is still to be sent can be drained afterwards. No event tells of it.
  public mutating func close(now: Instant) {
    guard !isClosed else { return }
    isClosed = true
    media.close()
    association?.abort(now: now)
    drainAssociation(now: now)
    channels.removeAll()
    transport.close(now: now)
    for transceiver in negotiation.transceivers { negotiation.stop(transceiver.identifier) }
    (iceConnectionState, connectionState) = (.closed, .closed)
    events.removeAll()
  }
}
