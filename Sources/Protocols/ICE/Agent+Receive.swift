import Base
import Bytes
import STUN

extension Agent {
  /// What the agent understands in a check (RFC 8489 section 6.3.1).
  static let knownAttributes: Set<AttributeType> = [.username, .messageIntegrity, .messageIntegritySHA256, .priority, .useCandidate]

  /// Takes a STUN message that came from the peer, or from somebody who wants to look like it.
  mutating func receiveMessage(_ bytes: RawSpan, from source: SocketAddress, on path: Path, now: Instant) {
    guard let message = try? Message(bytes), message.method == .binding, message.isFingerprintValid != false else {
      return counters.count("ice.stun.malformed")
    }
    switch message.messageClass {
    case .request: handleRequest(message, from: source, on: path, now: now)
    case .success, .error: handleResponse(message, from: source, on: path, now: now)
    case .indication:
      if let index = checkList.firstIndex(where: { $0.remoteAddress == source && $0.path == path && $0.isValid }) {
        checkList[index].noteReceived(now)
      }
    }
  }

  // MARK: Checks of the peer (RFC 8445 section 7.3)

  private mutating func handleRequest(_ message: borrowing Message, from source: SocketAddress, on path: Path, now: Instant) {
    guard let username = message.text(.username), message.hasIntegrity else {
      counters.count("ice.check.malformed")
      return refuse(message, ErrorCode(ErrorCode.badRequest, "Bad Request"), from: source, on: path)
    }
    let fragments = username.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let addressed = [current, previous].compactMap { $0 }.first { $0.local.usernameFragment == fragments[0] }
    guard let generation = addressed else {
      counters.count("ice.check.unauthenticated")
      return refuse(message, ErrorCode(ErrorCode.unauthenticated, "Unauthenticated"), from: source, on: path)
    }
    let key = Array(generation.local.password.utf8)
    guard message.hasValidIntegrity(key: key) || message.hasValidIntegritySHA256(key: key) else {
      counters.count("ice.check.unauthenticated")
      return refuse(message, ErrorCode(ErrorCode.unauthenticated, "Unauthenticated"), from: source, on: path)
    }
    let unknown = message.unknownAttributes(known: Agent.knownAttributes)
    guard unknown.isEmpty else {
      counters.count("ice.check.unknown-attribute")
      return refuse(message, ErrorCode(ErrorCode.unknownAttribute, "Unknown Attribute"), unknown: unknown, from: source, on: path, key: key)
    }
    guard resolveRole(message) else {
      return refuse(message, ErrorCode(ErrorCode.roleConflict, "Role Conflict"), from: source, on: path, key: key)
    }

    var response = MessageBuilder(.success, to: message)
    response.append(.xorMappedAddress, xorAddress: source)
    response.appendIntegrity(key: key)
    response.appendFingerprint()
    send(response.bytes, on: path, to: source)

    if generation.number != current.number {
      if let index = checkList.firstIndex(where: { $0.remoteAddress == source && $0.path == path && $0.generation == generation.number }) {
        checkList[index].noteReceived(now)
        checkList[index].statistics.requestsReceived += 1
        checkList[index].statistics.responsesSent += 1
      }
      return
    }
    let (priority, isNominating) = (message.uint32(.priority) ?? 0, message.has(.useCandidate))
    let remoteFragment = fragments.count > 1 ? String(fragments[1]) : ""
    guard let remote = current.remote else {
      guard earlyChecks.count < Agent.earlyCheckLimit else { return counters.count("ice.check.excess") }
      earlyChecks.append(
        EarlyCheck(path: path, source: source, remoteFragment: remoteFragment, priority: priority, isNominating: isNominating))
      return
    }
    guard remote.usernameFragment == remoteFragment else { return counters.count("ice.check.other-generation") }
    noteCheck(on: path, from: source, priority: priority, isNominating: isNominating, now: now)
  }

