import Base
import Bytes

// Data channels (RFC 8831 section 6, RFC 8832).
extension Association {
  /// Opens a channel, before the association is up too: it is announced to the peer when it is. `channelOpened` tells when it can send.
  public mutating func open(_ options: ChannelOptions) throws(ChannelError) -> ChannelIdentifier {
    guard phase == .closed || phase == .cookieWait || phase == .cookieEchoed || phase == .established else {
      throw .associationClosed
    }
    guard options.maxPacketLifeTime == nil || options.maxRetransmits == nil,
      (0...65_535).contains(options.maxPacketLifeTime ?? 0), (0...65_535).contains(options.maxRetransmits ?? 0)
    else { throw .invalidReliability }
    guard options.label.utf8.count <= 65_535, options.protocolName.utf8.count <= 65_535 else { throw .nameTooLong }
    if let stream = options.negotiatedIdentifier {
      guard stream != 65_535 else { throw .invalidIdentifier(stream) }
      guard channels.slot(stream: stream) == nil else { throw .identifierInUse(stream) }
    }
    let slot = channels.add(options)
    if let stream = options.negotiatedIdentifier { channels.assign(slot, stream: stream) }
    let identifier = channels[slot].identifier
    if areStreamsAssigned, channels[slot].stream == nil, !assignStream(slot) {
      channels.remove(slot)
      throw .noIdentifierLeft
    }
    if phase == .established || phase == .cookieEchoed { announce(slot) }
    if phase == .established { openAnnouncedChannel(slot) }
    return identifier
  }

  /// Sends a message. An empty one arrives as an empty one.
  public mutating func send(_ data: RawSpan, isText: Bool, on identifier: ChannelIdentifier, now: Instant) throws(ChannelError) {
    guard let slot = channels.slot(of: identifier) else { throw .unknownChannel }
    guard channels[slot].state == .open, phase == .established else { throw .notOpen }
    guard data.byteCount <= maximumSendSize else { throw .messageTooLarge(maximum: maximumSendSize) }
    guard channels[slot].bufferedAmount + data.byteCount <= configuration.maximumBufferedAmount else {
      throw .bufferFull(maximum: configuration.maximumBufferedAmount)
    }
    let place: Int
    if data.byteCount == 0 {
      let stand: [UInt8] = [0]
      place = enqueue(stand.span.bytes, slot, isText ? PayloadProtocol.emptyString : PayloadProtocol.emptyBinary)
    } else {
      place = enqueue(data, slot, isText ? PayloadProtocol.string : PayloadProtocol.binary)
      channels[slot].bufferedAmount += data.byteCount
    }
    messages[place].isUnordered = !channels[slot].options.isOrdered && channels[slot].isAcknowledged
    if extensions.contains(.forwardTSN) {
      messages[place].maximumRetransmissions = channels[slot].options.maxRetransmits
      messages[place].expiry = channels[slot].options.maxPacketLifeTime.map { now + .milliseconds(Int64($0)) }
    }
    channels[slot].statistics.messagesSent += 1
    channels[slot].statistics.bytesSent += data.byteCount
    totals.messagesSent += 1
    totals.bytesSent += data.byteCount
  }

  /// Closes a channel: what is queued is sent first, then the stream is reset. `channelClosed` tells when the peer did the same.
  public mutating func close(_ identifier: ChannelIdentifier, now: Instant) {
    guard let slot = channels.slot(of: identifier) else { return }
    close(slot)
  }

  private mutating func close(_ slot: Int) {
    switch channels[slot].state {
    case .waiting:
      // The OPEN may be on its way with COOKIE ECHO: then the stream is reset once the association is up.
      guard channels[slot].isAnnounced else { return removeChannel(slot) }
      channels[slot].state = .closing
    case .open:
      channels[slot].state = .closing
      if channels[slot].queue.isEmpty { requestReset(slot) }
    case .closing: break
    }
  }

  /// Bytes of user data that were given to `send` and have not left yet: W3C `bufferedAmount`. 0 for a channel that is closed.
  public func bufferedAmount(of identifier: ChannelIdentifier) -> Int {
    channels.slot(of: identifier).map { channels[$0].bufferedAmount } ?? 0
  }

