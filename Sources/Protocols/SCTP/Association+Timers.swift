import Base

// What happens when nothing arrives (RFC 9260 sections 5.1, 6.3.3, 8.1 and 8.3).
extension Association {
  /// Acts on every deadline that `now` has reached.
  public mutating func handleTimeout(now: Instant) {
    func isDue(_ deadline: Instant?) -> Bool { deadline.map { $0 <= now } ?? false }
    if isDue(acknowledgmentDeadline) {
      acknowledgmentDeadline = nil
      acknowledgment = .immediate
    }
    if isDue(initiationDeadline) { retryInitiation(now: now) }
    if isDue(retransmissionDeadline) { retransmit(now: now) }
    if isDue(shutdownDeadline) { retryShutdown(now: now) }
    if isDue(resets.deadline) { retryReset(now: now) }
    if isDue(heartbeatDeadline) { sendHeartbeat(now: now) }
    pathMTU.handleTimeout(now: now)
  }

  private mutating func retryInitiation(now: Instant) {
    initiationAttempts += 1
    guard initiationAttempts <= configuration.maximumInitRetransmissions else {
      return end(reason: phase == .cookieWait ? "no answer to INIT" : "no answer to COOKIE ECHO", cause: nil)
    }
    timeout.backOff()
    if phase == .cookieWait {
      sendInitiation(now: now)
    } else {
      isCookieEchoDue = true
      initiationDeadline = now + timeout.timeout
    }
  }

  /// The DATA timer T3-rtx.
  private mutating func retransmit(now: Instant) {
    // A probe of a closed window that the peer answered and did not take says nothing about the network.
    let isWindowProbe = isPeerWindowClosed && errors == 0
    guard countError(now: now) else { return }
    counters.count(isWindowProbe ? "sctp.windowProbe" : "sctp.retransmissionTimeout")
    timeout.backOff()
    if !isWindowProbe { congestion.timedOut() }
    // Packets of every size vanish in an outage, large ones alone where the path's MTU shrank (RFC 8899 section 4.3).
    if errors == 3, pathMTU.current > configuration.mtu {
      pathMTU.reset(now: now)
      congestion.mtu = pathMTU.current
    }
    outstanding.markAllLost(messages: &messages, now: now)
    isFastRetransmitDue = false
    isForwardTSNDue = true
    retransmissionDeadline = outstanding.count > 0 ? now + timeout.timeout : nil
  }

  private mutating func retryShutdown(now: Instant) {
    guard countError(now: now) else { return }
    timeout.backOff()
    isShutdownDue = true
    shutdownDeadline = now + timeout.timeout
  }

  private mutating func sendHeartbeat(now: Instant) {
    if heartbeat != nil {
      guard countError(now: now) else { return }
    }
    heartbeatDeadline = now + configuration.heartbeatInterval
    // Data in flight tests the path as well.
    guard outstanding.count == 0, phase == .established else {
      heartbeat = nil
      return
    }
    let nonce = random.next()
    heartbeat = (nonce, now)
    reply(chunk: heartbeatChunk(nonce: nonce))
  }

  /// Counts a timeout; false when it was one too many and the association is closed.
  mutating func countError(now: Instant) -> Bool {
    errors += 1
    guard errors <= configuration.maximumRetransmissions else {
      end(reason: "the peer does not answer any more", cause: .protocolViolation)
      return false
    }
    return true
  }
}