  private mutating func refuse(
    _ request: borrowing Message, _ error: ErrorCode, unknown: [AttributeType] = [], from source: SocketAddress, on path: Path,
    key: [UInt8]? = nil
  ) {
    var response = MessageBuilder(.error, to: request)
    response.append(error)
    if !unknown.isEmpty {
      response.append(.unknownAttributes, bytes: unknown.flatMap { [UInt8($0.rawValue >> 8), UInt8($0.rawValue & 0xFF)] })
    }
    if let key { response.appendIntegrity(key: key) }
    response.appendFingerprint()
    send(response.bytes, on: path, to: source)
  }

  /// Settles who controls when both sides claim the same (RFC 8445 section 7.3.1.1). False when the peer has to give in.
  private mutating func resolveRole(_ message: borrowing Message) -> Bool {
    if isControlling, let theirs = message.uint64(.iceControlling) {
      // A lite peer never controls.
      if tieBreaker >= theirs || current.remote?.isLite == true { return false }
      switchRole()
    } else if !isControlling, let theirs = message.uint64(.iceControlled) {
      if tieBreaker < theirs { return false }
      switchRole()
    }
    return true
  }

  private mutating func switchRole() {
    counters.count("ice.role.conflict")
    isControlling.toggle()
    for index in checkList.indices {
      checkList[index].isNominating = false
      checkList[index].isNominatedOnSuccess = false
    }
    // In its new role the agent selects, or nominates, anew.
    if isControlling, let index = selectedIndex { nominate(index, now: now) }
  }

  /// What an authenticated check of the peer means for the pair that it ran on (RFC 8445 sections 7.3.1.3 to 7.3.1.5).
  mutating func noteCheck(on path: Path, from source: SocketAddress, priority: UInt32, isNominating: Bool, now: Instant) {
    guard !isConsentLost, let index = pairIndex(path, source) ?? addReflexive(source, on: path, priority: priority, now: now) else {
      return
    }
    checkList[index].statistics.requestsReceived += 1
    checkList[index].statistics.responsesSent += 1
    checkList[index].noteReceived(now)
    let isNomination = isNominating && !isControlling
    if checkList[index].isValid {
      if isNomination { noteNomination(index, now: now) }
      return
    }
    if isNomination { checkList[index].isNominatedOnSuccess = true }
    if checkList[index].state == .failed {
      checkList[index].state = .waiting
      checkList[index].startedAt = nil
    }
    checkList[index].isBlocked = false
    // A check that is just under way is not sent twice.
    let soonest = checkList[index].lastCheck.map { $0 + configuration.checkTimeout } ?? now
    checkList[index].gap = configuration.checkTimeout
    checkList[index].isTriggered = true
    checkList[index].nextCheck = max(now, soonest)
  }

  /// A pair with an address that no candidate told of.
  private mutating func addReflexive(_ source: SocketAddress, on path: Path, priority: UInt32, now: Instant) -> Int? {
    var address = source
    address.ip.scope = 0
    let transport: TransportProtocol = path.isStream ? .tcp : .udp
    let base: Candidate
    switch path {
    case .stream(let id):
      guard let stream = streams.first(where: { $0.id == id }), let local = stream.local else { return nil }
      base = activeCandidate(local)
    default:
      guard let local = locals.first(where: { $0.path == path && ($0.candidate.kind == .host || $0.candidate.kind == .relayed) }) else {
        counters.count("ice.check.no-base")
        return nil
      }
      base = local.candidate
    }
    let remote: Candidate
    if let known = remotes.first(where: { $0.address == address && $0.transport == transport }) {
      remote = known
    } else {
      guard remotes.count < Agent.candidateLimit else {
        counters.count("ice.candidate.excess")
        return nil
      }
      // Any foundation unlike the peer's own will do (RFC 8445 section 7.3.1.3).
      remote = Candidate(
        foundation: "prflx\(remotes.count)", transport: transport, priority: priority, address: address, kind: .peerReflexive,
        usernameFragment: current.remote?.usernameFragment)
      remotes.append(remote)
      lastProgress = now
    }
    return pair(base, path: path, with: remote, now: now)
  }

  // MARK: Answers to own checks (RFC 8445 section 7.2.5)

