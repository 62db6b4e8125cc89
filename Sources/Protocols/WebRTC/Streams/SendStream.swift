import Base
import Bytes
import RTP

/// One RTP stream that is sent: from encoded frames to packets, kept for retransmission.
///
/// Frames are cut into packets straight into a ring of slots. The slots not yet sent are the pacer's queue; those sent are the history that
/// answers NACKs. All memory is taken at the start.
struct SendStream: Sendable {
  /// What the negotiation agreed on.
  struct Configuration: Sendable {
    /// The stream's source.
    var ssrc: UInt32
    /// Source of its retransmissions; nil when they go out as exact copies.
    var retransmissionSSRC: UInt32?
    /// For each payload type the one of its retransmissions (`apt`).
    var retransmissionPayloadTypes: [UInt8: UInt8] = [:]
    /// Ticks of the RTP clock per second.
    var clockRate: Int
    /// Identifiers of the header extensions.
    var extensionMap = HeaderExtensionMap()
    /// Media identification, sent in every packet when it has an identifier.
    var mid: String?
    /// Identifier of the simulcast encoding, likewise.
    var rid: String?
    /// Most bytes that an RTP packet may have, retransmissions included; SRTP's trailer and UDP come on top.
    var maximumPacketCount = 1_200
    /// Packets kept, sent or not: a power of two. 1,024 last a second at 10 Mbit/s.
    var capacity = 1_024
    /// Where the stream's sequence numbers begin: chosen at random.
    var firstSequenceNumber: UInt16 = 0
    /// Where the retransmissions' sequence numbers begin: chosen at random.
    var firstRetransmissionSequenceNumber: UInt16 = 0
    /// Where VP8 picture identifiers begin: chosen at random.
    var firstPictureIdentifier: UInt16 = 0
  }

  /// What a frame is, beside its bytes.
  struct Frame: Sendable {
    /// How it is laid into payloads.
    var format: PayloadFormat
    /// The payload type that stands for the format.
    var payloadType: UInt8
    /// RTP time stamp.
    var timestamp: UInt32
    /// When it was captured: sender reports tie this instant to `timestamp`, and so lips to voices. Nil means: when it was enqueued.
    var captured: Instant?
    /// Whether it can be decoded without others.
    var isKeyFrame = false
    /// For audio, whether the marker bit is set: the first frame after silence. Video marks its last packet by itself.
    var isMarked = false
    /// Loudness, for audio.
    var audioLevel: HeaderExtensions.AudioLevel?
    /// Orientation, for video; sent in the packets of key frames and whenever it is not upright.
    var videoOrientation: UInt8?
    /// Wish for the receiver's playout delay.
    var playoutDelay: HeaderExtensions.PlayoutDelay?
    /// Capture time by the sender's wall clock, sent in the frame's first packet.
    var absoluteCaptureTime: NTPTime?
  }

  /// What `nextPacket` just wrote.
  struct PacketDescription: Sendable, Equatable {
    /// Whether the transport-wide sequence number given was used up.
    var hasTransportSequenceNumber = false
    /// Whether it repeats an earlier packet.
    var isRetransmission = false
    /// The frame whose last packet it is.
    var finishedFrame: SentFrame?
  }

  /// When a frame left.
  struct SentFrame: Sendable, Equatable {
    /// When it was captured.
    var captured: Instant
    /// When its first and its last packet left.
    var first: Instant, last: Instant
  }

  private struct Slot {
    var sequenceNumber: UInt16 = 0
    var payloadType: UInt8 = 0
    var isFirstOfFrame = false
    var isLastOfFrame = false
    var captured = Instant.zero
    var isRetransmissionPending = false
    var retransmissions: UInt8 = 0
    var header = 0
    var count = 0
    var sendTimeOffset = 0
    var transportOffset = 0
    var ridOffset = 0
    /// When it was enqueued, then when it was last sent.
    var time = Instant.zero
  }

