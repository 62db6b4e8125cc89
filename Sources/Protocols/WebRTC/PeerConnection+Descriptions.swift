import Base
import DTLS
import ICE
import SDP

extension PeerConnection {
  /// W3C `createOffer`. With `isIceRestart` the offer names new ICE credentials.
  public mutating func createOffer(isIceRestart: Bool = false, now: Instant) throws(PeerConnectionError) -> SessionDescription {
    try checkOpen()
    guard [.stable, .haveLocalOffer].contains(negotiation.signalingState) else {
      throw PeerConnectionError(.invalidState, "an offer cannot be made in signaling state \(negotiation.signalingState.rawValue)")
    }
    if isIceRestart || wantsRestart, negotiation.currentLocal != nil, restartParameters == nil {
      restartParameters = transport.ice.makeParameters()
    }
    return negotiation.makeOffer(transport: localTransport)
  }

  /// W3C `createAnswer`.
  public mutating func createAnswer(now: Instant) throws(PeerConnectionError) -> SessionDescription {
    try checkOpen()
    guard [.haveRemoteOffer, .haveLocalProvisionalAnswer].contains(negotiation.signalingState) else {
      throw PeerConnectionError(.invalidState, "an answer cannot be made in signaling state \(negotiation.signalingState.rawValue)")
    }
    if isRemoteRestart, restartParameters == nil { restartParameters = transport.ice.makeParameters() }
    return try negotiation.makeAnswer(transport: localTransport)
  }

  private var localTransport: Negotiation.LocalTransport {
    Negotiation.LocalTransport(
      parameters: restartParameters ?? transport.ice.localParameters, fingerprint: configuration.certificate.fingerprint(.sha256),
      role: transport.role)
  }

  /// Whether the pending offer's credentials differ from those in use: the peer restarts ICE (RFC 8839 section 4.4.1.1.1).
  private var isRemoteRestart: Bool {
    guard let used = transport.ice.remoteParameters, let offered = negotiation.remoteDescription?.description.transportParameters else {
      return false
    }
    return used.usernameFragment != offered.usernameFragment && negotiation.currentRemote != nil
  }

  /// W3C `setLocalDescription`. Without a description, an offer or answer is made as the state asks for.
  public mutating func setLocalDescription(
    _ type: DescriptionType? = nil, _ description: SessionDescription? = nil, now: Instant
  ) throws(PeerConnectionError) {
    try checkOpen()
    let before = negotiation.signalingState
    let isOfferDue = before == .stable || before == .haveLocalOffer || before == .haveRemoteProvisionalAnswer
    let type = type ?? (isOfferDue ? .offer : .answer)
    let chosen: SessionDescription
    if let description {
      chosen = description
    } else if type == .rollback {
      chosen = negotiation.emptyDescription()
    } else {
      chosen = type == .offer ? try createOffer(now: now) : try createAnswer(now: now)
    }
    try negotiation.setLocal(type, chosen)
    if type == .rollback {
      undoRestart()
    } else {
      if let parameters = restartParameters, chosen.usesFragment(parameters.usernameFragment) { restart(parameters, now: now) }
      if !isGathering {
        isGathering = true
        if type == .offer { transport.ice.setControlling(true) }
        transport.ice.gather(now: now)
      }
    }
    finish(from: before, effects: [], now: now)
  }

  /// W3C `setRemoteDescription`. An offer that meets a local offer rolls the local one back first.
  public mutating func setRemoteDescription(
    _ type: DescriptionType, _ description: SessionDescription, now: Instant
  ) throws(PeerConnectionError) {
    try checkOpen()
    let before = negotiation.signalingState
    let isCollision = type == .offer && before == .haveLocalOffer
    let effects = try negotiation.setRemote(type, description)
    if isCollision || type == .rollback { undoRestart() }
    if type != .rollback { takeTransport(of: description, type: type, now: now) }
    finish(from: before, effects: effects, now: now)
  }

  /// Reads a description as text first; what cannot be read is an `OperationError` that names the line.
  public mutating func setRemoteDescription(_ type: DescriptionType, sdp: String, now: Instant) throws(PeerConnectionError) {
    let description: SessionDescription
    do {
      description = try SessionDescription(parsing: sdp)
    } catch {
      throw PeerConnectionError(.operation, "the \(type.rawValue) cannot be read: \(error)")
    }
    try setRemoteDescription(type, description, now: now)
  }

  /// W3C `addIceCandidate`. An empty candidate, or nil, ends the peer's candidates.
  public mutating func addIceCandidate(_ candidate: IceCandidate?, now: Instant) throws(PeerConnectionError) {
    guard let candidate, !candidate.candidate.isEmpty else {
      transport.ice.endOfRemoteCandidates(now: now)
      return
    }
    let parsed: ICE.Candidate
    do {
      parsed = try ICE.Candidate(parsing: candidate.candidate)
    } catch {
      throw PeerConnectionError(.operation, "\(error)")
    }
    try addIceCandidate(parsed, fragment: candidate.usernameFragment, mid: candidate.sdpMid, index: candidate.sdpMLineIndex, now: now)
  }

