import Base
import DTLS
import ICE
import SDP

extension PeerConnection {
  /// What a rollback of a pending ICE restart returns to.
  struct BeforeRestart: Sendable {
    var agent: ICE.Agent
    var candidates: [ICE.Candidate]
    var wasWanted: Bool
  }

  /// A description of this side as it was last made, for W3C `[[LastCreatedOffer]]` and `[[LastCreatedAnswer]]`.
  struct Created: Sendable {
    var text: String
    var description: SessionDescription
    /// The ICE credentials that it announces, when they are new.
    var restart: ICE.Parameters?
  }

  /// W3C `createOffer`. With `isIceRestart` the offer names new ICE credentials.
  public mutating func createOffer(isIceRestart: Bool = false, now: Instant) throws(PeerConnectionError) -> SessionDescription {
    try checkOpen()
    guard [.stable, .haveLocalOffer].contains(negotiation.signalingState) else {
      throw PeerConnectionError(.invalidState, "an offer cannot be made in signaling state \(negotiation.signalingState.rawValue)")
    }
    let restarts = (isIceRestart || wantsRestart) && negotiation.localDescription != nil
    let offer = negotiation.makeOffer(transport: localTransport(restarts: restarts))
    let shown = withCandidates(offer)
    lastOffer = Created(text: shown.description, description: offer, restart: restarts ? restartParameters : nil)
    return shown
  }

  /// W3C `createAnswer`.
  public mutating func createAnswer(now: Instant) throws(PeerConnectionError) -> SessionDescription {
    try checkOpen()
    guard [.haveRemoteOffer, .haveLocalProvisionalAnswer].contains(negotiation.signalingState) else {
      throw PeerConnectionError(.invalidState, "an answer cannot be made in signaling state \(negotiation.signalingState.rawValue)")
    }
    let restarts = isRemoteRestart
    let answer = try negotiation.makeAnswer(transport: localTransport(restarts: restarts))
    let shown = withCandidates(answer)
    lastAnswer = Created(text: shown.description, description: answer, restart: restarts ? restartParameters : nil)
    return shown
  }

  /// The text of the offer that was made last.
  public var createdOfferText: String? { lastOffer?.text }

  /// The text of the answer that was made last.
  public var createdAnswerText: String? { lastAnswer?.text }

  private mutating func localTransport(restarts: Bool) -> Negotiation.LocalTransport {
    if restarts, restartParameters == nil { restartParameters = transport.ice.makeParameters() }
    return Negotiation.LocalTransport(
      parameters: (restarts ? restartParameters : nil) ?? transport.ice.localParameters,
      fingerprint: configuration.certificate.fingerprint(.sha256), role: transport.role)
  }

  /// Whether the pending offer's credentials differ from those in use: the peer restarts ICE (RFC 8839 section 4.4.1.1.1).
  private var isRemoteRestart: Bool {
    guard negotiation.currentRemote != nil, negotiation.remoteDescription?.type == .offer, negotiation.signalingState != .stable,
      let used = transport.ice.remoteParameters, let offered = remoteParameters
    else { return false }
    return used.usernameFragment != offered.usernameFragment
  }

  /// W3C `setLocalDescription`. Without a description, an offer or answer is made as the state asks for.
  public mutating func setLocalDescription(
    _ type: DescriptionType? = nil, _ description: SessionDescription? = nil, now: Instant
  ) throws(PeerConnectionError) {
    try checkOpen()
    let type = type ?? implicitType
    _ = try negotiation.transition(type, isLocal: true)
    var chosen: SessionDescription
    if let description {
      chosen = description
      // Candidates are told as they stand whenever the description is read.
      for index in chosen.media.indices { (chosen.media[index].candidates, chosen.media[index].hasEndOfCandidates) = ([], false) }
    } else if type == .rollback {
      chosen = negotiation.emptyDescription()
    } else {
      _ = type == .offer ? try createOffer(now: now) : try createAnswer(now: now)
      chosen = (type == .offer ? lastOffer : lastAnswer)?.description ?? negotiation.emptyDescription()
    }
    try applyLocal(type, chosen, now: now)
  }

  /// W3C `setLocalDescription` with the text that a page gives: the one that was made last, unaltered; an empty one stands for it.
  /// What a rollback says is not read.
  public mutating func setLocalDescription(_ type: DescriptionType?, sdp: String, now: Instant) throws(PeerConnectionError) {
    try checkOpen()
    let type = type ?? implicitType
    guard !sdp.isEmpty, type != .rollback else { return try setLocalDescription(type, now: now) }
    _ = try negotiation.transition(type, isLocal: true)
    guard let created = type == .offer ? lastOffer : lastAnswer, created.text == sdp else {
      throw PeerConnectionError(
        .invalidModification,
        "the description is not the one that \(type == .offer ? "createOffer" : "createAnswer") made last")
    }
    let current = created.restart ?? transport.ice.localParameters
    guard created.description.media.allSatisfy({ $0.usernameFragment == nil || $0.usernameFragment == current.usernameFragment }) else {
      throw PeerConnectionError(.invalidModification, "ICE was restarted since the description was made")
    }
    if let parameters = created.restart, transport.ice.localParameters != parameters { restartParameters = parameters }
    try applyLocal(type, created.description, now: now)
  }