  /// What the negotiation agreed on. Identifiers and payload types may change between frames.
  var configuration: Configuration
  /// Counters.
  private(set) var statistics = OutboundStreamStatistics()
  /// What the receiver reported.
  private(set) var remote = RemoteInboundStreamStatistics()
  /// What the packet written last is.
  private(set) var lastPacket = PacketDescription()
  /// Bytes of the packets that wait to be sent for the first time.
  private(set) var queuedBytes = 0
  /// Whether the receiver asked for a key frame since `takeKeyFrameRequest` was called.
  private(set) var isKeyFrameRequested = false

  private var packetizer: Packetizer?
  private var storage: [UInt8]
  private var slots: [Slot]
  private let slotCount: Int
  /// The packets in the ring, counted from the first ever: sent ones before `unsent`, waiting ones from there to `end`.
  private var unsent = 0
  private var end = 0
  /// Ring of packets to be sent again, as counted.
  private var pending: [Int]
  private var pendingStart = 0
  private var pendingCount = 0
  private var retransmissionSequenceNumber: UInt16
  private var mediaPacketsSent: UInt32 = 0
  private var mediaBytesSent: UInt32 = 0
  private var lastFrame: (timestamp: UInt32, captured: Instant)?
  private var lastIntraRequest: UInt8?
  private var firstPacketTime = Instant.zero

  /// A stream that has sent nothing.
  init(_ configuration: Configuration) {
    let capacity = configuration.capacity
    precondition(capacity > 0 && capacity <= 32_768 && capacity & (capacity - 1) == 0, "the ring must divide the sequence numbers")
    precondition((200...9_000).contains(configuration.maximumPacketCount), "packets must hold a header and fit a datagram")
    self.configuration = configuration
    slotCount = configuration.maximumPacketCount
    storage = [UInt8](repeating: 0, count: slotCount * capacity)
    slots = [Slot](repeating: Slot(), count: capacity)
    pending = [Int](repeating: 0, count: 256)
    retransmissionSequenceNumber = configuration.firstRetransmissionSequenceNumber
  }

  /// Whether a packet waits to be sent.
  var hasPackets: Bool { unsent < end || pendingCount > 0 }
  /// Whether a retransmission waits to be sent.
  var hasRetransmissions: Bool { pendingCount > 0 }
  /// Packets that wait to be sent for the first time.
  var queuedPackets: Int { end - unsent }

  private func sequenceNumber(_ index: Int) -> UInt16 { configuration.firstSequenceNumber &+ UInt16(truncatingIfNeeded: index) }
  /// Whether the ring still holds a packet. Its slot may also have been used up by a frame that was then refused.
  private func isKept(_ index: Int) -> Bool {
    index >= 0 && index >= end - slots.count && slots[position(index)].sequenceNumber == sequenceNumber(index)
  }
  private func position(_ index: Int) -> Int { index & (slots.count - 1) }

  // MARK: Frames in

  /// Cuts `frame` into packets and queues them. Returns false, and queues nothing, when the queue has no room for all of them or the frame
  /// does not fit its format: a video sender then has to begin anew with a key frame.
  @discardableResult
  mutating func enqueue(frame bytes: RawSpan, _ frame: Frame, now: Instant) -> Bool {
    statistics.framesEncoded += 1
    if frame.isKeyFrame { statistics.keyFramesEncoded += 1 }
    if packetizer?.format != frame.format {
      let identifier = packetizer.map { $0.pictureIdentifier &+ 1 } ?? configuration.firstPictureIdentifier
      packetizer = Packetizer(format: frame.format, pictureIdentifier: identifier)
    }
    guard queue(bytes, frame, now) else {
      statistics.framesDropped += 1
      return false
    }
    lastFrame = (frame.timestamp, frame.captured ?? now)
    return true
  }

