import Base
import Bytes

// Establishment of the association (RFC 9260 section 5).
extension Association {
  /// How long a cookie is valid: RFC 9260's Valid.Cookie.Life.
  private static let cookieLifetime = Interval.milliseconds(60_000)

  private var offeredExtensions: Initiation.Extensions {
    var offered: Initiation.Extensions = [.forwardTSN, .reconfiguration]
    if configuration.offersInterleaving { offered.insert(.interleaving) }
    if configuration.offersZeroChecksum { offered.insert(.zeroChecksum) }
    return offered
  }

  private func initiation(tag: UInt32, initialTSN: UInt32) -> Initiation {
    Initiation(
      tag: tag, receiveWindow: UInt32(clamping: receiveLimit), outgoingStreams: configuration.streams,
      incomingStreams: configuration.streams, initialTSN: initialTSN, extensions: offeredExtensions)
  }

  /// Sends INIT, for the first time or again.
  mutating func sendInitiation(now: Instant) {
    let value = initiation(tag: localTag, initialTSN: localInitialTSN).encoded()
    reply(packet(tag: 0, encodedChunk(.initiation, value)))
    initiationDeadline = now + timeout.timeout
  }

  /// INIT (RFC 9260 sections 5.1 and 5.2): answered from every state without changing it; all that matters goes into the cookie.
  mutating func handleInitiation(_ value: RawSpan, now: Instant) {
    guard phase != .shutdownAckSent else {
      isShutdownDue = true
      return
    }
    let peer: Initiation
    do { peer = try Initiation(value) } catch {
      counters.count("sctp.malformedInit")
      return
    }
    // An association that exists is not touched: a restart gets tags of its own, and the tie tags show later whether it is one.
    let isNew = phase == .closed || phase == .cookieWait || phase == .cookieEchoed
    let tag = isNew ? localTag : UInt32.random(in: 1...UInt32.max, using: &random)
    let initialTSN = isNew ? localInitialTSN : UInt32(truncatingIfNeeded: random.next())
    let hasTieTags = phase != .closed && phase != .cookieWait
    let cookie = StateCookie(
      created: now, localTag: tag, localInitialTSN: initialTSN, peerTag: peer.tag, peerInitialTSN: peer.initialTSN,
      peerWindow: peer.receiveWindow, peerOutgoingStreams: peer.outgoingStreams, peerIncomingStreams: peer.incomingStreams,
      extensions: peer.extensions.intersection(offeredExtensions), localTieTag: hasTieTags ? localTag : 0,
      peerTieTag: hasTieTags ? peerTag : 0)
    var answer = initiation(tag: tag, initialTSN: initialTSN)
    answer.cookie = cookie.encoded(authenticate)
    reply(packet(tag: peer.tag, encodedChunk(.initiationAcknowledgment, answer.encoded(reporting: peer.unrecognized))))
  }

  /// INIT ACK: the cookie goes back, with the first data behind it.
  mutating func handleInitiationAcknowledgment(_ value: RawSpan, now: Instant) {
    guard phase == .cookieWait else { return counters.count("sctp.unexpectedChunk") }
    let peer: Initiation
    do { peer = try Initiation(value) } catch {
      counters.count("sctp.malformedInit")
      return
    }
    peerTag = peer.tag
    guard !peer.cookie.isEmpty else { return end(reason: "INIT ACK without a state cookie", cause: .missingMandatoryParameter) }
    guard Size.packetHeader + Size.chunkHeader + peer.cookie.count <= configuration.mtu else {
      return end(reason: "the peer's state cookie does not fit into a packet", cause: .outOfResource)
    }
    adopt(
      initialTSN: peer.initialTSN, window: peer.receiveWindow, incomingStreams: peer.incomingStreams,
      extensions: peer.extensions.intersection(offeredExtensions))
    cookie = peer.cookie
    isCookieEchoDue = true
    if !peer.unrecognized.isEmpty {
      controlChunks.append(encodedChunk(.error, ErrorCause.unrecognizedParameters.encoded(peer.unrecognized)))
    }
    phase = .cookieEchoed
    initiationAttempts = 0
    initiationDeadline = now + timeout.timeout
    announceWaitingChannels()
  }

  /// Takes over what the peer said of itself.
  private mutating func adopt(initialTSN: UInt32, window: UInt32, incomingStreams: UInt16, extensions: Initiation.Extensions) {
    received = ReceivedTSNs(initialTSN: initialTSN)
    reassembly = Reassembly(maximumMessageSize: reassembly.maximumMessageSize)
    streams = IncomingStreams()
    streams.isInterleaved = extensions.contains(.interleaving)
    (duplicates, acknowledgment, acknowledgmentDeadline) = ([], .none, nil)
    peerInitialTSN = initialTSN
    resets.expectPeerRequests(from: initialTSN)
    peerWindow = Int(window) - outstanding.bytesInFlight
    isPeerWindowClosed = false
    peerIncomingStreams = incomingStreams
    self.extensions = extensions
  }

