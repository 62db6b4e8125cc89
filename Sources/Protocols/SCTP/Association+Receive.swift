import Base
import Bytes

// Packets from the peer (RFC 9260 sections 6.2, 6.10, 8.4 and 8.5).
extension Association {
  /// Takes an SCTP packet that DTLS delivered. What is wrong with it is counted.
  public mutating func receive(_ packet: RawSpan, now: Instant) {
    guard phase != .ended else { return counters.count("sctp.afterClose") }
    totals.packetsReceived += 1
    var reader = ByteReader(packet)
    do {
      let (source, destination, tag) = (try reader.uint16(), try reader.uint16(), try reader.uint32())
      let checksum = UInt32(bigEndian: try reader.uint32()).littleEndian
      guard source == configuration.remotePort, destination == configuration.localPort else { return counters.count("sctp.wrongPort") }
      var first = reader
      let (type, flags, _) = (try first.uint8(), try first.uint8(), try first.uint16())
      guard isIntact(packet, checksum: checksum, firstChunk: type) else { return counters.count("sctp.checksum") }
      guard isExpected(tag: tag, firstChunk: type, flags: flags) else { return counters.count("sctp.verificationTag") }
      var hasData = false
      while reader.remaining >= Size.chunkHeader, phase != .ended {
        let start = reader.offset
        let (type, flags, length) = (try reader.uint8(), try reader.uint8(), Int(try reader.uint16()))
        guard length >= Size.chunkHeader else { throw OutOfBounds() }
        let value = try reader.span(length - Size.chunkHeader)
        try reader.skip(min(reader.remaining, Size.padded(length) - length))
        guard let known = ChunkType(rawValue: type) else {
          guard handleUnrecognized(type, packet.extracting(start..<start + length)) else { break }
          continue
        }
        if known == .data || known == .interleavedData { hasData = true }
        guard handle(known, flags: flags, value, tag: tag, now: now) else { break }
      }
      if hasData { acknowledge(now: now) }
    } catch {
      counters.count("sctp.malformed")
    }
  }

  /// Whether the checksum is right, or absent where we accepted that (RFC 9653 section 5.2).
  private func isIntact(_ packet: RawSpan, checksum: UInt32, firstChunk: UInt8) -> Bool {
    if checksum == 0, configuration.offersZeroChecksum, firstChunk != ChunkType.initiation.rawValue,
      firstChunk != ChunkType.cookieEcho.rawValue
    {
      return true
    }
    return CRC32C.checksum(packet, skippingField: 8) == checksum
  }

  /// Whether the verification tag is one that a packet beginning with this chunk may carry (RFC 9260 section 8.5).
  private func isExpected(tag: UInt32, firstChunk: UInt8, flags: UInt8) -> Bool {
    switch ChunkType(rawValue: firstChunk) {
    case .initiation: return tag == 0
    case .cookieEcho: return true
    case .abort, .shutdownComplete:
      guard phase != .closed else { return false }
      return flags & 1 == 0 ? tag == localTag : peerTag != 0 && tag == peerTag
    default: return phase != .closed && tag == localTag
    }
  }

  /// Handles a chunk; false when the rest of the packet is not to be looked at.
  private mutating func handle(_ type: ChunkType, flags: UInt8, _ value: RawSpan, tag: UInt32, now: Instant) -> Bool {
    switch type {
    case .initiation:
      handleInitiation(value, now: now)
      return false
    case .initiationAcknowledgment:
      handleInitiationAcknowledgment(value, now: now)
      return false
    case .cookieEcho: return handleCookieEcho(value, tag: tag, now: now)
    case .cookieAcknowledgment: handleCookieAcknowledgment(now: now)
    case .abort:
      end(reason: "aborted by the peer: \(ErrorCause.description(of: value) ?? "no cause given")", cause: nil)
    case .error: handleError(value, now: now)
    case .shutdownComplete:
      guard phase == .shutdownAckSent else { break }
      end(reason: nil, cause: nil)
    case .padding: break
    default:
      // Before COOKIE ACK nothing of this kind is due; it will be sent again.
      guard phase != .cookieWait, phase != .cookieEchoed else {
        counters.count("sctp.unexpectedChunk")
        return false
      }
      handleTransferChunk(type, flags: flags, value, now: now)
    }
    return true
  }