  private mutating func queue(_ bytes: RawSpan, _ frame: Frame, _ now: Instant) -> Bool {
    guard var packetizer else { return false }
    defer { self.packetizer = packetizer }
    var extensions = extensions(for: frame)
    let start = end
    var (isFirst, isLast) = (true, false)
    // Behind the first packet the headers of a frame differ in their sequence numbers only: one is written and copied from then on.
    var model: (offset: Int, header: WrittenHeader)?
    while !isLast, end - unsent < slots.count {
      var slot = Slot()
      slot.sequenceNumber = sequenceNumber(end)
      slot.payloadType = frame.payloadType
      slot.time = now
      let header = Header(
        payloadType: frame.payloadType, sequenceNumber: slot.sequenceNumber, timestamp: frame.timestamp, ssrc: configuration.ssrc,
        isMarked: frame.isMarked)
      let (index, slotCount, map) = (position(end), slotCount, configuration.extensionMap)
      // From here on the packet that was kept here is gone, even if this frame is refused.
      slots[index] = slot
      var span = storage.mutableSpan
      var all = span.mutableBytes
      let written: WrittenHeader
      if let model {
        written = model.header
        all.move(written.count, from: model.offset, to: index * slotCount)
        all.store(uint16: slot.sequenceNumber, at: index * slotCount + 2)
      } else {
        var packet = all._mutatingExtracting(index * slotCount..<(index + 1) * slotCount)
        guard let new = try? header.write(extensions, map: map, into: &packet) else { break }
        written = new
        if !isFirst || extensions.absoluteCaptureTime == nil { model = (index * slotCount, written) }
      }
      var packet = all._mutatingExtracting(index * slotCount..<(index + 1) * slotCount)
      if isFirst {
        // The first header is the largest, so what fits behind it fits behind all. Retransmissions need two bytes more.
        let room = slotCount - written.count - Retransmission.overhead
        guard room >= 32, packetizer.begin(bytes, maximumPayloadCount: room) else { break }
        extensions.absoluteCaptureTime = nil
        isFirst = false
      }
      var payload = packet._mutatingExtracting(written.count..<slotCount)
      guard let part = packetizer.next(bytes, into: &payload) else { break }
      isLast = part.isLast
      if isLast && frame.format.isVideo { packet.store(uint8: packet.bytes.uint8(at: 1) | 0x80, at: 1) }
      slot.isFirstOfFrame = end == start
      slot.isLastOfFrame = isLast
      slot.captured = frame.captured ?? now
      slot.header = written.count
      slot.count = written.count + part.count
      slot.sendTimeOffset = written.absoluteSendTimeOffset ?? 0
      slot.transportOffset = written.transportSequenceNumberOffset ?? 0
      slot.ridOffset = written.ridElementOffset ?? 0
      slots[index] = slot
      queuedBytes += slot.count
      end += 1
    }
    guard !isLast else { return true }
    for index in start..<end { queuedBytes -= slots[position(index)].count }
    end = start
    return false
  }

  private func extensions(for frame: Frame) -> HeaderExtensions {
    var extensions = HeaderExtensions()
    extensions.absoluteSendTime = 0
    extensions.transportSequenceNumber = 0
    extensions.mid = configuration.mid
    extensions.rid = configuration.rid
    extensions.audioLevel = frame.audioLevel
    if let orientation = frame.videoOrientation, frame.isKeyFrame || orientation != 0 { extensions.videoOrientation = orientation }
    extensions.playoutDelay = frame.playoutDelay
    extensions.absoluteCaptureTime = frame.absoluteCaptureTime?.bits
    return extensions
  }

  // MARK: Packets out

  /// Writes the packet that is to leave now, retransmissions first, and returns its count of bytes; nil when none waits.
  ///
  /// `transportSequenceNumber` must be given whenever that extension has an identifier; `lastPacket` says whether it was used up.
  mutating func nextPacket(into packet: inout MutableRawSpan, transportSequenceNumber: UInt16?, now: Instant) -> Int? {
    while pendingCount > 0 {
      let index = pending[pendingStart]
      pendingStart = (pendingStart + 1) % pending.count
      pendingCount -= 1
      // The ring may have turned since it was asked for.
      guard isKept(index) else { continue }
      return retransmit(index, into: &packet, transportSequenceNumber, now)
    }
    guard unsent < end else { return nil }
    let index = position(unsent)
    let slot = slots[index]
    precondition(packet.byteCount >= slot.count, "the caller's buffer must hold the largest packet")
    unsent += 1
    queuedBytes -= slot.count
    statistics.totalPacketSendDelay += now - slot.time
    slots[index].time = now
    let offset = index * slotCount
    // Stored into the ring itself: without a stream for retransmissions an exact copy has to be sent later.
    var span = storage.mutableSpan
    var all = span.mutableBytes
    if slot.sendTimeOffset > 0 { all.store(uint24: Self.absoluteSendTime(now), at: offset + slot.sendTimeOffset) }
    if slot.transportOffset > 0 { all.store(uint16: transportSequenceNumber ?? 0, at: offset + slot.transportOffset) }
    packet.copy(all.bytes.extracting(offset..<offset + slot.count), at: 0)
    lastPacket = PacketDescription(hasTransportSequenceNumber: slot.transportOffset > 0 && transportSequenceNumber != nil)
    count(slot)
    mediaPacketsSent &+= 1
    mediaBytesSent &+= UInt32(slot.count - slot.header)
    if slot.isFirstOfFrame { firstPacketTime = now }
    if slot.isLastOfFrame {
      statistics.framesSent += 1
      lastPacket.finishedFrame = SentFrame(captured: slot.captured, first: firstPacketTime, last: now)
    }
    return slot.count
  }

