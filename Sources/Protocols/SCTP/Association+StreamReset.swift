import Base
import Bytes

// Closing of channels by stream reset (RFC 8831 section 6.7, RFC 6525).
extension Association {
  /// Parameters of RE-CONFIG chunks (RFC 6525 section 4).
  private enum Parameter {
    static let outgoingReset: UInt16 = 13
    static let incomingReset: UInt16 = 14
    static let associationReset: UInt16 = 15
    static let response: UInt16 = 16
    static let addOutgoingStreams: UInt16 = 17
    static let addIncomingStreams: UInt16 = 18
  }

  /// Asks the peer to reset our stream of the channel, which has nothing more to send.
  mutating func requestReset(_ slot: Int) {
    guard !channels[slot].isResetRequested else { return }
    channels[slot].isResetRequested = true
    guard extensions.contains(.reconfiguration) else { return removeChannel(slot) }
    channels[slot].lastTSN = outstanding.nextTSN &- 1
    resets.waiting.append(channels[slot].identifier)
  }

  /// Writes RE-CONFIG with our request, when one is due. One is under way at a time.
  mutating func writeReset(_ writer: inout ByteWriter, now: Instant) throws(OutOfBounds) {
    if resets.pending == nil, phase == .established, case let closing = channelsToReset(), !closing.isEmpty {
      resets.waiting.removeFirst(closing.count)
      let streams = closing.compactMap { streamIdentifier(of: $0) }
      resets.pending = StreamResets.Request(
        sequence: resets.nextSequence, lastTSN: outstanding.nextTSN &- 1, streams: streams, channels: Array(closing))
      resets.nextSequence &+= 1
    }
    guard var request = resets.pending, request.isDue, writer.remaining >= 20 + Size.padded(2 * request.streams.count) else { return }
    if request.needsNewSequence {
      request.sequence = resets.nextSequence
      resets.nextSequence &+= 1
    }
    (request.isDue, request.needsNewSequence) = (false, false)
    resets.pending = request
    resets.deadline = now + timeout.timeout
    let count = 16 + 2 * request.streams.count
    try writer.uint8(ChunkType.reconfiguration.rawValue)
    try writer.uint8(0)
    try writer.uint16(UInt16(4 + count))
    try writer.uint16(Parameter.outgoingReset)
    try writer.uint16(UInt16(count))
    try writer.uint32(request.sequence)
    try writer.uint32(resets.expectedSequence &- 1)
    try writer.uint32(request.lastTSN)
    for stream in request.streams { try writer.uint16(stream) }
    try writer.zeros(Size.padded(count) - count)
  }

  /// The waiting channels of which the peer has all data. It could still be told to pass over abandoned messages of others, and take that for
  /// messages of a new channel on the same stream.
  private func channelsToReset() -> ArraySlice<ChannelIdentifier> {
    resets.waiting.prefix(StreamResets.streamsPerRequest).prefix { identifier in
      guard let slot = channels.slot(of: identifier) else { return true }
      return !outstanding.cumulative.precedes(channels[slot].lastTSN)
    }
  }

  /// Sends the request again.
  mutating func retryReset(now: Instant) {
    resets.deadline = nil
    guard resets.pending != nil, countError(now: now) else { return }
    resets.pending?.isDue = true
  }

  /// RE-CONFIG.
  mutating func handleReconfiguration(_ value: RawSpan, now: Instant) {
    guard extensions.contains(.reconfiguration) else { return counters.count("sctp.unexpectedChunk") }
    var reader = ByteReader(value)
    do {
      while reader.remaining >= 4 {
        let (type, length) = (try reader.uint16(), Int(try reader.uint16()))
        guard length >= 8 else { throw OutOfBounds() }
        let body = try reader.span(length - 4)
        try reader.skip(min(reader.remaining, Size.padded(length) - length))
        try handleParameter(type, body, now: now)
      }
    } catch { counters.count("sctp.malformed") }
  }

  private mutating func handleParameter(_ type: UInt16, _ body: RawSpan, now: Instant) throws(OutOfBounds) {
    var reader = ByteReader(body)
    let sequence = try reader.uint32()
    switch type {
    case Parameter.response: handleResponse(sequence, StreamResets.Result(rawValue: try reader.uint32()) ?? .denied, now: now)
    case Parameter.outgoingReset:
      try reader.skip(4)
      let lastTSN = try reader.uint32()
      handleOutgoingReset(sequence, lastTSN: lastTSN, streams: try readStreams(&reader))
    case Parameter.incomingReset:
      let streams = try readStreams(&reader)
      answer(sequence) { association in
        for stream in streams {
          guard let slot = association.channels.slot(stream: stream) else { continue }
          association.closeByPeer(slot)
        }
        return .performed
      }
    case Parameter.addOutgoingStreams: answer(sequence) { _ in .performed }
    case Parameter.associationReset, Parameter.addIncomingStreams: answer(sequence) { _ in .denied }
    default: counters.count("sctp.unrecognizedParameter")
    }
  }

