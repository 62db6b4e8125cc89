import Base
import Bytes
import RTP

/// One RTP stream that is received, with its retransmissions: from packets off the wire to packets in their original form, each once.
///
/// It counts, asks for what is missing, asks for key frames, and remembers the sender reports. Order and timing are the jitter buffer's.
struct ReceiveStream: Sendable {
  /// A payload type that was agreed on.
  struct Codec: Sendable {
    /// How media is laid into payloads; `rtx` for retransmissions.
    var format: PayloadFormat
    /// Ticks of the RTP clock per second.
    var clockRate: Int
    /// For `rtx`, the payload type that is repeated (`apt`).
    var associatedPayloadType: UInt8 = 0
  }

  /// What the negotiation agreed on.
  struct Configuration: Sendable {
    /// The stream's source.
    var ssrc: UInt32
    /// Source of its retransmissions. Nil when there is none, or none is known yet.
    var retransmissionSSRC: UInt32?
    /// Our own source, which feedback is sent from.
    var localSSRC: UInt32
    /// Payload types agreed on.
    var codecs: [UInt8: Codec]
    /// Whether lost packets are asked for (`a=rtcp-fb: nack`).
    var isNackEnabled: Bool
    /// Whether key frames can be asked for (`nack pli`).
    var isPictureLossIndicationEnabled: Bool
  }

  /// A packet in its original form.
  struct ReceivedPacket: Sendable {
    /// Its parsed header. An empty payload is padding: it closes a gap in the sequence and holds no media.
    var header: Header
    /// Where in the buffer given the packet lies; the header's ranges count from its lower bound.
    var range: Range<Int>
    /// How the payload is to be read.
    var format: PayloadFormat
    /// Ticks of the RTP clock per second.
    var clockRate: Int
    /// Whether it came as a retransmission.
    var isRetransmission: Bool
  }

  /// Window of sequence numbers in which duplicates are known.
  private static let window = 4_096
  /// Silence that ends with a gap of at least so many packets is an outage, no loss.
  private static let (outage, outagePackets) = (Interval.milliseconds(500), 16)

  /// What the negotiation agreed on; may change between packets.
  var configuration: Configuration
  /// Counters.
  private(set) var statistics = InboundStreamStatistics()
  /// What the sender reports.
  private(set) var remote = RemoteOutboundStreamStatistics()
  /// The last sender report, and when it came.
  private(set) var lastSenderReport: (report: RTCP.SenderReport, arrival: Instant)?
  /// Whether a key frame is wanted.
  private(set) var needsKeyFrame = false

  private var receiver: ReceiverStatistics?
  private var sequenceNumbers = SequenceNumberUnwrapper()
  private var received = [UInt64](repeating: 0, count: window / 64)
  private var missing = MissingPackets()
  private var depacketizer = Depacketizer(format: .opus)
  private var hasSeenKeyFrame = false
  private var keyFrameRequestDue: Instant?
  private var restartCandidate: UInt16?

  /// A stream that has received nothing.
  init(_ configuration: Configuration) { self.configuration = configuration }

  /// Round-trip time to the sender, for the pace of requests.
  var roundTripTime: Interval? {
    get { missing.roundTripTime }
    set { missing.roundTripTime = newValue }
  }

  /// Packets that are missing and asked for.
  var missingPackets: Int { missing.count }

  // MARK: Packets in

  /// Takes a packet of the stream or of its retransmissions, whose header is parsed. Returns the packet in its original form, restored in
  /// place, or nil for one that is dropped: a duplicate, padding among retransmissions, or a malformed one. All are counted.
  mutating func receive(_ packet: inout MutableRawSpan, header: Header, now: Instant) -> ReceivedPacket? {
    guard let codec = configuration.codecs[header.payloadType] else {
      statistics.packetsMalformed += 1
      return nil
    }
    let silence = statistics.lastPacketReceived.map { now - $0 } ?? .zero
    statistics.lastPacketReceived = now
    if codec.format == .rtx { return restore(&packet, header, codec, now) }
    guard header.ssrc == configuration.ssrc else {
      statistics.packetsMalformed += 1
      return nil
    }
    guard accept(header.sequenceNumber, isRetransmission: false, after: silence, now) else {
      statistics.packetsDuplicated += 1
      return nil
    }
    receiver?.clockRate = codec.clockRate
    if receiver == nil { receiver = ReceiverStatistics(clockRate: codec.clockRate) }
    receiver?.receive(sequenceNumber: header.sequenceNumber, timestamp: header.timestamp, arrival: now)
    statistics.packetsReceived += 1
    statistics.bytesReceived += Int64(header.payload.count)
    statistics.headerBytesReceived += Int64(packet.byteCount - header.payload.count)
    look(for: codec.format, packet.bytes.extracting(header.payload), header.sequenceNumber, now)
    return ReceivedPacket(
      header: header, range: 0..<packet.byteCount, format: codec.format, clockRate: codec.clockRate, isRetransmission: false)
  }

