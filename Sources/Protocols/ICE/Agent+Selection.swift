import Base

extension Agent {
  /// Chooses the pair for application data.
  mutating func updateSelection(_ now: Instant) {
    guard !isConsentLost else { return }
    expireConsent(now)
    keepConsent(now)
    var best: Int?
    for index in checkList.indices where checkList[index].isValid && checkList[index].generation == current.number {
      if best.map({ isPreferred(index, to: $0, now) }) ?? true { best = index }
    }
    guard let best, checkList[best].id != selectedID else { return }
    // When nothing answers, nothing is gained by a change.
    guard selectedID == nil || checkList[best].isResponsive(now, limit: configuration.silenceInterval) else { return }
    if let index = selectedIndex { checkList[index].isNominating = false }
    select(best, now: now)
    // The end of a restart takes old pairs out, so the index is looked up again.
    if isControlling, let index = selectedIndex { nominate(index, now: now) }
  }

  /// A pair that answers before one that does not; for the controlled side one that was nominated before one that was not; then by priority.
  private func isPreferred(_ a: Int, to b: Int, _ now: Instant) -> Bool {
    let (first, second) = (
      checkList[a].isResponsive(now, limit: configuration.silenceInterval),
      checkList[b].isResponsive(now, limit: configuration.silenceInterval)
    )
    if first != second { return first }
    if !isControlling {
      if checkList[a].statistics.nominated != checkList[b].statistics.nominated { return checkList[a].statistics.nominated }
      if favouredID == checkList[a].id || favouredID == checkList[b].id { return favouredID == checkList[a].id }
    }
    return priority(checkList[a]) > priority(checkList[b])
  }

  /// The controlling side nominated a valid pair. Of several nominated ones that of the highest priority counts; but when a call is under way and
  /// the selected pair has gone quiet, the peer has evidently moved, so it is followed at once.
  mutating func noteNomination(_ index: Int, now: Instant) {
    checkList[index].statistics.nominated = true
    guard let selected = selectedIndex, selected != index else {
      favouredID = checkList[index].id
      return
    }
    let isBetter = priority(checkList[index]) >= priority(checkList[selected])
    let isSettled = now - selectedSince >= Agent.settlingInterval
    let isQuiet = checkList[selected].lastReceived.map { now - $0 >= Agent.quietMedia } ?? true
    if isBetter || (isSettled && isQuiet) { favouredID = checkList[index].id }
  }

  /// An aggressive peer nominates every pair while checks go on; later a nomination is a decision.
  private static let settlingInterval = Interval.seconds(3 as Int64)
  /// Longer than any gap between the packets of live audio.
  private static let quietMedia = Interval.milliseconds(200)

  private mutating func select(_ index: Int, now: Instant) {
    let id = checkList[index].id
    (selectedID, selectedSince) = (id, now)
    hasConnected = true
    checkList[index].consentAt = now + configuration.consentInterval * Double.random(in: 0.8...1.2, using: &random)
    checkList[index].nextCheck = now + configuration.quietInterval
    push(.selectedPair(local: checkList[index].statistics.local, remote: checkList[index].statistics.remote))
    if previous != nil {
      // The restart is done: the old generation has served.
      previous = nil
      checkList.removeAll { $0.generation != current.number }
      let inUse = Set(checkList.map(\.path))
      for stream in streams where stream.openBy == nil && !inUse.contains(.stream(stream.id)) { push(.closeStream(stream.id)) }
      streams.removeAll { $0.openBy == nil && !inUse.contains(.stream($0.id)) }
    }
  }

  /// Tells the peer by USE-CANDIDATE, at once.
  mutating func nominate(_ index: Int, now: Instant) {
    checkList[index].isNominating = true
    checkList[index].isTriggered = true
    checkList[index].nextCheck = now
    checkList[index].gap = configuration.checkTimeout
  }

  // MARK: Consent (RFC 7675)

  private mutating func expireConsent(_ now: Instant) {
    guard let index = selectedIndex, let answered = checkList[index].lastAnswer, now - answered >= configuration.consentLifetime else {
      return
    }
    counters.count("ice.consent.expired")
    if checkList[index].generation != current.number {
      checkList.remove(at: index)
      (selectedID, active, previous) = (nil, nil, nil)
      return
    }
    isConsentLost = true
    for index in checkList.indices { checkList[index].fail() }
    (selectedID, active, previous) = (nil, nil, nil)
  }

  /// Puts the selected pair's next check off while packets come in, but never beyond the consent check; asks the others when it falls silent.
  private mutating func keepConsent(_ now: Instant) {
    guard let index = selectedIndex else { return }
    let pair = checkList[index]
    if let due = pair.nextCheck, due <= now, !pair.isTriggered, !pair.isNominating, !pair.awaitsAnswer, let received = pair.lastReceived,
      let consentAt = pair.consentAt
    {
      checkList[index].nextCheck = min(received + configuration.quietInterval, consentAt)
    }
    guard let since = pair.unansweredSince, now - since >= configuration.probeInterval else { return }
    for other in checkList.indices
    where checkList[other].isValid && checkList[other].id != pair.id && checkList[other].generation == current.number {
      // Once each time that the selected pair falls silent.
      if let asked = checkList[other].lastCheck, asked >= since { continue }
      checkList[other].nextCheck = now
      checkList[other].isTriggered = true
    }
  }

  // MARK: State

  mutating func updateState(_ now: Instant) {
    if let index = selectedIndex {
      guard checkList[index].isResponsive(now, limit: configuration.silenceInterval) else { return setConnectionState(.disconnected) }
      return setConnectionState(isCompleted(index) ? .completed : .connected)
    }
    if isConsentLost { return setConnectionState(.failed) }
    guard current.remote != nil else {
      if hasConnected { setConnectionState(.disconnected) }
      return
    }
    if isTrying { return setConnectionState(.checking) }
    if let end = patienceEnd, now >= end { return setConnectionState(.failed) }
    setConnectionState(hasConnected ? .disconnected : .checking)
  }

  /// Something is under way that may lead to a pair.
  private var isTrying: Bool { checkList.contains(where: \.isLive) || streams.contains { $0.openBy != nil } }

  private func isCompleted(_ selected: Int) -> Bool {
    guard checkList[selected].statistics.nominated, isRemoteComplete, gatheringState == .complete,
      checkList[selected].generation == current.number
    else { return false }
    let priority = priority(checkList[selected])
    return !checkList.contains { $0.isLive && self.priority($0) > priority }
  }

  /// When an agent without a pair to try gives up (in the spirit of RFC 8863: the peer's checks may still come).
  private var patienceEnd: Instant? {
    let isLast = isRemoteComplete && gatheringState == .complete
    return lastProgress.map { $0 + (isLast ? configuration.patience : configuration.tricklePatience) }
  }

  /// When the state may change by time alone.
  func stateDeadline(_ now: Instant) -> Instant? {
    guard let index = selectedIndex else {
      guard connectionState != .failed, current.remote != nil, !isTrying else { return nil }
      return patienceEnd
    }
    var earliest = checkList[index].lastAnswer.map { $0 + configuration.consentLifetime }
    if let since = checkList[index].unansweredSince {
      for step in [configuration.probeInterval, configuration.silenceInterval] where since + step > now {
        earliest = min(earliest ?? since + step, since + step)
      }
    }
    return earliest
  }
}