  /// COOKIE ECHO, with the packet's verification tag (RFC 9260 sections 5.1.5 and 5.2.4). False when the rest of the packet is not ours.
  mutating func handleCookieEcho(_ value: RawSpan, tag: UInt32, now: Instant) -> Bool {
    guard let cookie = StateCookie(value, authenticate), cookie.localTag == tag else {
      counters.count("sctp.badCookie")
      return false
    }
    let isLocalMatch = cookie.localTag == localTag
    let isPeerMatch = cookie.peerTag == peerTag
    let isDuplicate = isLocalMatch && isPeerMatch && phase != .cookieWait && phase != .cookieEchoed && phase != .closed
    guard isDuplicate || (now - cookie.created <= Self.cookieLifetime && cookie.created <= now) else {
      let staleness = UInt32(clamping: (now - cookie.created - Self.cookieLifetime).nanoseconds / 1_000)
      reply(packet(tag: cookie.peerTag, encodedChunk(.error, ErrorCause.staleCookie.encoded(networkOrder(staleness)))))
      counters.count("sctp.staleCookie")
      return false
    }
    switch phase {
    case .closed, .cookieWait, .cookieEchoed:
      guard isLocalMatch else {
        counters.count("sctp.badCookie")
        return false
      }
      // Actions B and D: the first cookie, or a collision of both ends' INITs. What came behind our own COOKIE ECHO is known by the same numbers.
      if phase != .cookieEchoed || !isPeerMatch || cookie.peerInitialTSN != peerInitialTSN {
        peerTag = cookie.peerTag
        adopt(
          initialTSN: cookie.peerInitialTSN, window: cookie.peerWindow, incomingStreams: cookie.peerIncomingStreams,
          extensions: cookie.extensions)
      }
      controlChunks.append(encodedChunk(.cookieAcknowledgment))
      establish(now: now)
      return true
    case .established, .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent:
      if isDuplicate {
        controlChunks.append(encodedChunk(.cookieAcknowledgment))
        return true
      }
      // Action A: the peer restarted.
      guard !isLocalMatch, !isPeerMatch, cookie.localTieTag == localTag, cookie.peerTieTag == peerTag else {
        counters.count("sctp.badCookie")
        return false
      }
      guard phase != .shutdownAckSent else {
        isShutdownDue = true
        controlChunks.append(encodedChunk(.error, ErrorCause.cookieReceivedWhileShuttingDown.encoded()))
        return false
      }
      restart(cookie, now: now)
      return true
    case .ended: return false
    }
  }

  /// COOKIE ACK.
  mutating func handleCookieAcknowledgment(now: Instant) {
    guard phase == .cookieEchoed else { return }
    establish(now: now)
  }

  private mutating func establish(now: Instant) {
    phase = .established
    (initiationDeadline, isCookieEchoDue, cookie) = (nil, false, [])
    errors = 0
    for slot in channels.used where channels[slot].stream == nil { assignStream(slot) }
    events.append(.connected)
    announceWaitingChannels()
    openAnnouncedChannels()
    heartbeatDeadline = now + configuration.heartbeatInterval
    pathMTU.start()
  }

  /// The peer lost everything and started over: so do we, without channels.
  private mutating func restart(_ cookie: StateCookie, now: Instant) {
    closeAllChannels()
    (localTag, peerTag) = (cookie.localTag, cookie.peerTag)
    localInitialTSN = cookie.localInitialTSN
    messages = MessagePool()
    outstanding = OutstandingChunks(initialTSN: localInitialTSN)
    congestion = CongestionControl(mtu: pathMTU.current)
    scheduler = StreamScheduler()
    resets = StreamResets(initialTSN: localInitialTSN)
    controlChunks.removeAll()
    (forwarded, isForwardTSNDue, isFastRetransmitDue, isShutdownDue) = (nil, false, false, false)
    (retransmissionDeadline, shutdownDeadline) = (nil, nil)
    lowestFreeStream = nil
    adopt(
      initialTSN: cookie.peerInitialTSN, window: cookie.peerWindow, incomingStreams: cookie.peerIncomingStreams,
      extensions: cookie.extensions)
    controlChunks.append(encodedChunk(.cookieAcknowledgment))
    establish(now: now)
  }

  /// Queues an answer, unless a flood of requests has filled the queue.
  mutating func reply(_ packet: [UInt8]) {
    guard readyPackets.count < 32 else { return counters.count("sctp.answerOverflow") }
    readyPackets.append(packet)
  }

  /// Queues a chunk to be bundled, unless a flood of requests has filled the queue.
  mutating func reply(chunk: [UInt8]) {
    guard controlChunks.count < 64 else { return counters.count("sctp.answerOverflow") }
    controlChunks.append(chunk)
  }
}