  private mutating func count(_ slot: Slot) {
    statistics.packetsSent += 1
    statistics.headerBytesSent += Int64(slot.header)
    statistics.bytesSent += Int64(slot.count - slot.header)
  }

  private mutating func retransmit(
    _ number: Int, into packet: inout MutableRawSpan, _ transportSequenceNumber: UInt16?, _ now: Instant
  ) -> Int {
    let index = position(number)
    slots[index].isRetransmissionPending = false
    slots[index].retransmissions &+= 1
    slots[index].time = now
    let slot = slots[index]
    count(slot)
    statistics.retransmittedPacketsSent += 1
    statistics.retransmittedBytesSent += Int64(slot.count - slot.header)
    let offset = index * slotCount
    guard let ssrc = configuration.retransmissionSSRC, let payloadType = configuration.retransmissionPayloadTypes[slot.payloadType] else {
      // The same sequence number means the same SRTP key stream: only the very same bytes may go out again. With other header bytes
      // AES-GCM would give its authentication key away.
      packet.copy(storage.span.bytes.extracting(offset..<offset + slot.count), at: 0)
      lastPacket = PacketDescription(isRetransmission: true)
      return slot.count
    }
    lastPacket = PacketDescription(
      hasTransportSequenceNumber: slot.transportOffset > 0 && transportSequenceNumber != nil, isRetransmission: true)
    let number = retransmissionSequenceNumber
    retransmissionSequenceNumber &+= 1
    precondition(packet.byteCount >= slot.count + Retransmission.overhead, "the caller's buffer must hold the largest packet")
    let bytes = storage.span.bytes.extracting(offset..<offset + slot.count)
    packet.copy(bytes.extracting(0..<slot.header), at: 0)
    packet.store(uint8: bytes.uint8(at: 1) & 0x80 | payloadType, at: 1)
    packet.store(uint16: number, at: 2)
    packet.store(uint32: ssrc, at: 8)
    packet.store(uint16: slot.sequenceNumber, at: slot.header)
    packet.copy(bytes.extracting(slot.header..<slot.count), at: slot.header + Retransmission.overhead)
    if slot.sendTimeOffset > 0 { packet.store(uint24: Self.absoluteSendTime(now), at: slot.sendTimeOffset) }
    if slot.transportOffset > 0 { packet.store(uint16: transportSequenceNumber ?? 0, at: slot.transportOffset) }
    if slot.ridOffset > 0, let identifier = configuration.extensionMap.identifier(for: .repairedRid) {
      let isTwoByteForm = bytes.uint16(at: 12) != 0xBEDE
      packet.store(
        uint8: isTwoByteForm ? identifier : identifier << 4 | bytes.uint8(at: slot.ridOffset) & 0x0F, at: slot.ridOffset)
    }
    return slot.count + Retransmission.overhead
  }

  /// 6.18 fixed-point seconds, which wrap after 64 s.
  private static func absoluteSendTime(_ now: Instant) -> UInt32 {
    let (seconds, nanoseconds) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let ticks = seconds &* 262_144 &+ (nanoseconds &* 262_144) / 1_000_000_000
    return UInt32(truncatingIfNeeded: ticks) & 0xFF_FFFF
  }