  /// What `setLocalDescription()` makes (W3C section 4.4.2).
  private var implicitType: DescriptionType {
    switch negotiation.signalingState {
    case .stable, .haveLocalOffer, .haveRemoteProvisionalAnswer: .offer
    default: .answer
    }
  }

  private mutating func applyLocal(
    _ type: DescriptionType, _ description: SessionDescription, now: Instant
  ) throws(PeerConnectionError) {
    let before = negotiation.signalingState
    let isFirst = negotiation.currentRemote == nil
    let effects = try negotiation.setLocal(type, description)
    if type == .rollback {
      rollBackTransport(now: now)
    } else {
      if let parameters = restartParameters, description.usesFragment(parameters.usernameFragment) { restart(parameters, now: now) }
      if type == .offer, isFirst { transport.ice.setControlling(true) }
      if description.media.contains(where: { !$0.isRejected }) { transport.ice.gather(now: now) }
    }
    finish(from: before, effects: effects, now: now)
  }

  /// W3C `setRemoteDescription`. An offer that meets a local offer rolls the local one back first, even if it cannot be taken then.
  public mutating func setRemoteDescription(
    _ type: DescriptionType, _ description: SessionDescription, now: Instant
  ) throws(PeerConnectionError) {
    try beginRemote(type, now: now)
    try applyRemote(type, description, now: now)
  }

  /// Reads a description as text first; what cannot be read is an `RTCError` that names the line. What a rollback says is not read.
  public mutating func setRemoteDescription(_ type: DescriptionType, sdp: String, now: Instant) throws(PeerConnectionError) {
    try beginRemote(type, now: now)
    guard type != .rollback else { return try applyRemote(.rollback, negotiation.emptyDescription(), now: now) }
    let description: SessionDescription
    do throws(ParseError) {
      description = try SessionDescription(parsing: sdp)
    } catch {
      throw PeerConnectionError(
        .operation, "the \(type.rawValue) cannot be read: \(error)", detail: .sdpSyntaxError, sdpLineNumber: error.line)
    }
    try applyRemote(type, description, now: now)
  }

  /// The implicit rollback of perfect negotiation (W3C section 4.4.1.5), then whether the type may come now.
  private mutating func beginRemote(_ type: DescriptionType, now: Instant) throws(PeerConnectionError) {
    try checkOpen()
    if type == .offer, negotiation.signalingState == .haveLocalOffer {
      let effects = try negotiation.setLocal(.rollback, negotiation.emptyDescription())
      rollBackTransport(now: now)
      finish(from: .haveLocalOffer, effects: effects, now: now)
    }
    _ = try negotiation.transition(type, isLocal: false)
  }

  private mutating func applyRemote(
    _ type: DescriptionType, _ description: SessionDescription, now: Instant
  ) throws(PeerConnectionError) {
    if type != .rollback { try checkFingerprints(of: description) }
    let before = negotiation.signalingState
    let effects = try negotiation.setRemote(type, description)
    if type == .rollback { rollBackTransport(now: now) } else { takeTransport(type: type, now: now) }
    finish(from: before, effects: effects, now: now)
  }

  /// W3C `canTrickleIceCandidates`: whether the peer takes candidates after its description (RFC 8838 section 4.1.1); nil before that.
  public var canTrickleIceCandidates: Bool? {
    guard let remote = negotiation.remoteDescription?.description else { return nil }
    return remote.iceOptions.contains("trickle") || remote.media.contains { $0.iceOptions.contains("trickle") }
  }

  /// One DTLS association lasts as long as the connection; another certificate would need another one (RFC 8842 section 5.1).
  private func checkFingerprints(of description: SessionDescription) throws(PeerConnectionError) {
    guard !remoteFingerprints.isEmpty else { return }
    let named = description.fingerprints(at: description.transportSection())
    guard named.isEmpty || named.contains(where: { name in remoteFingerprints.contains { $0.isSame(as: name) } }) else {
      throw PeerConnectionError(.invalidAccess, "the peer's DTLS fingerprint changed, which takes a new connection")
    }
  }

  // MARK: What descriptions say of the transport

  /// The peer's credentials, by its latest description.
  var remoteParameters: ICE.Parameters? {
    guard let remote = negotiation.remoteDescription?.description, let index = negotiation.remoteTransportSection,
      let fragment = remote.usernameFragment(of: remote.media[index]), let password = remote.password(of: remote.media[index])
    else { return nil }
    return ICE.Parameters(usernameFragment: fragment, password: password, isLite: remote.isICELite)
  }