  private mutating func restore(_ packet: inout MutableRawSpan, _ header: Header, _ rtx: Codec, _ now: Instant) -> ReceivedPacket? {
    guard let codec = configuration.codecs[rtx.associatedPayloadType], codec.format != .rtx else {
      statistics.packetsMalformed += 1
      return nil
    }
    // Padding sent to probe for bandwidth has no original.
    guard !header.payload.isEmpty else { return nil }
    let whole = packet.byteCount
    guard
      let range = try? Retransmission.unwrap(
        &packet, header: header, ssrc: configuration.ssrc, payloadType: rtx.associatedPayloadType),
      let original = try? Header(parsing: packet.bytes.extracting(range))
    else {
      statistics.packetsMalformed += 1
      return nil
    }
    guard accept(original.sequenceNumber, isRetransmission: true, after: .zero, now) else {
      statistics.packetsDuplicated += 1
      return nil
    }
    statistics.packetsReceived += 1
    statistics.bytesReceived += Int64(header.payload.count)
    statistics.headerBytesReceived += Int64(whole - header.payload.count)
    statistics.retransmittedPacketsReceived += 1
    statistics.retransmittedBytesReceived += Int64(header.payload.count)
    look(for: codec.format, packet.bytes.extracting(range).extracting(original.payload), original.sequenceNumber, now)
    return ReceivedPacket(header: original, range: range, format: codec.format, clockRate: codec.clockRate, isRetransmission: true)
  }

  /// Takes note of a sequence number; false when it was there before, or so long ago that nobody knows.
  private mutating func accept(_ sequenceNumber: UInt16, isRetransmission: Bool, after silence: Interval, _ now: Instant) -> Bool {
    guard let highest = sequenceNumbers.highest else {
      // A retransmission cannot be the first: it says nothing of where the stream is now.
      if isRetransmission { return false }
      mark(sequenceNumbers.unwrap(sequenceNumber))
      return true
    }
    let number = sequenceNumbers.peek(sequenceNumber)
    if number > highest {
      if isRetransmission && number - highest > 1_000 { return false }
      // RFC 3550 appendix A.1 takes jumps of this size for a restarted sender.
      if number - highest >= 3_000 { return restart(at: sequenceNumber) }
      _ = sequenceNumbers.unwrap(sequenceNumber)
      for gap in highest + 1..<number { clear(gap) }
      mark(number)
      if number > highest + 1, configuration.isNackEnabled { miss(highest + 1..<number, after: silence, now) }
      return true
    }
    guard highest - number < Int64(Self.window) else { return isRetransmission ? false : restart(at: sequenceNumber) }
    restartCandidate = nil
    guard !isMarked(number) else { return false }
    mark(number)
    missing.remove(number, isRetransmission: isRetransmission, now: now)
    return true
  }

  /// What an outage swallowed is too old to be shown and would only hold up the key frame that is needed; a few packets are asked for.
  private mutating func miss(_ range: Range<Int64>, after silence: Interval, _ now: Instant) {
    let isOutage = silence >= ReceiveStream.outage && range.count >= ReceiveStream.outagePackets
    if isOutage { missing.giveUp(range.count) }
    if isOutage || !missing.add(range, now: now) { requestKeyFrame(now: now) }
  }

  /// Two packets in sequence far from the others are a sender that began anew; a single one is a stray.
  private mutating func restart(at sequenceNumber: UInt16) -> Bool {
    guard restartCandidate == sequenceNumber else {
      restartCandidate = sequenceNumber &+ 1
      return false
    }
    restartCandidate = nil
    sequenceNumbers = SequenceNumberUnwrapper()
    for index in received.indices { received[index] = 0 }
    missing.removeAll()
    receiver?.restart()
    mark(sequenceNumbers.unwrap(sequenceNumber))
    hasSeenKeyFrame = false
    return true
  }

  private func bit(_ number: Int64) -> (word: Int, mask: UInt64) {
    let index = Int(number & Int64(Self.window - 1))
    return (index >> 6, 1 << UInt64(index & 63))
  }

  private func isMarked(_ number: Int64) -> Bool { received[bit(number).word] & bit(number).mask != 0 }
  private mutating func mark(_ number: Int64) { received[bit(number).word] |= bit(number).mask }
  private mutating func clear(_ number: Int64) { received[bit(number).word] &= ~bit(number).mask }