  /// Sets the amount in bytes at which `bufferedAmountLow` comes when the buffered amount falls to it.
  public mutating func setBufferedAmountLowThreshold(_ threshold: Int, of identifier: ChannelIdentifier) {
    guard let slot = channels.slot(of: identifier) else { return }
    channels[slot].bufferedAmountLowThreshold = threshold
  }

  /// The channel's SCTP stream: W3C `id`. Nil before `start`, unless negotiated.
  public func streamIdentifier(of identifier: ChannelIdentifier) -> UInt16? {
    channels.slot(of: identifier).flatMap { channels[$0].stream }
  }

  // MARK: - Announcement

  /// Gives the channel a free stream of our parity. False when there is none.
  @discardableResult mutating func assignStream(_ slot: Int) -> Bool {
    var stream = lowestFreeStream ?? (isDTLSClient ? 0 : 1)
    let limit = min(65_535, Int(min(configuration.streams, peerIncomingStreams)))
    while stream < limit, channels.slot(stream: UInt16(stream)) != nil { stream += 2 }
    lowestFreeStream = stream
    guard stream < limit else { return false }
    channels.assign(slot, stream: UInt16(stream))
    return true
  }

  /// Queues OPEN for channels that waited for the peer's INIT ACK; what the peer has no stream for is closed.
  mutating func announceWaitingChannels() {
    for slot in channels.used where channels[slot].state == .waiting {
      guard let stream = channels[slot].stream, stream < peerIncomingStreams else {
        counters.count("sctp.noStream")
        removeChannel(slot)
        continue
      }
      announce(slot)
    }
  }

  private mutating func announce(_ slot: Int) {
    guard !channels[slot].isAnnounced else { return }
    channels[slot].isAnnounced = true
    if channels[slot].options.negotiatedIdentifier != nil {
      channels[slot].isAcknowledged = true
    } else {
      _ = enqueue(Establishment.open(channels[slot].options).encoded().span.bytes, slot, PayloadProtocol.establishment)
    }
  }

  /// Opens what was announced, now that the association is up.
  mutating func openAnnouncedChannels() {
    for slot in channels.used { openAnnouncedChannel(slot) }
  }

  private mutating func openAnnouncedChannel(_ slot: Int) {
    guard channels[slot].isAnnounced else { return }
    if channels[slot].state == .waiting {
      channels[slot].state = .open
      totals.dataChannelsOpened += 1
      events.append(.channelOpened(channels[slot].identifier))
    } else if channels[slot].state == .closing, channels[slot].queue.isEmpty {
      requestReset(slot)
    }
  }

  /// Queues a message and gives its place in the pool.
  private mutating func enqueue(_ bytes: RawSpan, _ slot: Int, _ payloadProtocol: UInt32) -> Int {
    let place = messages.add(bytes)
    messages[place].channel = slot
    messages[place].streamIdentifier = channels[slot].stream ?? 0
    messages[place].payloadProtocol = payloadProtocol
    channels[slot].queue.append(place)
    scheduler.activate(slot, priority: channels[slot].options.priority)
    return place
  }

  // MARK: - Sending

  /// The message at the head of the channel's queue, after those that are not worth sending any more.
  mutating func headMessage(_ slot: Int, now: Instant) -> Int? {
    while let place = channels[slot].queue.first {
      if let expiry = messages[place].expiry, expiry <= now, !messages[place].isAbandoned {
        outstanding.abandon(place, messages: &messages)
        counters.count("sctp.expiredMessage")
      }
      guard messages[place].isAbandoned else { return place }
      leave(slot, place, messages[place].unsentBytes)
      finishMessage(slot, place)
    }
    return nil
  }

  /// Notes that a fragment left.
  mutating func finishFragment(_ slot: Int, _ place: Int, length: Int) {
    let isComplete = messages[place].unsentBytes == 0
    scheduler.sent(slot, bytes: length + Size.dataHeader, staysTogether: !isComplete && !extensions.contains(.interleaving))
    leave(slot, place, length)
    if isComplete { finishMessage(slot, place) }
  }

