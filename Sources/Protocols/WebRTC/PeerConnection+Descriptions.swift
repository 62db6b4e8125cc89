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

  /// W3C `createOffer`. With `isIceRestart` the offer names new ICE credentials.
  public mutating func createOffer(isIceRestart: Bool = false, now: Instant) throws(PeerConnectionError) -> SessionDescription {
    try checkOpen()
    guard [.stable, .haveLocalOffer].contains(negotiation.signalingState) else {
      throw PeerConnectionError(.invalidState, "an offer cannot be made in signaling state \(negotiation.signalingState.rawValue)")
    }
    let restarts = (isIceRestart || wantsRestart) && negotiation.currentLocal != nil
    return negotiation.makeOffer(transport: localTransport(restarts: restarts))
  }

  /// W3C `createAnswer`.
  public mutating func createAnswer(now: Instant) throws(PeerConnectionError) -> SessionDescription {
    try checkOpen()
    guard [.haveRemoteOffer, .haveLocalProvisionalAnswer].contains(negotiation.signalingState) else {
      throw PeerConnectionError(.invalidState, "an answer cannot be made in signaling state \(negotiation.signalingState.rawValue)")
    }
    return try negotiation.makeAnswer(transport: localTransport(restarts: isRemoteRestart))
  }

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
    let isFirst = negotiation.currentRemote == nil
    let effects = try negotiation.setLocal(type, chosen)
    if type == .rollback {
      rollBackTransport(now: now)
    } else {
      if let parameters = restartParameters, chosen.usesFragment(parameters.usernameFragment) { restart(parameters, now: now) }
      if type == .offer, isFirst { transport.ice.setControlling(true) }
      transport.ice.gather(now: now)
    }
    finish(from: before, effects: effects, now: now)
  }

  /// W3C `setRemoteDescription`. An offer that meets a local offer rolls the local one back first.
  public mutating func setRemoteDescription(
    _ type: DescriptionType, _ description: SessionDescription, now: Instant
  ) throws(PeerConnectionError) {
    try checkOpen()
    if type != .rollback { try checkFingerprints(of: description) }
    let before = negotiation.signalingState
    let isCollision = type == .offer && before == .haveLocalOffer
    let effects = try negotiation.setRemote(type, description)
    if isCollision { events.append(.signalingStateChange(.stable)) }
    if isCollision || type == .rollback { rollBackTransport(now: now) }
    if type != .rollback { takeTransport(type: type, now: now) }
    finish(from: isCollision ? .stable : before, effects: effects, now: now)
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

  /// One DTLS association lasts as long as the connection; another certificate would need another one (RFC 8842 section 5.1).
  private func checkFingerprints(of description: SessionDescription) throws(PeerConnectionError) {
    guard !remoteFingerprints.isEmpty else { return }
    let named = description.fingerprints(at: description.transportSection())
    guard named.isEmpty || named.contains(where: { name in remoteFingerprints.contains { $0.isSame(as: name) } }) else {
      throw PeerConnectionError(.invalidAccess, "the peer's DTLS fingerprint changed, which takes a new connection")
    }
  }

  // MARK: Candidates

  /// W3C `addIceCandidate`. An empty candidate, or nil, ends the peer's candidates.
  public mutating func addIceCandidate(_ candidate: IceCandidate?, now: Instant) throws(PeerConnectionError) {
    try checkOpen()
    guard let remote = negotiation.remoteDescription?.description else {
      throw PeerConnectionError(.invalidState, "a candidate came before the remote description")
    }
    guard let index = try section(of: candidate, in: remote), remote.media.indices.contains(index) else { return }
    // While a restart waits for the answer, the candidates of the new generation wait in the description.
    let isCurrent = remoteParameters?.usernameFragment == transport.ice.remoteParameters?.usernameFragment
    guard let candidate, !candidate.candidate.isEmpty else {
      negotiation.addRemoteCandidate(nil, at: index)
      if isCurrent { transport.ice.endOfRemoteCandidates(now: now) }
      return
    }
    let parsed: ICE.Candidate
    do {
      parsed = try ICE.Candidate(parsing: candidate.candidate)
    } catch {
      throw PeerConnectionError(.operation, "\(error)")
    }
    // Other components, and transports that the bundle does without, are of no use here.
    let fragment = candidate.usernameFragment ?? remote.usernameFragment(of: remote.media[index])
    guard parsed.component == 1, fragment == nil || fragment == remoteParameters?.usernameFragment else { return }
    negotiation.addRemoteCandidate(parsed.description, at: index)
    if isCurrent { add(parsed, now: now) }
  }

  /// The section that a candidate is for; nil for a candidate of an earlier generation.
  private func section(of candidate: IceCandidate?, in remote: SessionDescription) throws(PeerConnectionError) -> Int? {
    let fallback = negotiation.remoteTransportSection ?? 0
    guard let candidate else { return fallback }
    if let fragment = candidate.usernameFragment, !remote.usesFragment(fragment) {
      if negotiation.currentRemote?.description.usesFragment(fragment) == true
        || fragment == transport.ice.remoteParameters?.usernameFragment
      {
        return nil
      }
      throw PeerConnectionError(.operation, "no media section has the user name fragment \(fragment)")
    }
    if let mid = candidate.sdpMid {
      guard let index = negotiation.sections.firstIndex(where: { $0.mid == mid }), index < remote.media.count else {
        throw PeerConnectionError(.operation, "no media section has the mid \(mid)")
      }
      return index
    }
    guard let index = candidate.sdpMLineIndex else { return fallback }
    guard remote.media.indices.contains(index) else { throw PeerConnectionError(.operation, "there is no media section \(index)") }
    return index
  }

  private mutating func add(_ candidate: ICE.Candidate, now: Instant) {
    transport.ice.addRemoteCandidate(candidate, now: now)
    if candidate.hostName != nil { events.append(.candidateNameUnresolved(candidate)) }
  }

  /// Adds a candidate whose name the owner has looked up.
  public mutating func addResolvedCandidate(_ candidate: ICE.Candidate, now: Instant) {
    transport.ice.addRemoteCandidate(candidate, now: now)
  }

  // MARK: ICE restarts

  /// W3C `restartIce()`: the next offer names new credentials.
  public mutating func restartIce() {
    guard negotiation.currentLocal != nil, !isClosed else { return }
    wantsRestart = true
    checkNegotiationNeeded()
  }

  private mutating func restart(_ parameters: ICE.Parameters, now: Instant) {
    takeIceEvents()
    if beforeRestart == nil { beforeRestart = BeforeRestart(agent: transport.ice, candidates: localCandidates, wasWanted: wantsRestart) }
    localCandidates = []
    transport.ice.restart(with: parameters, now: now)
    restartParameters = nil
    wantsRestart = false
  }

  private mutating func rollBackTransport(now: Instant) {
    restartParameters = nil
    if let before = beforeRestart {
      takeIceEvents()
      transport.ice.rollBackRestart(to: before.agent, now: now)
      (localCandidates, wantsRestart) = (before.candidates, before.wasWanted)
      beforeRestart = nil
    } else if negotiation.currentRemote == nil, transport.ice.remoteParameters != nil {
      // The first offer of the peer came to nothing: nothing of it may be tried.
      takeIceEvents()
      localCandidates = []
      transport.ice.restart(now: now)
    }
  }

  // MARK: What descriptions say of the transport

  /// The peer's credentials, by its latest description.
  private var remoteParameters: ICE.Parameters? {
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