  /// Watches video for key frames: a stream that does not begin with one is asked for one.
  private mutating func look(for format: PayloadFormat, _ payload: RawSpan, _ sequenceNumber: UInt16, _ now: Instant) {
    // Nobody asks while a key frame was seen, none is wanted and nothing is missing: that is almost always.
    guard format.isVideo, !payload.isEmpty, !hasSeenKeyFrame || needsKeyFrame || missing.count > 0 else { return }
    if depacketizer.format != format { depacketizer = Depacketizer(format: format) }
    if let descriptor = try? depacketizer.descriptor(of: payload), descriptor.isKeyFrameStart {
      hasSeenKeyFrame = true
      needsKeyFrame = false
      keyFrameRequestDue = nil
      // Nothing depends on what was lost before it, but for its own parameter sets, which may have been sent just ahead.
      missing.removeAll(before: sequenceNumbers.peek(sequenceNumber) - 4)
    } else if !hasSeenKeyFrame && !needsKeyFrame {
      // Its first packets may only have been overtaken.
      needsKeyFrame = true
      keyFrameRequestDue = now + .milliseconds(20)
    }
  }

  // MARK: Feedback out

  /// Asks for a key frame, and again until the start of one arrives, but not more often than the round trip allows.
  mutating func requestKeyFrame(now: Instant) {
    guard !needsKeyFrame else { return }
    needsKeyFrame = true
    keyFrameRequestDue = max(keyFrameRequestDue ?? now, lastKeyFrameRequest.map { $0 + keyFrameInterval } ?? now)
  }

  private var lastKeyFrameRequest: Instant?
  private var keyFrameInterval: Interval { max((roundTripTime ?? .milliseconds(100)) * 1.5, .milliseconds(150)) }

  /// Gives up on packets before `sequenceNumber`: the jitter buffer went on without them.
  mutating func discardMissing(before sequenceNumber: UInt16) {
    missing.removeAll(before: sequenceNumbers.peek(sequenceNumber))
  }

  /// When `feedback` is to be called next; nil when nothing is wanted.
  var deadline: Instant? {
    let request = needsKeyFrame && configuration.isPictureLossIndicationEnabled ? keyFrameRequestDue : nil
    guard let nack = missing.deadline else { return request }
    return min(request ?? nack, nack)
  }

  /// Appends the requests that are due now.
  mutating func feedback(now: Instant, into packets: inout [RTCP.Packet]) {
    if let due = missing.deadline, due <= now {
      var numbers: [UInt16] = []
      if missing.due(now: now, into: &numbers) > 0 { requestKeyFrame(now: now) }
      if !numbers.isEmpty {
        statistics.nackCount += 1
        packets.append(
          .nack(RTCP.Nack(senderSSRC: configuration.localSSRC, mediaSSRC: configuration.ssrc, sequenceNumbers: numbers)))
      }
    }
    if needsKeyFrame, configuration.isPictureLossIndicationEnabled, let due = keyFrameRequestDue, due <= now {
      statistics.pliCount += 1
      lastKeyFrameRequest = now
      keyFrameRequestDue = now + keyFrameInterval * Int64(2)
      packets.append(
        .pictureLossIndication(
          RTCP.PictureLossIndication(senderSSRC: configuration.localSSRC, mediaSSRC: configuration.ssrc)))
    }
  }

  /// A report on the stream since the last one; nil before the first packet.
  mutating func reportBlock(now: Instant) -> RTCP.ReportBlock? {
    let lastReport = lastSenderReport.map { ($0.report.ntpTime.compact, NTPTime.compact(now - $0.arrival)) } ?? (0, 0)
    return receiver?.reportBlock(ssrc: configuration.ssrc, lastSenderReport: lastReport.0, delaySinceLastSenderReport: lastReport.1)
  }

  // MARK: Reports in

  /// Takes note of what the sender says of itself.
  mutating func handle(senderReport report: RTCP.SenderReport, now: Instant) {
    guard report.ssrc == configuration.ssrc else { return }
    lastSenderReport = (report, now)
    remote.packetsSent = Int64(report.packetCount)
    remote.bytesSent = Int64(report.octetCount)
    remote.remoteTimestamp = report.ntpTime
    remote.reportsSent += 1
  }

  /// How time stamps of media lie in the sender's time; nil before the first sender report.
  func senderClock(clockRate: Int) -> SenderClock? {
    guard let (report, arrival) = lastSenderReport, clockRate > 0 else { return nil }
    return SenderClock(ntpTime: report.ntpTime, timestamp: report.rtpTimestamp, clockRate: clockRate, arrival: arrival)
  }

  /// The counters, with those that are computed.
  var currentStatistics: InboundStreamStatistics {
    var result = statistics
    result.packetsLost = receiver?.packetsLost ?? 0
    result.jitter = receiver?.jitter.seconds ?? 0
    result.packetsUnrecovered = Int64(missing.unrecovered)
    return result
  }
}