  /// Takes `count` bytes of the message off the buffered amount.
  private mutating func leave(_ slot: Int, _ place: Int, _ count: Int) {
    guard messages[place].payloadProtocol == PayloadProtocol.string || messages[place].payloadProtocol == PayloadProtocol.binary else {
      return
    }
    let before = channels[slot].bufferedAmount
    channels[slot].bufferedAmount -= count
    let threshold = channels[slot].bufferedAmountLowThreshold
    if before > threshold, before - count <= threshold { events.append(.bufferedAmountLow(channels[slot].identifier)) }
  }

  /// Takes the message at the head off the queue.
  private mutating func finishMessage(_ slot: Int, _ place: Int) {
    _ = channels[slot].queue.popFirst()
    messages.release(place)
    guard channels[slot].queue.isEmpty else { return }
    scheduler.deactivate(slot)
    if channels[slot].state == .closing { requestReset(slot) }
  }

  // MARK: - Receiving

  /// Turns whole messages into events.
  mutating func deliverReady() {
    while let message = streams.popReady() { deliver(message) }
  }

  private mutating func deliver(_ message: IncomingMessage) {
    if message.payloadProtocol == PayloadProtocol.establishment { return handleEstablishment(message) }
    guard let slot = channels.slot(stream: message.stream) else { return counters.count("sctp.noChannel") }
    guard !message.isOversized else {
      counters.count("sctp.messageTooLarge")
      return close(slot)
    }
    let isText = message.payloadProtocol == PayloadProtocol.string || message.payloadProtocol == PayloadProtocol.emptyString
    let isEmpty = message.payloadProtocol == PayloadProtocol.emptyString || message.payloadProtocol == PayloadProtocol.emptyBinary
    guard isText || isEmpty || message.payloadProtocol == PayloadProtocol.binary else { return counters.count("sctp.payloadProtocol") }
    channels[slot].isAcknowledged = true
    let bytes = isEmpty ? [] : message.bytes
    channels[slot].statistics.messagesReceived += 1
    channels[slot].statistics.bytesReceived += bytes.count
    totals.messagesReceived += 1
    totals.bytesReceived += bytes.count
    eventBytes += bytes.count
    events.append(.message(channels[slot].identifier, bytes, isText: isText))
  }

  private mutating func handleEstablishment(_ message: IncomingMessage) {
    let parsed: Establishment
    do { parsed = try Establishment(message.bytes.span.bytes) } catch { return counters.count("sctp.malformedDCEP") }
    switch parsed {
    case .acknowledgment:
      guard let slot = channels.slot(stream: message.stream) else { return counters.count("sctp.noChannel") }
      channels[slot].isAcknowledged = true
    case .open(let options):
      finishUnanswered(stream: message.stream)
      guard channels.slot(stream: message.stream) == nil, message.stream != 65_535 else { return counters.count("sctp.streamInUse") }
      guard message.stream < min(peerIncomingStreams, configuration.streams) else { return counters.count("sctp.noStream") }
      let slot = channels.add(options)
      channels.assign(slot, stream: message.stream)
      channels[slot].state = .open
      channels[slot].isAnnounced = true
      channels[slot].isAcknowledged = true
      totals.dataChannelsOpened += 1
      _ = enqueue(Establishment.acknowledgment.encoded().span.bytes, slot, PayloadProtocol.establishment)
      events.append(.channelOffered(channels[slot].identifier, options, streamIdentifier: message.stream))
    }
  }

  // MARK: - Closing

  /// Removes the channel once both directions are reset.
  mutating func finishIfReset(_ slot: Int) {
    guard channels[slot].isOutgoingReset, channels[slot].isIncomingReset else { return }
    removeChannel(slot)
  }

  /// Removes the channel with all that it had queued.
  mutating func removeChannel(_ slot: Int) {
    while let place = channels[slot].queue.popFirst() { messages.release(place) }
    scheduler.deactivate(slot)
    if channels[slot].state != .waiting { totals.dataChannelsClosed += 1 }
    events.append(.channelClosed(channels[slot].identifier))
    if let stream = channels[slot].stream, let lowest = lowestFreeStream, Int(stream) < lowest, (Int(stream) ^ lowest) & 1 == 0 {
      lowestFreeStream = Int(stream)
    }
    channels.remove(slot)
  }

  /// Removes all channels: the association is gone.
  mutating func closeAllChannels() {
    for slot in channels.used { removeChannel(slot) }
  }
}
