import Base
import ICE
import SDP

// Candidates of the peer, and ICE restarts.
extension PeerConnection {
  /// W3C `addIceCandidate` (section 4.4.2). An empty candidate ends the peer's candidates of its section, and nil those of all sections.
  public mutating func addIceCandidate(_ candidate: IceCandidate?, now: Instant) throws(PeerConnectionError) {
    if let candidate, !candidate.candidate.isEmpty, candidate.sdpMid == nil, candidate.sdpMLineIndex == nil {
      throw PeerConnectionError(.type, "a candidate needs sdpMid or sdpMLineIndex")
    }
    try checkOpen()
    guard let remote = negotiation.remoteDescription?.description else {
      throw PeerConnectionError(.invalidState, "a candidate came before the remote description")
    }
    guard let targets = try sections(of: candidate, in: remote) else { return }
    // While a restart waits for the answer, the candidates of the new generation wait in the description.
    let isCurrent = remoteParameters?.usernameFragment == transport.ice.remoteParameters?.usernameFragment
    func isOfTransport(_ index: Int) -> Bool {
      let fragment = candidate?.usernameFragment ?? remote.usernameFragment(of: remote.media[index])
      return fragment == nil || fragment == remoteParameters?.usernameFragment
    }
    guard let candidate, !candidate.candidate.isEmpty else {
      for index in targets { negotiation.addRemoteCandidate(nil, at: index) }
      if isCurrent, targets.contains(where: isOfTransport) { transport.ice.endOfRemoteCandidates(now: now) }
      return
    }
    let parsed: ICE.Candidate
    do {
      parsed = try ICE.Candidate(parsing: candidate.candidate)
    } catch {
      throw PeerConnectionError(.operation, "\(error)")
    }
    let index = targets[0]
    negotiation.addRemoteCandidate(parsed.description, at: index)
    // Other components, and transports that the bundle does without, are of no use here.
    if isCurrent, parsed.component == 1, isOfTransport(index) { add(parsed, now: now) }
  }

  /// The sections that a candidate is for, at least one; nil for a candidate of an earlier generation.
  private func sections(of candidate: IceCandidate?, in remote: SessionDescription) throws(PeerConnectionError) -> [Int]? {
    var targets = remote.media.indices.filter { !remote.media[$0].isRejected }
    if let mid = candidate?.sdpMid {
      guard let index = negotiation.sections.firstIndex(where: { $0.mid == mid }), index < remote.media.count else {
        throw PeerConnectionError(.operation, "no media section has the mid \(mid)")
      }
      targets = [index]
    } else if let index = candidate?.sdpMLineIndex {
      guard remote.media.indices.contains(index) else {
        throw PeerConnectionError(.operation, "there is no media section \(index)")
      }
      targets = [index]
    }
    guard !targets.isEmpty else { return nil }
    guard let fragment = candidate?.usernameFragment else { return targets }
    let fitting = targets.filter { remote.usernameFragment(of: remote.media[$0]) == fragment || usesBundleFragment(fragment, $0, remote) }
    if !fitting.isEmpty { return fitting }
    if negotiation.currentRemote?.description.usesFragment(fragment) == true
      || fragment == transport.ice.remoteParameters?.usernameFragment,
      !remote.usesFragment(fragment)
    {
      return nil
    }
    throw PeerConnectionError(.operation, "no such media section has the user name fragment \(fragment)")
  }

  /// A bundled section may leave the credentials to the one that carries the transport.
  private func usesBundleFragment(_ fragment: String, _ index: Int, _ remote: SessionDescription) -> Bool {
    guard remote.usernameFragment(of: remote.media[index]) == nil, let tagged = negotiation.remoteTransportSection else { return false }
    return remote.usernameFragment(of: remote.media[tagged]) == fragment
  }

  mutating func add(_ candidate: ICE.Candidate, now: Instant) {
    transport.ice.addRemoteCandidate(candidate, now: now)
    if candidate.hostName != nil { events.append(.candidateNameUnresolved(candidate)) }
  }

  /// Adds a candidate whose name the owner has looked up.
  public mutating func addResolvedCandidate(_ candidate: ICE.Candidate, now: Instant) {
    transport.ice.addRemoteCandidate(candidate, now: now)
  }

  // MARK: ICE restarts

  /// W3C `restartIce()`: the next offer names new credentials. Before the first local description there is nothing to replace.
  public mutating func restartIce() {
    guard negotiation.localDescription != nil, !isClosed else { return }
    wantsRestart = true
    checkNegotiationNeeded()
  }

  mutating func restart(_ parameters: ICE.Parameters, now: Instant) {
    takeIceEvents()
    if beforeRestart == nil { beforeRestart = BeforeRestart(agent: transport.ice, candidates: localCandidates, wasWanted: wantsRestart) }
    localCandidates = []
    transport.ice.restart(with: parameters, now: now)
    restartParameters = nil
    wantsRestart = false
  }

  mutating func rollBackTransport(now: Instant) {
    restartParameters = nil
    if let before = beforeRestart {
      takeIceEvents()
      transport.ice.rollBackRestart(to: before.agent, now: now)
      (localCandidates, wantsRestart) = (before.candidates, wantsRestart || before.wasWanted)
      beforeRestart = nil
    } else if negotiation.currentRemote == nil, transport.ice.remoteParameters != nil {
      // The first offer of the peer came to nothing: nothing of it may be tried. An offer of this side that was made before stays good.
      takeIceEvents()
      localCandidates = []
      transport.ice.restart(with: transport.ice.localParameters, now: now)
    }
    if negotiation.localDescription == nil { transport.ice.endGathering() }
  }
}