  private mutating func addIceCandidate(
    _ candidate: ICE.Candidate, fragment: String?, mid: String?, index: Int?, now: Instant
  ) throws(PeerConnectionError) {
    guard let remote = negotiation.remoteDescription?.description else {
      throw PeerConnectionError(.invalidState, "a candidate came before the remote description")
    }
    if let mid, !negotiation.sections.contains(where: { $0.mid == mid }) {
      throw PeerConnectionError(.operation, "no media section has the mid \(mid)")
    }
    if mid == nil, let index, !remote.media.indices.contains(index) {
      throw PeerConnectionError(.operation, "there is no media section \(index)")
    }
    guard candidate.component == 1 else { return }
    add(candidate, now: now)
  }

  private mutating func add(_ candidate: ICE.Candidate, now: Instant) {
    transport.ice.addRemoteCandidate(candidate, now: now)
    if candidate.hostName != nil { events.append(.candidateNameUnresolved(candidate)) }
  }

  /// Adds a candidate whose name the owner has looked up.
  public mutating func addResolvedCandidate(_ candidate: ICE.Candidate, now: Instant) {
    transport.ice.addRemoteCandidate(candidate, now: now)
  }

  /// W3C `restartIce()`: the next offer names new credentials.
  public mutating func restartIce() {
    guard negotiation.currentLocal != nil, !isClosed else { return }
    wantsRestart = true
    checkNegotiationNeeded()
  }

  private mutating func restart(_ parameters: ICE.Parameters, now: Instant) {
    if agentBeforeRestart == nil { agentBeforeRestart = transport.ice }
    localCandidates = []
    transport.ice.restart(with: parameters, now: now)
    restartParameters = nil
    wantsRestart = false
  }

  private mutating func undoRestart() {
    restartParameters = nil
    if let agent = agentBeforeRestart { transport.ice = agent }
    agentBeforeRestart = nil
  }

  /// What a remote description says of ICE: credentials, candidates, the end of them.
  private mutating func takeTransport(of description: SessionDescription, type: DescriptionType, now: Instant) {
    guard let parameters = description.transportParameters else { return }
    if !isGathering, type == .offer { transport.ice.setControlling(parameters.isLite) }
    if parameters.isLite { transport.ice.setControlling(true) }
    let isNew = transport.ice.remoteParameters?.usernameFragment != parameters.usernameFragment
    // A restart that the peer asks for takes effect with the answer, when this side has new credentials too.
    if isNew, type == .offer, isRemoteRestart {
      return
    }
    if isNew { transport.ice.setRemoteParameters(parameters, now: now) }
    addCandidates(of: description, now: now)
  }

  private mutating func addCandidates(of description: SessionDescription, now: Instant) {
    guard let index = description.transportSection else { return }
    for text in description.media[index].candidates {
      guard let candidate = try? ICE.Candidate(parsing: text), candidate.component == 1 else {
        transport.counters.count("ice.malformedCandidate")
        continue
      }
      add(candidate, now: now)
    }
    if description.media[index].hasEndOfCandidates { transport.ice.endOfRemoteCandidates(now: now) }
  }

  private mutating func finish(from before: SignalingState, effects: [Negotiation.Effect], now: Instant) {
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
      agentBeforeRestart = nil
      isNegotiationNeededAnnounced = false
      checkNegotiationNeeded()
    }
  }

  /// Puts to work what offer and answer (also a provisional one) came to.
  private mutating func applyAgreement(now: Instant) {
    guard let local = negotiation.localDescription?.description, let remote = negotiation.remoteDescription?.description else { return }
    if let parameters = remote.transportParameters, transport.ice.remoteParameters?.usernameFragment != parameters.usernameFragment {
      transport.ice.setRemoteParameters(parameters, now: now)
      addCandidates(of: remote, now: now)
    }
    if let role = dtlsRole(local: local, remote: remote) {
      let fingerprints = remote.transportFingerprints.compactMap { try? DTLS.Fingerprint(parsing: "\($0.algorithm) \($0.value)") }
      transport.startDTLS(role: role, fingerprints: fingerprints, profiles: configuration.srtpProfiles, now: now)
      startAssociation(remote: remote, role: role)
    }
    media.apply(negotiation.transceivers, now: now)
  }

  /// The role that the answer chose (RFC 8842): the answerer's `setup`, seen from this side.
  private func dtlsRole(local: SessionDescription, remote: SessionDescription) -> DTLS.Role? {
    guard let index = remote.transportSection, index < local.media.count else { return nil }
    switch (local.media[index].setup ?? local.setup, remote.media[index].setup ?? remote.setup) {
    case (.active, _), (_, .passive): return .client
    case (.passive, _), (_, .active): return .server
    // Old answerers leave the attribute out: the offerer listens.
    default: return negotiation.currentLocal?.type == .answer ? .client : .server
    }
  }
}

extension SessionDescription {
  /// The section that carries the bundle's transport: the first accepted one that is in the bundle.
  var transportSection: Int? {
    let bundled = bundledMids
    return media.indices.first { !media[$0].isRejected && (bundled.isEmpty || bundled.contains(media[$0].mid ?? "\($0)")) }
  }

  var transportParameters: ICE.Parameters? {
    guard let index = transportSection else { return nil }
    guard let fragment = media[index].usernameFragment ?? usernameFragment, let password = media[index].password ?? password else {
      return nil
    }
    return ICE.Parameters(usernameFragment: fragment, password: password, isLite: isICELite)
  }

  var transportFingerprints: [CertificateFingerprint] {
    guard let index = transportSection else { return [] }
    return media[index].fingerprints.isEmpty ? fingerprints : media[index].fingerprints
  }

  func usesFragment(_ fragment: String) -> Bool { media.contains { $0.usernameFragment == fragment } }
}
