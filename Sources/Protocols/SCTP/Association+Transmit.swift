import Base
import Bytes

// Packets to the peer (RFC 9260 sections 6.1 and 6.10).
extension Association {
  /// Fragments below this size are not made just to fill a packet.
  private static let leastFragment = 256

  /// The size that the span given to `pollTransmit(into:now:)` has to have, in bytes.
  public var maximumPacketSize: Int { max(configuration.mtu, configuration.maximumMTU) }

  /// Writes the next packet to the front of `packet`, which has at least `maximumPacketSize` bytes, and gives its size. Nil when there is
  /// nothing to send now. Allocates nothing for packets of data.
  public mutating func pollTransmit(into packet: inout MutableRawSpan, now: Instant) -> Int? {
    precondition(packet.byteCount >= maximumPacketSize, "the buffer must hold a packet of maximumPacketSize")
    do {
      if let ready = readyPackets.popFirst() {
        var writer = ByteWriter(packet._mutatingExtracting(0..<packet.byteCount))
        try writer.copy(ready.span.bytes)
        totals.packetsSent += 1
        return ready.count
      }
      guard phase != .closed, phase != .cookieWait, phase != .ended else { return nil }
      let isEcho = isCookieEchoDue
      var count: Int
      do {
        var writer = ByteWriter(packet._mutatingExtracting(0..<packetLimit(now: now)))
        try writeHeader(&writer)
        try assemble(&writer, now: now)
        count = writer.count
      }
      if count == Size.packetHeader {
        guard let size = pathMTU.dueSize, phase == .established else { return nil }
        var writer = ByteWriter(packet._mutatingExtracting(0..<size))
        try writeHeader(&writer)
        try writeProbe(&writer, size: size, now: now)
        count = writer.count
      }
      if isEcho || !extensions.contains(.zeroChecksum) {
        let checksum = CRC32C.checksum(packet.bytes.extracting(0..<count))
        packet.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt32.self)
      }
      totals.packetsSent += 1
      return count
    } catch {
      preconditionFailure("a packet was assembled beyond the size that was reserved for it")
    }
  }

  /// A whole packet of chunks that stand alone.
  func packet(tag: UInt32, _ chunks: [UInt8]) -> [UInt8] {
    var bytes = networkOrder(configuration.localPort) + networkOrder(configuration.remotePort) + networkOrder(tag) + [0, 0, 0, 0] + chunks
    let checksum = CRC32C.checksum(bytes.span.bytes)
    for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
    return bytes
  }

  /// The size up to which the next packet may grow. A chunk made when the path carried more cannot be cut any more: it goes alone.
  private mutating func packetLimit(now: Instant) -> Int {
    guard let index = outstanding.firstLost(messages: &messages, now: now) else { return pathMTU.current }
    return max(pathMTU.current, Size.packetHeader + dataHeaderSize + Size.padded(Int(outstanding[index].length)))
  }

  private var dataHeaderSize: Int { extensions.contains(.interleaving) ? Size.interleavedDataHeader : Size.dataHeader }

  private func writeHeader(_ writer: inout ByteWriter) throws(OutOfBounds) {
    try writer.uint16(configuration.localPort)
    try writer.uint16(configuration.remotePort)
    try writer.uint32(peerTag)
    try writer.uint32(0)
  }

  /// Writes all chunks that are due and fit: control first, then acknowledgments, then data.
  private mutating func assemble(_ writer: inout ByteWriter, now: Instant) throws(OutOfBounds) {
    var mayCarryData = phase == .established || phase == .shutdownPending || phase == .shutdownReceived
    if isCookieEchoDue {
      isCookieEchoDue = false
      try writer.copy(encodedChunk(.cookieEcho, cookie).span.bytes)
      mayCarryData = true
    }
    while let chunk = controlChunks.first {
      guard writer.remaining >= chunk.count else {
        // A chunk that no packet holds would stop all others.
        if writer.count == Size.packetHeader {
          _ = controlChunks.popFirst()
          counters.count("sctp.answerOverflow")
          continue
        }
        return
      }
      try writer.copy(chunk.span.bytes)
      _ = controlChunks.popFirst()
    }
    guard phase != .cookieEchoed || mayCarryData else { return }
    let hasData = mayCarryData && canSendData(now: now)
    if acknowledgment == .immediate || (acknowledgment == .delayed && hasData), writer.remaining >= 16 { try writeAcknowledgment(&writer) }
    try writeForwardTSN(&writer, now: now)
    try writeReset(&writer, now: now)
    if isShutdownDue, phase == .shutdownSent || phase == .shutdownAckSent, writer.remaining >= 8 {
      isShutdownDue = false
      let chunk =
        phase == .shutdownSent
        ? encodedChunk(.shutdown, networkOrder(received.cumulative)) : encodedChunk(.shutdownAcknowledgment)
      try writer.copy(chunk.span.bytes)
    }
    if hasData {
      try writeRetransmissions(&writer, now: now)
      try writeNewData(&writer, now: now)
    }
  }

  private mutating func canSendData(now: Instant) -> Bool {
    let mayRetransmit = isFastRetransmitDue || congestion.permits(bytesInFlight: outstanding.bytesInFlight)
    if mayRetransmit, outstanding.firstLost(messages: &messages, now: now) != nil { return true }
    return !scheduler.isEmpty && congestion.permits(bytesInFlight: outstanding.bytesInFlight)
  }

  // MARK: - Acknowledgments

  /// SACK (RFC 9260 section 3.3.4) with as many gap blocks as fit.
  private mutating func writeAcknowledgment(_ writer: inout ByteWriter) throws(OutOfBounds) {
    advertisedWindow = availableWindow
    try writer.uint8(ChunkType.selectiveAcknowledgment.rawValue)
    try writer.uint8(0)
    let start = writer.count
    try writer.uint16(0)
    try writer.uint32(received.cumulative)
    try writer.uint32(UInt32(clamping: advertisedWindow))
    try writer.uint16(0)
    try writer.uint16(0)
    var (blocks, offset) = (0, 0)
    while writer.remaining >= 4, let block = received.block(after: offset) {
      try writer.uint16(UInt16(clamping: block.first))
      try writer.uint16(UInt16(clamping: block.last))
      blocks += 1
      offset = block.last
    }
    var duplicateCount = 0
    while duplicateCount < duplicates.count, writer.remaining >= 4 {
      try writer.uint32(duplicates[duplicateCount])
      duplicateCount += 1
    }
    writer.replace(uint16: UInt16(writer.count - start + 2), at: start)
    writer.replace(uint16: UInt16(blocks), at: start + 10)
    writer.replace(uint16: UInt16(duplicateCount), at: start + 12)
    duplicates.removeAll(keepingCapacity: true)
    (acknowledgment, acknowledgmentDeadline, unacknowledgedPackets) = (.none, nil, 0)
  }

  /// FORWARD TSN when messages were abandoned (RFC 3758 section 3.5).
  private mutating func writeForwardTSN(_ writer: inout ByteWriter, now: Instant) throws(OutOfBounds) {
    guard outstanding.advanced != outstanding.cumulative else {
      isForwardTSNDue = false
      return
    }
    guard isForwardTSNDue || forwarded?.tsn != outstanding.advanced, writer.remaining >= 64 else { return }
    isForwardTSNDue = false
    let isInterleaved = extensions.contains(.interleaving)
    let entrySize = isInterleaved ? 8 : 4
    let (streams, tsn) = outstanding.abandonedSequences(limit: (writer.remaining - 8) / entrySize, messages: messages)
    var entries = streams[...]
    if !isInterleaved { entries = streams.filter { !$0.isUnordered }[...] }
    try writer.uint8((isInterleaved ? ChunkType.interleavedForwardTSN : .forwardTSN).rawValue)
    try writer.uint8(0)
    try writer.uint16(UInt16(8 + entrySize * entries.count))
    try writer.uint32(tsn)
    for entry in entries {
      try writer.uint16(entry.stream)
      if isInterleaved {
        try writer.uint16(entry.isUnordered ? 1 : 0)
        try writer.uint32(entry.sequence)
      } else {
        try writer.uint16(UInt16(truncatingIfNeeded: entry.sequence))
      }
    }
    forwarded = (outstanding.advanced, now)
    if retransmissionDeadline == nil { retransmissionDeadline = now + timeout.timeout }
  }

  // MARK: - Data

  private mutating func writeRetransmissions(_ writer: inout ByteWriter, now: Instant) throws(OutOfBounds) {
    var isFirst = true
    while let index = outstanding.firstLost(messages: &messages, now: now) {
      let chunk = outstanding[index]
      guard writer.remaining >= dataHeaderSize + Size.padded(Int(chunk.length)),
        isFastRetransmitDue || congestion.permits(bytesInFlight: outstanding.bytesInFlight)
      else { break }
      try writeChunk(chunk, tsn: outstanding.cumulative &+ UInt32(index) &+ 1, &writer)
      outstanding.markRetransmitted(index)
      congestion.sent(chunk.size)
      peerWindow -= chunk.size
      totals.retransmittedChunks += 1
      if index == 0 || retransmissionDeadline == nil { retransmissionDeadline = now + timeout.timeout }
      isFirst = false
    }
    if !isFirst {
      isFastRetransmitDue = false
      lastDataSent = now
    }
  }

  private mutating func writeNewData(_ writer: inout ByteWriter, now: Instant) throws(OutOfBounds) {
    if outstanding.bytesInFlight == 0, !scheduler.isEmpty { restartAfterIdle(now: now) }
    while outstanding.count < OutstandingChunks.limit, congestion.permits(bytesInFlight: outstanding.bytesInFlight),
      let slot = scheduler.next
    {
      guard let place = headMessage(slot, now: now) else { continue }
      let unsent = messages[place].unsentBytes
      let space = writer.remaining - dataHeaderSize
      guard space >= min(unsent, Self.leastFragment), space > 0 else { return }
      let length = unsent <= space ? unsent : space & ~3
      // With the peer's window closed one chunk probes it (RFC 9260 section 6.1, rule A).
      guard length + Size.dataHeader <= peerWindow || outstanding.bytesInFlight == 0 else { return }
      let chunk = makeFragment(slot, place, length: length)
      let tsn = outstanding.append(chunk, messages: &messages, now: now)
      if chunk.fragment == 0 { messages[place].firstTSN = tsn }
      messages[place].lastTSN = tsn
      try writeChunk(chunk, tsn: tsn, &writer)
      congestion.sent(chunk.size)
      peerWindow -= chunk.size
      lastDataSent = now
      if retransmissionDeadline == nil { retransmissionDeadline = now + timeout.timeout }
      finishFragment(slot, place, length: length)
    }
  }

  /// The window decays while nothing is sent (RFC 9260 section 7.2.1).
  private mutating func restartAfterIdle(now: Instant) {
    congestion.idle()
    guard outstanding.count == 0, timeout.timeout > .zero else { return }
    let periods = (now - lastDataSent).nanoseconds / timeout.timeout.nanoseconds
    for _ in 0..<max(0, min(periods, 16)) { congestion.decay() }
  }

  /// Cuts the next fragment off the message.
  private mutating func makeFragment(_ slot: Int, _ place: Int, length: Int) -> OutstandingChunks.Chunk {
    if messages[place].fragments == 0 {
      if extensions.contains(.interleaving), messages[place].isUnordered {
        messages[place].sequence = channels[slot].nextUnorderedSequence
        channels[slot].nextUnorderedSequence &+= 1
      } else if !messages[place].isUnordered {
        messages[place].sequence = channels[slot].nextSequence
        channels[slot].nextSequence &+= 1
      }
    }
    var flags: UInt8 = messages[place].isUnordered ? DataFlags.unordered : 0
    if messages[place].fragments == 0 { flags |= DataFlags.beginning }
    if length == messages[place].unsentBytes {
      flags |= DataFlags.end
      // The reset of the stream waits for the acknowledgment.
      if channels[slot].state == .closing, channels[slot].queue.count == 1 { flags |= DataFlags.immediate }
    }
    let chunk = OutstandingChunks.Chunk(
      message: Int32(place), offset: Int32(messages[place].sentBytes), length: Int32(length), fragment: messages[place].fragments,
      flags: flags)
    messages[place].fragments &+= 1
    messages[place].sentBytes += length
    messages[place].unsentBytes -= length
    return chunk
  }

  /// Writes a DATA or I-DATA chunk, padded where another one could follow.
  private func writeChunk(_ chunk: OutstandingChunks.Chunk, tsn: UInt32, _ writer: inout ByteWriter) throws(OutOfBounds) {
    let place = Int(chunk.message)
    let length = Int(chunk.length)
    let isInterleaved = extensions.contains(.interleaving)
    try writer.uint8((isInterleaved ? ChunkType.interleavedData : .data).rawValue)
    try writer.uint8(chunk.flags)
    try writer.uint16(UInt16(dataHeaderSize + length))
    try writer.uint32(tsn)
    try writer.uint16(messages[place].streamIdentifier)
    if isInterleaved {
      try writer.uint16(0)
      try writer.uint32(messages[place].sequence)
      try writer.uint32(chunk.flags & DataFlags.beginning != 0 ? messages[place].payloadProtocol : chunk.fragment)
    } else {
      try writer.uint16(UInt16(truncatingIfNeeded: messages[place].sequence))
      try writer.uint32(messages[place].payloadProtocol)
    }
    let offset = Int(chunk.offset)
    let bytes = messages[place].bytes
    try writer.copy(bytes.span.bytes.extracting(offset..<offset + length))
    try writer.zeros(Size.padded(length) - length)
  }

  // MARK: - Heartbeats

  /// A HEARTBEAT with what we need to recognize the answer (RFC 9260 section 3.3.5).
  func heartbeatChunk(nonce: UInt64) -> [UInt8] {
    encodedChunk(.heartbeat, networkOrder(UInt16(1)) + networkOrder(UInt16(12)) + networkOrder(nonce))
  }

  /// A HEARTBEAT and a PAD chunk (RFC 4820) that fill a packet of `size` bytes.
  private mutating func writeProbe(_ writer: inout ByteWriter, size: Int, now: Instant) throws(OutOfBounds) {
    let nonce = random.next()
    try writer.copy(heartbeatChunk(nonce: nonce).span.bytes)
    let rest = size - writer.count
    try writer.uint8(ChunkType.padding.rawValue)
    try writer.uint8(0)
    try writer.uint16(UInt16(rest))
    try writer.zeros(rest - Size.chunkHeader)
    pathMTU.sent(nonce: nonce, now: now, timeout: timeout.timeout)
  }
}