  private mutating func handleResponse(_ message: borrowing Message, from source: SocketAddress, on path: Path, now: Instant) {
    let id = message.transactionID
    guard let index = checkList.firstIndex(where: { $0.outstanding.contains { $0.id == id } }),
      let position = checkList[index].outstanding.firstIndex(where: { $0.id == id }),
      let remote = generation(checkList[index].generation)?.remote
    else { return counters.count("ice.response.unexpected") }
    let check = checkList[index].outstanding[position]
    // Off the path that the check took, the answer proves nothing (RFC 8445 section 7.2.5.2.1).
    guard checkList[index].path == path, checkList[index].remoteAddress == source else { return counters.count("ice.response.asymmetric") }
    guard message.hasValidIntegrity(key: Array(remote.password.utf8)) else {
      // The peer may not know the credentials yet; the check is repeated anyway.
      return counters.count(message.messageClass == .error ? "ice.response.refused" : "ice.response.unauthenticated")
    }
    if message.messageClass == .error {
      checkList[index].outstanding.remove(at: position)
      guard message.errorCode?.code == ErrorCode.roleConflict else { return counters.count("ice.response.refused") }
      if check.wasControlling == isControlling { switchRole() }
      checkList[index].isTriggered = true
      checkList[index].nextCheck = now
      return
    }
    guard let mapped = message.xorAddress(.xorMappedAddress) else { return counters.count("ice.stun.malformed") }
    checkList[index].outstanding.removeSubrange(0...position)
    let roundTrip = now - check.sentAt
    checkList[index].statistics.responsesReceived += 1
    checkList[index].statistics.currentRoundTripTime = roundTrip
    checkList[index].statistics.totalRoundTripTime = checkList[index].statistics.totalRoundTripTime + roundTrip
    checkList[index].noteReceived(now)
    checkList[index].lastAnswer = now
    checkList[index].awaitsAnswer = false
    noteMapped(mapped, index, now: now)
    if !checkList[index].isValid { becomeValid(index, now: now) }
    if check.isNominating, check.wasControlling, isControlling {
      checkList[index].statistics.nominated = true
      checkList[index].isNominating = false
    }
    scheduleAnswered(index, now: now)
  }

  /// The local candidate of a valid pair is the address that the peer saw (RFC 8445 section 7.2.5.3.1).
  private mutating func noteMapped(_ mapped: SocketAddress, _ index: Int, now: Instant) {
    let path = checkList[index].path
    var base = checkList[index].localAddress
    base.ip.scope = 0
    guard mapped != base, !path.isStream else { return }
    checkList[index].localAddress = mapped
    if let known = locals.first(where: { $0.path == path && $0.candidate.address == mapped }) {
      checkList[index].statistics.local = shown(known.candidate)
      return
    }
    guard let base = locals.first(where: { $0.path == path })?.base else { return }
    let candidate = Candidate(
      foundation: foundation(.peerReflexive, base: base.ip),
      priority: sockets.first { .datagram($0.id) == path }.map { priority(.peerReflexive, $0) } ?? 0,
      address: mapped, kind: .peerReflexive, relatedAddress: base, usernameFragment: current.local.usernameFragment)
    locals.append(LocalCandidate(candidate: candidate, path: path, base: base))
    checkList[index].statistics.local = shown(candidate)
  }

  private mutating func becomeValid(_ index: Int, now: Instant) {
    checkList[index].state = .succeeded
    checkList[index].gap = configuration.checkTimeout
    if checkList[index].isNominatedOnSuccess {
      checkList[index].isNominatedOnSuccess = false
      if !isControlling { noteNomination(index, now: now) }
    }
    if case .relay(let id) = checkList[index].path, let relay = relays.firstIndex(where: { $0.id == id }) {
      relays[relay].client.bindChannel(checkList[index].remoteAddress, now: now)
      flushRelay(relay)
    }
  }

  private mutating func scheduleAnswered(_ index: Int, now: Instant) {
    if checkList[index].consentAt == nil || checkList[index].consentAt.map({ $0 <= now }) == true {
      checkList[index].consentAt = now + configuration.consentInterval * Double.random(in: 0.8...1.2, using: &random)
    }
    if checkList[index].isTriggered || checkList[index].isNominating { return }
    checkList[index].nextCheck = checkList[index].id == selectedID ? now + configuration.quietInterval : now + configuration.backupInterval
  }
}