  // MARK: Feedback in

  /// Queues the packets that a NACK asks for, so far as they are kept, younger than a second or three round trips, and not on their way
  /// already.
  mutating func handle(nack: RTCP.Nack, now: Instant) {
    guard nack.mediaSSRC == configuration.ssrc else { return }
    statistics.nackCount += 1
    let roundTripTime = remote.roundTripTime ?? .zero
    let lifetime = max(Interval.milliseconds(1_000), roundTripTime * Int64(3))
    for sequenceNumber in nack.sequenceNumbers {
      let behind = Int(self.sequenceNumber(unsent) &- sequenceNumber)
      let index = unsent - behind
      // 0 behind, or far behind by wrapping, are packets never sent.
      guard behind > 0, isKept(index), pendingCount < pending.count else {
        statistics.retransmissionsRefused += 1
        continue
      }
      let slot = slots[position(index)]
      let age = now - slot.time
      // The receiver measures its own round trip, which jitter may make shorter than ours: three quarters tell a request that crossed the
      // packet from one that missed it.
      if slot.isRetransmissionPending || age > lifetime || slot.retransmissions > 0 && age < roundTripTime * 0.75 {
        statistics.retransmissionsRefused += 1
        continue
      }
      slots[position(index)].isRetransmissionPending = true
      pending[(pendingStart + pendingCount) % pending.count] = index
      pendingCount += 1
    }
  }

  /// Takes note of a picture loss indication.
  mutating func handle(pictureLossIndication indication: RTCP.PictureLossIndication) {
    guard indication.mediaSSRC == configuration.ssrc else { return }
    statistics.pliCount += 1
    isKeyFrameRequested = true
  }

  /// Takes note of a full intra request; a repeated one asks for nothing new.
  mutating func handle(fullIntraRequest request: RTCP.FullIntraRequest) {
    for entry in request.entries where entry.ssrc == configuration.ssrc {
      statistics.firCount += 1
      if entry.sequenceNumber != lastIntraRequest { isKeyFrameRequested = true }
      lastIntraRequest = entry.sequenceNumber
    }
  }

  /// Whether a key frame was asked for since the last call.
  mutating func takeKeyFrameRequest() -> Bool {
    defer { isKeyFrameRequested = false }
    return isKeyFrameRequested
  }

  /// Takes note of what the receiver says of the stream. `ntpTime` is now, by the clock that sender reports are written with.
  mutating func handle(reportBlock block: RTCP.ReportBlock, ntpTime: NTPTime) {
    guard block.ssrc == configuration.ssrc else { return }
    remote.fractionLost = Double(block.fractionLost) / 256
    remote.packetsLost = Int64(block.packetsLost)
    remote.jitter = Double(block.jitter) / Double(max(configuration.clockRate, 1))
    let expected = block.extendedHighestSequenceNumber &- UInt32(configuration.firstSequenceNumber)
    remote.packetsReceived = max(0, Int64(expected) + 1 - Int64(block.packetsLost))
    guard block.lastSenderReport != 0 else { return }
    let roundTrip = ntpTime.compact &- block.lastSenderReport &- block.delaySinceLastSenderReport
    // Clocks that run apart can make it negative, which shows as a huge number.
    guard roundTrip < 0x8000_0000 else { return }
    let time = max(NTPTime.interval(compact: roundTrip), .milliseconds(1))
    remote.roundTripTime = time
    remote.totalRoundTripTime += time
    remote.roundTripTimeMeasurements += 1
  }

  /// A report on the stream, which ties its RTP clock to the wall clock; nil before the first frame.
  func senderReport(now: Instant, ntpTime: NTPTime) -> RTCP.SenderReport? {
    guard let lastFrame else { return nil }
    let ticks = ((now - lastFrame.captured).seconds * Double(configuration.clockRate)).rounded()
    return RTCP.SenderReport(
      ssrc: configuration.ssrc, ntpTime: ntpTime, rtpTimestamp: lastFrame.timestamp &+ UInt32(truncatingIfNeeded: Int64(ticks)),
      packetCount: mediaPacketsSent, octetCount: mediaBytesSent)
  }
}