  private var remoteFingerprints: [CertificateFingerprint] {
    guard transport.role != nil, let remote = negotiation.currentRemote?.description else { return [] }
    return remote.fingerprints(at: remote.transportSection())
  }

  /// What a remote description says of ICE: credentials, candidates, the end of them.
  private mutating func takeTransport(type: DescriptionType, now: Instant) {
    guard let parameters = remoteParameters else { return }
    // A lite peer never controls. Else the first offer decides (RFC 8445 section 6.1.1).
    if type == .offer, negotiation.currentRemote == nil, transport.ice.remoteParameters == nil { transport.ice.setControlling(false) }
    if parameters.isLite { transport.ice.setControlling(true) }
    // A restart that the peer asks for takes effect with the answer, when this side has new credentials too.
    if isRemoteRestart { return }
    useRemote(parameters, now: now)
  }

  private mutating func useRemote(_ parameters: ICE.Parameters, now: Instant) {
    if transport.ice.remoteParameters?.usernameFragment != parameters.usernameFragment {
      transport.ice.setRemoteParameters(parameters, now: now)
    }
    guard let remote = negotiation.remoteDescription?.description, let index = negotiation.remoteTransportSection else { return }
    var hasEnded = false
    for (place, media) in remote.media.enumerated() where place == index || media.usernameFragment == parameters.usernameFragment {
      for text in media.candidates {
        guard let candidate = try? ICE.Candidate(parsing: text) else {
          transport.counters.count("ice.malformedCandidate")
          continue
        }
        if candidate.component == 1 { add(candidate, now: now) }
      }
      hasEnded = hasEnded || media.hasEndOfCandidates
    }
    if hasEnded { transport.ice.endOfRemoteCandidates(now: now) }
  }

  mutating func finish(from before: SignalingState, effects: [Negotiation.Effect], now: Instant) {
    let state = negotiation.signalingState
    if state != before { events.append(.signalingStateChange(state)) }
    for effect in effects {
      switch effect {
      case .trackAdded(let identifier): events.append(.track(identifier))
      case .trackRemoved(let identifier): events.append(.trackRemoved(identifier))
      }
    }
    if state != .haveLocalOffer, state != .haveRemoteOffer { applyAgreement(now: now) }
    if state == .stable {
      let hasTransport = negotiation.localDescription?.description.media.contains { !$0.isRejected } ?? false
      if !hasTransport { transport.ice.endGathering() }
      beforeRestart = nil
      isNegotiationNeededAnnounced = false
      checkNegotiationNeeded()
    }
  }

  /// Puts to work what offer and answer (also a provisional one) came to.
  private mutating func applyAgreement(now: Instant) {
    guard let local = negotiation.localDescription?.description, let remote = negotiation.remoteDescription?.description else { return }
    if let parameters = remoteParameters, transport.ice.remoteParameters?.usernameFragment != parameters.usernameFragment {
      useRemote(parameters, now: now)
    }
    if let index = negotiation.remoteTransportSection, index < local.media.count, !local.media[index].isRejected {
      let role = dtlsRole(local: local.setup(of: local.media[index]), remote: remote.setup(of: remote.media[index]))
      let fingerprints = remote.fingerprints(at: index).compactMap { try? DTLS.Fingerprint(parsing: "\($0.algorithm) \($0.value)") }
      transport.startDTLS(role: role, fingerprints: fingerprints, profiles: configuration.srtpProfiles, now: now)
      startAssociation(remote: remote, role: role)
    }
    if negotiation.signalingState == .stable { closeRefusedChannels() }
    media.apply(negotiation.transceivers, now: now)
  }

  /// The role that the answer chose (RFC 8842): the answerer's `setup`, seen from this side.
  private func dtlsRole(local: Setup?, remote: Setup?) -> DTLS.Role {
    switch (local, remote) {
    case (.active, _), (_, .passive): .client
    case (.passive, _), (_, .active): .server
    // Old answerers leave the attribute out: the offerer listens.
    default: negotiation.remoteDescription?.type == .offer ? .client : .server
    }
  }
}

extension CertificateFingerprint {
  func isSame(as other: CertificateFingerprint) -> Bool {
    algorithm.lowercased() == other.algorithm.lowercased() && value.lowercased() == other.value.lowercased()
  }
}

extension SessionDescription {
  func fingerprints(at index: Int?) -> [CertificateFingerprint] { index.map { fingerprints(of: media[$0]) } ?? [] }

  func usesFragment(_ fragment: String) -> Bool {
    usernameFragment == fragment || media.contains { $0.usernameFragment == fragment }
  }
}