  /// Chunks that make sense once the peer's INIT or INIT ACK is known.
  private mutating func handleTransferChunk(_ type: ChunkType, flags: UInt8, _ value: RawSpan, now: Instant) {
    switch type {
    case .data, .interleavedData: handleData(type, flags: flags, value, now: now)
    case .selectiveAcknowledgment: handleSelectiveAcknowledgment(value, now: now)
    case .heartbeat: reply(chunk: encodedChunk(.heartbeatAcknowledgment, Array(bytes: value)))
    case .heartbeatAcknowledgment: handleHeartbeatAcknowledgment(value, now: now)
    case .reconfiguration: handleReconfiguration(value, now: now)
    case .forwardTSN, .interleavedForwardTSN: handleForwardTSN(type, value, now: now)
    case .shutdown: handleShutdown(value, now: now)
    case .shutdownAcknowledgment: handleShutdownAcknowledgment()
    default: counters.count("sctp.unexpectedChunk")
    }
  }

  private mutating func handleUnrecognized(_ type: UInt8, _ chunk: RawSpan) -> Bool {
    counters.count("sctp.unrecognizedChunk")
    let rule = UnrecognizedTypeRule(chunk: type)
    if rule.isReported, phase != .closed, phase != .cookieWait, chunk.byteCount <= 512 {
      reply(chunk: encodedChunk(.error, ErrorCause.unrecognizedChunkType.encoded(Array(bytes: chunk))))
    }
    return rule.continues
  }

  private mutating func handleError(_ value: RawSpan, now: Instant) {
    counters.count("sctp.peerError")
    // The cookie grew old on its way: a new one is needed (RFC 9260 section 5.2.6).
    var reader = ByteReader(value)
    if phase == .cookieEchoed, (try? reader.uint16()) == ErrorCause.staleCookie.rawValue {
      phase = .cookieWait
      (cookie, isCookieEchoDue) = ([], false)
      sendInitiation(now: now)
    }
  }

  // MARK: - Data

  private mutating func handleData(_ type: ChunkType, flags: UInt8, _ value: RawSpan, now: Instant) {
    let isInterleaved = type == .interleavedData
    guard isInterleaved == extensions.contains(.interleaving) else {
      return end(reason: "DATA and I-DATA mixed", cause: .protocolViolation)
    }
    var reader = ByteReader(value)
    let header: FragmentHeader
    let tsn: UInt32
    do {
      tsn = try reader.uint32()
      let stream = try reader.uint16()
      if isInterleaved {
        try reader.skip(2)
        let (message, word) = (try reader.uint32(), try reader.uint32())
        // The first fragment has the payload protocol where the others have their number.
        let isFirst = flags & DataFlags.beginning != 0
        header = FragmentHeader(
          position: isFirst ? 0 : word, flags: flags, stream: stream, sequence: message, payloadProtocol: isFirst ? word : 0)
      } else {
        let sequence = UInt32(try reader.uint16())
        header = FragmentHeader(position: tsn, flags: flags, stream: stream, sequence: sequence, payloadProtocol: try reader.uint32())
      }
    } catch { return counters.count("sctp.malformed") }
    let bytes = value.extracting(reader.offset..<value.byteCount)
    guard bytes.byteCount > 0 else { return end(reason: "DATA without user data", cause: .noUserData) }
    if flags & DataFlags.immediate != 0 { acknowledgment = .immediate }
    guard isAcceptable(tsn, byteCount: bytes.byteCount) else { return }
    received.insert(tsn)
    do {
      if let message = try reassembly.insert(header, bytes, isInterleaved: isInterleaved), !streams.accept(message) {
        counters.count("sctp.repeatedMessage")
      }
    } catch { return end(reason: "fragments that contradict each other", cause: .protocolViolation) }
    deliverReady()
  }

