import Base
import STUN

extension Agent {
  /// Takes a candidate of the peer into the list and pairs it.
  mutating func insertRemote(_ candidate: Candidate, now: Instant) {
    guard let remote = current.remote else { return }
    if let fragment = candidate.usernameFragment, fragment != remote.usernameFragment {
      return counters.count("ice.candidate.other-generation")
    }
    guard candidate.component == 1 else { return counters.count("ice.candidate.component") }
    lastProgress = now
    guard !candidate.address.ip.isUnspecified else { return counters.count("ice.candidate.unresolved") }
    guard candidate.address.port != 0, !Agent.isMulticast(candidate.address.ip) else { return counters.count("ice.candidate.unusable") }
    var candidate = candidate
    candidate.usernameFragment = remote.usernameFragment
    if let known = remotes.firstIndex(where: { $0.address == candidate.address && $0.transport == candidate.transport }) {
      // What a check told before is put right by the description (RFC 8445 section 7.3.1.3).
      guard remotes[known].kind == .peerReflexive, candidate.kind != .peerReflexive else { return }
      remotes[known] = candidate
      for index in checkList.indices
      where checkList[index].generation == current.number && checkList[index].statistics.remote.address == candidate.address {
        checkList[index].statistics.remote = candidate
      }
      return
    }
    guard remotes.count < Agent.candidateLimit else { return counters.count("ice.candidate.excess") }
    remotes.append(candidate)
    if candidate.transport == .tcp { return connect(to: candidate, now: now) }
    for local in locals where local.candidate.kind == .host || local.candidate.kind == .relayed {
      if let path = local.path { pair(local.candidate, path: path, with: candidate, now: now) }
    }
  }

  /// Pairs a new local base with all candidates of the peer.
  mutating func pairLocal(_ local: Candidate, path: Path, now: Instant) {
    for remote in remotes where remote.transport == .udp { pair(local, path: path, with: remote, now: now) }
  }

  /// Adds a pair to the checklist when its two sides can reach each other (RFC 8445 section 6.1.2). The new pair's index, or that of the same
  /// pair from before; nil when there is none.
  @discardableResult
  mutating func pair(_ local: Candidate, path: Path, with remote: Candidate, now: Instant) -> Int? {
    guard current.remote != nil, local.transport == remote.transport || path.isStream else { return nil }
    guard local.address.ip.family == remote.address.ip.family, local.address.ip.isLinkLocal == remote.address.ip.isLinkLocal else {
      return nil
    }
    var remoteAddress = remote.address
    // A candidate's text carries no interface; the local end knows it.
    if remoteAddress.ip.isLinkLocal, remoteAddress.ip.scope == 0 { remoteAddress.ip.scope = local.address.ip.scope }
    if let known = pairIndex(path, remoteAddress) { return known }
    guard makeRoom(for: local, remote) else { return nil }
    var new = Pair(
      id: nextPairID, path: path, local: shown(local), localAddress: local.address, remote: remote, remoteAddress: remoteAddress,
      generation: current.number, gap: configuration.checkTimeout)
    nextPairID += 1
    new.nextCheck = now
    if case .relay(let id) = path, let relay = relays.firstIndex(where: { $0.id == id }) {
      relays[relay].client.permit(remoteAddress.ip, now: now)
      new.isBlocked = !relays[relay].client.isPermitted(remoteAddress.ip)
      flushRelay(relay)
    }
    checkList.append(new)
    return checkList.count - 1
  }

  /// Makes room for one more pair when the list is full: the least of those that came to nothing goes first. False when all are better.
  private mutating func makeRoom(for local: Candidate, _ remote: Candidate) -> Bool {
    guard checkList.count >= Agent.pairLimit else { return true }
    // Its index may move; it is worked out again when the call ends.
    active = nil
    if let failed = checkList.firstIndex(where: { $0.state == .failed }) {
      checkList.remove(at: failed)
      return true
    }
    counters.count("ice.pair.excess")
    let priority = priority(local.priority, remote.priority)
    let candidates = checkList.indices.filter { checkList[$0].state == .waiting && self.priority(checkList[$0]) < priority }
    guard let least = candidates.min(by: { self.priority(checkList[$0]) < self.priority(checkList[$1]) }) else { return false }
    checkList.remove(at: least)
    return true
  }

  /// The pair of the current generation on this path.
  func pairIndex(_ path: Path, _ remote: SocketAddress) -> Int? {
    checkList.firstIndex { $0.remoteAddress == remote && $0.path == path && $0.generation == current.number }
  }

  var selectedIndex: Int? {
    guard let selectedID else { return nil }
    return checkList.firstIndex { $0.id == selectedID }
  }

  /// RFC 8445 section 6.1.2.3.
  func priority(_ local: UInt32, _ remote: UInt32) -> UInt64 {
    let (g, d) = isControlling ? (UInt64(local), UInt64(remote)) : (UInt64(remote), UInt64(local))
    return min(g, d) << 32 | max(g, d) << 1 | (g > d ? 1 : 0)
  }

  func priority(_ pair: borrowing Pair) -> UInt64 { priority(pair.statistics.local.priority, pair.statistics.remote.priority) }

  mutating func failPair(_ index: Int) {
    checkList[index].fail()
    if checkList[index].id == selectedID { loseSelection() }
  }

  /// Takes pairs out whose base is gone.
  mutating func dropPairs(where isGone: (Pair) -> Bool) {
    if let index = selectedIndex, isGone(checkList[index]) { loseSelection() }
    checkList.removeAll(where: isGone)
    active = nil
  }

  private mutating func loseSelection() {
    selectedID = nil
    active = nil
    previous = nil
    lastProgress = now
  }

  private static func isMulticast(_ ip: IPAddress) -> Bool { ip.family == .v4 ? ip.low >> 28 == 0xE : ip.high >> 56 == 0xFF }
}

extension Path {
  var isStream: Bool {
    if case .stream = self { return true }
    return false
  }
}