  private func readStreams(_ reader: inout ByteReader) throws(OutOfBounds) -> [UInt16] {
    var streams: [UInt16] = []
    while reader.remaining >= 2 { streams.append(try reader.uint16()) }
    return streams
  }

  // MARK: - The peer's requests

  /// Answers a request of the peer: by `perform` when it is the one expected, as before when it is the last one again.
  private mutating func answer(_ sequence: UInt32, _ perform: (inout Association) -> StreamResets.Result) {
    if sequence == resets.expectedSequence {
      resets.expectedSequence &+= 1
      resets.lastResult = perform(&self)
      respond(sequence, resets.lastResult)
    } else if sequence == resets.expectedSequence &- 1 {
      respond(sequence, resets.lastResult)
    } else {
      respond(sequence, .badSequenceNumber)
    }
  }

  private mutating func respond(_ sequence: UInt32, _ result: StreamResets.Result) {
    let parameter = networkOrder(Parameter.response) + networkOrder(UInt16(12)) + networkOrder(sequence) + networkOrder(result.rawValue)
    reply(chunk: encodedChunk(.reconfiguration, parameter))
  }

  private mutating func handleOutgoingReset(_ sequence: UInt32, lastTSN: UInt32, streams list: [UInt16]) {
    answer(sequence) { association in
      guard association.received.cumulative.precedes(lastTSN) else {
        association.performReset(StreamResets.Deferred(sequence: sequence, lastTSN: lastTSN, streams: list))
        return .performed
      }
      // Data sent before the request is still missing: the peer asks again, or hears when it is here (RFC 6525 section 5.2.2).
      if let earlier = association.resets.deferred, !earlier.streams.isEmpty, !list.isEmpty {
        association.resets.deferred?.streams = earlier.streams + list.filter { !earlier.streams.contains($0) }
        association.resets.deferred?.sequence = sequence
        association.resets.deferred?.lastTSN = lastTSN
      } else {
        association.resets.deferred = StreamResets.Deferred(sequence: sequence, lastTSN: lastTSN, streams: list)
      }
      return .inProgress
    }
  }

  /// Performs the reset that waited for data, once the data is here.
  mutating func performDeferredReset() {
    guard let deferred = resets.deferred, !received.cumulative.precedes(deferred.lastTSN) else { return }
    resets.deferred = nil
    performReset(deferred)
    resets.performed = deferred
    if deferred.sequence == resets.expectedSequence &- 1 { resets.lastResult = .performed }
    respond(deferred.sequence, .performed)
  }

  /// The peer sends nothing more on these streams, or on all when there are none.
  private mutating func performReset(_ request: StreamResets.Deferred) {
    // The peer asked again with another number before it heard that the request was performed late.
    if let performed = resets.performed, performed.lastTSN == request.lastTSN, performed.streams == request.streams { return }
    for stream in request.streams.isEmpty ? Array(Set(streams.identifiers + channels.streams)) : request.streams {
      streams.reset(stream: stream)
      reassembly.reset(stream: stream)
      guard let slot = channels.slot(stream: stream) else { continue }
      channels[slot].isIncomingReset = true
      closeByPeer(slot)
      finishIfReset(slot)
    }
  }

  /// The peer wants the channel closed: ours follows when what is queued was sent.
  private mutating func closeByPeer(_ slot: Int) {
    if channels[slot].state != .closing {
      if channels[slot].state == .open { events.append(.channelClosing(channels[slot].identifier)) }
      channels[slot].state = .closing
    }
    if channels[slot].queue.isEmpty, !channels[slot].isOutgoingReset { requestReset(slot) }
  }

  /// Makes room for a channel that the peer opens on a stream where ours still waits for the answer to its reset. The peer uses a stream again only
  /// when both directions are reset: the answer was lost.
  mutating func finishUnanswered(stream: UInt16) {
    guard let slot = channels.slot(stream: stream), channels[slot].isIncomingReset,
      resets.pending?.channels.contains(channels[slot].identifier) == true
    else { return }
    removeChannel(slot)
  }

  // MARK: - Our requests

  private mutating func handleResponse(_ sequence: UInt32, _ result: StreamResets.Result, now: Instant) {
    guard let request = resets.pending, sequence == request.sequence else { return }
    errors = 0
    switch result {
    case .inProgress, .requestInProgress:
      guard !request.isDue else { return }
      resets.pending?.needsNewSequence = true
      resets.deadline = now + timeout.timeout
    case .nothingToDo, .performed: finishRequest(request)
    case .denied, .wrongSequenceNumber, .badSequenceNumber:
      // The peer will not do it: the channel is closed all the same.
      counters.count("sctp.resetDenied")
      finishRequest(request)
    }
  }

  private mutating func finishRequest(_ request: StreamResets.Request) {
    (resets.pending, resets.deadline) = (nil, nil)
    for channel in request.channels {
      guard let slot = channels.slot(of: channel) else { continue }
      channels[slot].isOutgoingReset = true
      finishIfReset(slot)
    }
  }
}