  /// Whether a chunk is new and there is room for it.
  private mutating func isAcceptable(_ tsn: UInt32, byteCount: Int) -> Bool {
    switch received.classify(tsn) {
    case .new: break
    case .duplicate:
      counters.count("sctp.duplicateData")
      if duplicates.count < 16 { duplicates.append(tsn) }
      acknowledgment = .immediate
      return false
    case .outOfWindow:
      counters.count("sctp.outOfWindow")
      acknowledgment = .immediate
      return false
    }
    // What fills the first gap is taken up to twice the window when nothing else could free what waits behind it. Messages that the
    // application leaves do not count as that: they would let every probe of a closed window in.
    let mayExceed = tsn == received.cumulative &+ 1 && eventBytes == 0
    let room = receiveLimit - reassembly.byteCount - streams.byteCount - eventBytes - byteCount
    guard room >= (mayExceed ? -receiveLimit : 0) else {
      counters.count("sctp.windowExceeded")
      acknowledgment = .immediate
      return false
    }
    return true
  }

  /// Decides when a packet with data is acknowledged (RFC 9260 section 6.2).
  private mutating func acknowledge(now: Instant) {
    guard phase != .ended else { return }
    unacknowledgedPackets += 1
    if received.hasGap || unacknowledgedPackets >= 2 || phase == .shutdownSent {
      acknowledgment = .immediate
    } else if acknowledgment == .none {
      acknowledgment = .delayed
      acknowledgmentDeadline = now + configuration.delayedAcknowledgment
    }
    if phase == .shutdownSent { isShutdownDue = true }
    performDeferredReset()
  }

  /// FORWARD TSN and I-FORWARD-TSN (RFC 3758 section 3.6, RFC 8260 section 2.3).
  private mutating func handleForwardTSN(_ type: ChunkType, _ value: RawSpan, now: Instant) {
    let isInterleaved = type == .interleavedForwardTSN
    guard extensions.contains(.forwardTSN), isInterleaved == extensions.contains(.interleaving) else {
      return counters.count("sctp.unexpectedChunk")
    }
    var reader = ByteReader(value)
    guard let tsn = try? reader.uint32() else { return counters.count("sctp.malformed") }
    acknowledgment = .immediate
    // An old one is only acknowledged: our SACK was lost.
    guard received.forward(to: tsn) else { return }
    while reader.remaining >= (isInterleaved ? 8 : 4) {
      guard let stream = try? reader.uint16() else { break }
      if isInterleaved {
        guard let flags = try? reader.uint16(), let message = try? reader.uint32() else { break }
        let isUnordered = flags & 1 != 0
        reassembly.skip(stream: stream, isUnordered: isUnordered, message: message)
        if !isUnordered { streams.skip(stream: stream, to: message, hasChannel: channels.slot(stream: stream) != nil) }
      } else {
        guard let sequence = try? reader.uint16() else { break }
        streams.skip(stream: stream, to: UInt32(sequence), hasChannel: channels.slot(stream: stream) != nil)
      }
    }
    if !isInterleaved { reassembly.skip(to: received.cumulative) }
    deliverReady()
    performDeferredReset()
  }

  // MARK: - Acknowledgment

  private mutating func handleSelectiveAcknowledgment(_ value: RawSpan, now: Instant) {
    var reader = ByteReader(value)
    do {
      let (cumulative, window) = (try reader.uint32(), try reader.uint32())
      let (blockCount, _) = (Int(try reader.uint16()), try reader.uint16())
      let blocks = try reader.span(4 * blockCount)
      handleAcknowledgment(cumulative: cumulative, window: Int(window), blocks: blocks, now: now)
    } catch { counters.count("sctp.malformed") }
  }

