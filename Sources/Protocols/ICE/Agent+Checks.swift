import Base
import STUN
import TURN

extension Agent {
  /// Sends all checks that are due: those of the selected pair and triggered ones at once, others at the pace of RFC 8445 section 14.
  mutating func sendDueChecks(_ now: Instant) {
    guard !isConsentLost else { return }
    for index in checkList.indices {
      let pair = checkList[index]
      let since = pair.isValid ? (pair.id == selectedID ? nil : pair.unansweredSince) : pair.startedAt
      if pair.state != .failed, let since, now - since >= configuration.checkLifetime { failPair(index) }
    }
    while let index = nextDueCheck(now) {
      if !isUrgent(checkList[index]) { checkPace = max(checkPace, now) + configuration.checkInterval }
      sendCheck(index, now: now)
    }
  }

  /// From when the pace allows another check.
  private var paceGate: Instant { checkPace - configuration.checkInterval * Int64(max(configuration.checkBurst - 1, 0)) }

  private func isUrgent(_ pair: borrowing Pair) -> Bool { pair.id == selectedID || pair.isTriggered }

  /// The pair to check next: urgent before new, by priority, before repeated, by time.
  private func nextDueCheck(_ now: Instant) -> Int? {
    let isPaced = paceGate > now
    var best: (index: Int, rank: Int, order: UInt64)?
    for index in checkList.indices {
      guard let due = checkList[index].nextCheck, due <= now, !checkList[index].isBlocked else { continue }
      let isUrgent = isUrgent(checkList[index])
      if isPaced, !isUrgent { continue }
      let isNew = checkList[index].state == .waiting
      let order = isUrgent || isNew ? priority(checkList[index]) : UInt64.max - UInt64(clamping: due.nanoseconds)
      let rank = isUrgent ? 2 : isNew ? 1 : 0
      if let best, (best.rank, best.order) >= (rank, order) { continue }
      best = (index, rank, order)
    }
    return best?.index
  }

  /// When `sendDueChecks` has something to do.
  var checkDeadline: Instant? {
    guard !isConsentLost else { return nil }
    var earliest: Instant?
    for index in checkList.indices where checkList[index].state != .failed {
      if !checkList[index].isBlocked, let due = checkList[index].nextCheck {
        let allowed = isUrgent(checkList[index]) ? due : max(due, paceGate)
        earliest = min(earliest ?? allowed, allowed)
      }
      if !checkList[index].isValid, let startedAt = checkList[index].startedAt {
        earliest = min(earliest ?? .init(nanoseconds: .max), startedAt + configuration.checkLifetime)
      }
    }
    return earliest
  }

  /// Sends a check in a new transaction, so that its round trip is measured without doubt, and sets the time of the next.
  private mutating func sendCheck(_ index: Int, now: Instant) {
    guard let generation = generation(checkList[index].generation), let remote = generation.remote else {
      checkList[index].nextCheck = nil
      return
    }
    let path = checkList[index].path
    let isNominating =
      isControlling && (checkList[index].isNominating || checkList[index].id == selectedID) && generation.number == current.number
    let id = TransactionID(using: &random)
    var builder = MessageBuilder(.request, .binding, transactionID: id)
    builder.append(.username, text: "\(remote.usernameFragment):\(generation.local.usernameFragment)")
    builder.append(isControlling ? .iceControlling : .iceControlled, uint64: tieBreaker)
    builder.append(.priority, uint32: reflexivePriority(path))
    if isNominating { builder.append(.useCandidate) }
    builder.appendIntegrity(key: Array(remote.password.utf8))
    builder.appendFingerprint()

    checkList[index].outstanding.append(Check(id: id, sentAt: now, isNominating: isNominating, wasControlling: isControlling))
    if checkList[index].outstanding.count > Pair.outstandingLimit { checkList[index].outstanding.removeFirst() }
    checkList[index].statistics.requestsSent += 1
    if checkList[index].isValid { checkList[index].statistics.consentRequestsSent += 1 }
    checkList[index].unansweredSince = checkList[index].unansweredSince ?? now
    checkList[index].isTriggered = false
    schedule(index, now: now)
    checkList[index].awaitsAnswer = true
    checkList[index].lastCheck = now
    send(builder.bytes, on: path, to: checkList[index].remoteAddress)
  }

  /// Sets when the pair is checked again if nothing comes.
  private mutating func schedule(_ index: Int, now: Instant) {
    let isFirst = checkList[index].state == .waiting
    if isFirst {
      checkList[index].state = .inProgress
      checkList[index].startedAt = now
    }
    guard checkList[index].isValid, !checkList[index].isNominating else {
      // TCP repeats by itself; a check is only sent again in case the other side was not ready for it.
      let least = checkList[index].path.isStream ? .seconds(2 as Int64) : roundTripGuess(index)
      checkList[index].gap = isFirst ? least : max(least, min(checkList[index].gap + checkList[index].gap, configuration.checkTimeoutLimit))
      checkList[index].nextCheck = now + checkList[index].gap
      return
    }
    checkList[index].nextCheck = now + configuration.probeInterval
    checkList[index].consentAt = now + configuration.consentInterval * Double.random(in: 0.8...1.2, using: &random)
  }

  private func roundTripGuess(_ index: Int) -> Interval {
    let measured = checkList[index].statistics.currentRoundTripTime ?? .zero
    return min(max(configuration.checkTimeout, measured + measured / 2), configuration.checkTimeoutLimit)
  }

  /// The priority that a peer-reflexive candidate on this base has (RFC 8445 section 7.1.1).
  private func reflexivePriority(_ path: Path) -> UInt32 {
    switch path {
    case .datagram(let id):
      sockets.first { $0.id == id }.map { priority(.peerReflexive, $0) } ?? 0
    case .relay:
      // Below all that is not relayed, as the relayed candidate itself is.
      locals.first { $0.path == path }?.candidate.priority ?? 0
    case .stream: Agent.priority(type: 80, preference: Agent.activeTCPPreference)
    }
  }

  /// Sends a STUN message to the peer on a path.
  mutating func send(_ bytes: [UInt8], on path: Path, to destination: SocketAddress) {
    switch path {
    case .datagram(let socket): push(Transmit(socket: socket, destination: destination, bytes: bytes))
    case .stream(let socket):
      push(Transmit(socket: socket, destination: destination, bytes: [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes))
    case .relay(let id):
      guard let index = relays.firstIndex(where: { $0.id == id }) else { return }
      relays[index].client.send(bytes.span.bytes, to: destination)
      flushRelay(index)
    }
  }

  func generation(_ number: Int) -> Generation? {
    current.number == number ? current : previous?.number == number ? previous : nil
  }
}