  /// Takes the acknowledgment of a SACK, or of a SHUTDOWN, which has no window (RFC 9260 section 6.2.1).
  mutating func handleAcknowledgment(cumulative: UInt32, window: Int?, blocks: RawSpan, now: Instant) {
    let before = outstanding.bytesInFlight
    guard
      let result = outstanding.acknowledge(
        cumulative: cumulative, blocks: blocks, isInRecovery: congestion.recoveryExit != nil, messages: &messages, now: now)
    else { return counters.count("sctp.oldSACK") }
    if let roundTrip = result.roundTrip { timeout.update(roundTrip) }
    // A peer whose window is closed answers, so it lives.
    if result.isAdvance || window.map({ $0 < leastWindow }) == true { errors = 0 }
    if result.isAdvance { retransmissionDeadline = outstanding.count > 0 ? now + timeout.timeout : nil }
    congestion.acknowledged(result.bytes, cumulative: cumulative, isAdvance: result.isAdvance, bytesInFlight: before)
    if result.isLoss, congestion.enterRecovery(until: outstanding.nextTSN &- 1) { isFastRetransmitDue = true }
    if let window { update(window: window, isAdvance: result.isAdvance, now: now) }
    if let forwarded, outstanding.advanced != outstanding.cumulative {
      let pause = max(timeout.smoothedRoundTrip ?? .milliseconds(100), .milliseconds(10))
      if now - forwarded.at >= pause { isForwardTSNDue = true }
    }
    continueShutdown(now: now)
  }

  /// A window below this takes no full packet: it is as good as closed.
  private var leastWindow: Int { pathMTU.current }

  /// Takes the window that a SACK names. When it opens, what was sent into the closed one is sent again: the peer dropped it, and the timer,
  /// backed off meanwhile, may be seconds away.
  private mutating func update(window: Int, isAdvance: Bool, now: Instant) {
    let wasClosed = isPeerWindowClosed
    isPeerWindowClosed = window < leastWindow
    if wasClosed, !isPeerWindowClosed {
      timeout.endBackOff()
      if !isAdvance, outstanding.count > 0 { outstanding.markAllLost(messages: &messages, now: now) }
      if outstanding.count > 0 { retransmissionDeadline = now + timeout.timeout }
    }
    peerWindow = window - outstanding.bytesInFlight
  }

  private mutating func handleHeartbeatAcknowledgment(_ value: RawSpan, now: Instant) {
    var reader = ByteReader(value)
    do {
      try reader.skip(4)
      let nonce = try reader.uint64()
      if pathMTU.acknowledged(nonce: nonce, now: now) {
        congestion.mtu = pathMTU.current
      } else if let heartbeat, heartbeat.nonce == nonce {
        self.heartbeat = nil
        errors = 0
        timeout.update(now - heartbeat.sent)
      } else {
        counters.count("sctp.unexpectedChunk")
      }
    } catch { counters.count("sctp.malformed") }
  }

  // MARK: - Shutdown

  private mutating func handleShutdown(_ value: RawSpan, now: Instant) {
    var reader = ByteReader(value)
    guard let cumulative = try? reader.uint32() else { return counters.count("sctp.malformed") }
    switch phase {
    case .established, .shutdownPending: phase = .shutdownReceived
    case .shutdownSent:
      // Both ends shut down at once (RFC 9260 section 9.2).
      phase = .shutdownAckSent
      isShutdownDue = true
      shutdownDeadline = now + timeout.timeout
      return
    case .shutdownReceived: break
    case .shutdownAckSent:
      isShutdownDue = true
      return
    default: return counters.count("sctp.unexpectedChunk")
    }
    handleAcknowledgment(cumulative: cumulative, window: nil, blocks: RawSpan(), now: now)
    continueShutdown(now: now)
  }

  private mutating func handleShutdownAcknowledgment() {
    switch phase {
    case .shutdownSent, .shutdownAckSent:
      let complete = packet(tag: peerTag, encodedChunk(.shutdownComplete))
      end(reason: nil, cause: nil)
      readyPackets.append(complete)
    default: counters.count("sctp.unexpectedChunk")
    }
  }

  /// Sends SHUTDOWN or SHUTDOWN ACK once all data is acknowledged.
  mutating func continueShutdown(now: Instant) {
    guard outstanding.count == 0, scheduler.isEmpty else { return }
    switch phase {
    case .shutdownPending: phase = .shutdownSent
    case .shutdownReceived: phase = .shutdownAckSent
    default: return
    }
    isShutdownDue = true
    shutdownDeadline = now + timeout.timeout
    heartbeatDeadline = nil
  }
}
