import Base
import Bytes
import RTP

/// All RTP streams of a connection, both ways, and the RTCP that goes with them.
struct MediaStreams: Sendable {
  enum Event: Sendable {
    case keyFrameRequested(TransceiverIdentifier)
    case targetBitrate(Int)
    case packetLoss(TransceiverIdentifier, Double)
    case frameSent(TransceiverIdentifier, SendStream.SentFrame)
  }

  /// One transceiver's sending side.
  struct Sending: Sendable {
    let identifier: TransceiverIdentifier
    let kind: MediaKind
    var codec: NegotiatedCodec { didSet { format = codec.capability.payloadFormat } }
    /// The codec's, kept ready: finding it takes text apart.
    private(set) var format: PayloadFormat?
    var stream: SendStream
    /// Random offset of the RTP time stamps of video.
    let timestampOffset: UInt32
    /// The share of sound that the peer was last said to lose, 0 to 1.
    var announcedLoss = 0.0
    /// While false nothing new is sent: the direction does not allow it.
    var isActive = true

    init(identifier: TransceiverIdentifier, kind: MediaKind, codec: NegotiatedCodec, stream: SendStream, timestampOffset: UInt32) {
      (self.identifier, self.kind, self.codec, self.stream) = (identifier, kind, codec, stream)
      (self.timestampOffset, format) = (timestampOffset, codec.capability.payloadFormat)
    }
  }

  /// One arriving source.
  struct Receiving: Sendable {
    let identifier: TransceiverIdentifier
    let kind: MediaKind
    /// Whether the peer named the source in its description, which then also takes it back.
    var isDeclared: Bool
    /// While false what arrives is dropped: the direction does not allow it.
    var isActive = true
    var formats: [UInt8: NegotiatedMedia.ReceiveFormat]
    var extensionMap: HeaderExtensionMap
    var stream: ReceiveStream
    /// The payload type that came last.
    var payloadType: UInt8?

    /// The codec that came last.
    var codec: NegotiatedCodec? {
      guard let payloadType, case .media(let capability) = formats[payloadType] else { return nil }
      return NegotiatedCodec(payloadType: payloadType, capability: capability)
    }
  }

  /// Where an arriving source belongs.
  struct Route: Sendable {
    var index: Int
    var isRetransmission: Bool
  }

  let canonicalName: String
  /// The source of feedback while nothing is sent (RFC 8108 section 4 lets a receiver use any).
  let feedbackSource: UInt32
  private(set) var sending: [Sending] = []
  var receiving: [Receiving] = []
  var counters = Counters()
  var routes: [UInt32: Route] = [:]
  var transceivers: [Transceiver] = []
  /// For packets of sources that nobody knows.
  var extensionMap = HeaderExtensionMap()
  private var pacer: Pacer
  private var bitrate: BitrateTarget
  private var history = SentPackets()
  var recorder = TransportFeedbackRecorder()
  var usesTransportFeedback = false
  var feedbackMediaSource: UInt32 = 0
  private var events = Queue<Event>()
  private var control = Queue<[UInt8]>()
  var roundTripTime: Interval?
  private var nextReport: Instant?
  private var clockOffset: Int64 = 0
  private var random: RandomSource
  private var turn = 0

  /// RFC 4585 section 3.6.2 lets feedback go early; regular reports come once a second while video flows.
  private static let reportInterval = Interval.seconds(1)

  init(canonicalName: String, startBitrate: Int, maximumBitrate: Int, source: UInt32) {
    (self.canonicalName, feedbackSource) = (canonicalName, source)
    pacer = Pacer(targetBitrate: startBitrate)
    bitrate = BitrateTarget(initial: startBitrate, range: min(100_000, startBitrate)...max(maximumBitrate, startBitrate))
    random = RandomSource(seed: UInt64(source) << 32 | UInt64(startBitrate & 0xFFFF_FFFF))
  }

  var targetBitrate: Int { bitrate.bitrate }

  // MARK: What was agreed on

  /// Follows the transceivers after an agreement. Those that are not in the list are gone.
  mutating func apply(_ list: [Transceiver], now: Instant) {
    let known = Set(list.map(\.identifier))
    for sender in sending where !known.contains(sender.identifier) { stop(sender.identifier) }
    sending.removeAll { !known.contains($0.identifier) }
    removeReceiving { !known.contains($0.identifier) }
    transceivers = list
    (extensionMap, usesTransportFeedback) = (HeaderExtensionMap(), false)
    for negotiated in list.compactMap(\.negotiated) {
      for (kind, identifier) in negotiated.extensions.sorted(by: { $0.key.rawValue < $1.key.rawValue })
      where extensionMap[identifier] == nil && extensionMap.identifier(for: kind) == nil {
        _ = extensionMap.set(kind, identifier: identifier)
      }
      if negotiated.codecs.contains(where: { $0.capability.feedback.contains("transport-cc") }),
        negotiated.extensions[.transportSequenceNumber] != nil
      {
        usesTransportFeedback = true
      }
    }
    for transceiver in list { applySending(transceiver) }
    for transceiver in list { applyReceiving(transceiver) }
    if nextReport == nil { nextReport = now + MediaStreams.reportInterval / 2 }
  }

  private mutating func applySending(_ transceiver: Transceiver) {
    let index = sending.firstIndex { $0.identifier == transceiver.identifier }
    guard transceiver.currentDirection?.sends == true, !transceiver.isStopping,
      transceiver.sendParameters.encodings.contains(where: \.isActive), let codec = transceiver.sendCodec,
      let negotiated = transceiver.negotiated
    else {
      if let index { sending[index].isActive = false }
      return
    }
    let retransmissions = negotiated.codecs.reduce(into: [UInt8: UInt8]()) { $0[$1.payloadType] = $1.retransmissionPayloadType }
    if let index {
      sending[index].codec = codec
      sending[index].isActive = true
      sending[index].stream.configuration.clockRate = codec.capability.clockRate
      sending[index].stream.configuration.extensionMap = negotiated.extensionMap
      sending[index].stream.configuration.retransmissionSSRC = retransmissions.isEmpty ? nil : transceiver.retransmissionSource
      sending[index].stream.configuration.retransmissionPayloadTypes = retransmissions
      sending[index].stream.configuration.mid = transceiver.mid
      return
    }
    var configuration = SendStream.Configuration(ssrc: transceiver.source, clockRate: codec.capability.clockRate)
    configuration.retransmissionSSRC = retransmissions.isEmpty ? nil : transceiver.retransmissionSource
    configuration.retransmissionPayloadTypes = retransmissions
    configuration.extensionMap = negotiated.extensionMap
    configuration.mid = transceiver.mid
    configuration.capacity = transceiver.kind == .video ? 1_024 : 128
    configuration.firstSequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    configuration.firstRetransmissionSequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    configuration.firstPictureIdentifier = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    sending.append(
      Sending(
        identifier: transceiver.identifier, kind: transceiver.kind, codec: codec, stream: SendStream(configuration),
        timestampOffset: UInt32(truncatingIfNeeded: random.next())))
  }

  /// Stops sending and receiving at once (W3C `RTCRtpTransceiver.stop()`); the peer is told by a goodbye (RFC 3550 section 6.6).
  mutating func stop(_ identifier: TransceiverIdentifier) {
    for index in receiving.indices where receiving[index].identifier == identifier { receiving[index].isActive = false }
    guard let index = sending.firstIndex(where: { $0.identifier == identifier && $0.isActive }) else { return }
    sendGoodbye([sending[index].stream.configuration.ssrc])
    sending[index].isActive = false
  }

  /// Follows W3C `setParameters`: what is not active sends nothing.
  mutating func setParameters(_ parameters: SendParameters, of identifier: TransceiverIdentifier) {
    guard let index = transceivers.firstIndex(where: { $0.identifier == identifier }) else { return }
    transceivers[index].sendParameters = parameters
    applySending(transceivers[index])
  }

  // MARK: Receiving

  mutating func requestKeyFrame(of identifier: TransceiverIdentifier, now: Instant) {
    guard let index = receiving.lastIndex(where: { $0.identifier == identifier }) else { return }
    receiving[index].stream.requestKeyFrame(now: now)
    sendFeedback(now: now)
  }

  /// Gives up on packets before `sequenceNumber`, which the jitter buffer went on without: they are not asked for any more.
  mutating func discardMissing(of identifier: TransceiverIdentifier, before sequenceNumber: UInt16) {
    guard let index = receiving.lastIndex(where: { $0.identifier == identifier }) else { return }
    receiving[index].stream.discardMissing(before: sequenceNumber)
  }

  // MARK: Sending

  mutating func sendVideo(
    _ frame: RawSpan, isKeyFrame: Bool, captureTime: Instant, rotation: UInt8, on identifier: TransceiverIdentifier, now: Instant
  ) {
    guard let index = activeSender(identifier) else { return counters.count("rtp.inactiveSender") }
    guard let format = sending[index].format else { return }
    // 90 ticks in a millisecond; the product of nanoseconds and 9 fits for centuries.
    let ticks = UInt32(truncatingIfNeeded: captureTime.nanoseconds / 1_000 * 9 / 100)
    var description = SendStream.Frame(
      format: format, payloadType: sending[index].codec.payloadType, timestamp: sending[index].timestampOffset &+ ticks)
    description.captured = captureTime
    description.isKeyFrame = isKeyFrame
    description.videoOrientation = rotation
    description.absoluteCaptureTime = isKeyFrame ? ntpTime(captureTime) : nil
    if !sending[index].stream.enqueue(frame: frame, description, now: now) {
      counters.count("rtp.queueFull")
      events.append(.keyFrameRequested(identifier))
    }
    updatePacer()
  }

  mutating func sendAudio(
    _ frame: RawSpan, timestamp: UInt32, captureTime: Instant, level: UInt8, on identifier: TransceiverIdentifier, now: Instant
  ) {
    guard let index = activeSender(identifier) else { return counters.count("rtp.inactiveSender") }
    guard let format = sending[index].format else { return }
    var description = SendStream.Frame(format: format, payloadType: sending[index].codec.payloadType, timestamp: timestamp)
    description.captured = captureTime
    description.audioLevel = HeaderExtensions.AudioLevel(level: level, isVoice: level < 60)
    if !sending[index].stream.enqueue(frame: frame, description, now: now) { counters.count("rtp.queueFull") }
  }

  private func activeSender(_ identifier: TransceiverIdentifier) -> Int? {
    for index in sending.indices where sending[index].identifier == identifier && sending[index].isActive { return index }
    return nil
  }

  private mutating func updatePacer() {
    // By index: this runs for every packet, and an element taken out is a copy of many references.
    var queuedBytes = 0
    for index in sending.indices where sending[index].kind == .video { queuedBytes += sending[index].stream.queuedBytes }
    pacer.update(queuedBytes: queuedBytes)
  }

  /// The next packet to be protected and sent: control first, then sound, then pictures as the pacer allows.
  mutating func pollTransmit(into buffer: inout MutableRawSpan, now: Instant) -> (count: Int, isControl: Bool)? {
    if let packet = control.popFirst() {
      buffer.copy(packet.span.bytes, at: 0)
      return (packet.count, true)
    }
    for index in sending.indices where sending[index].kind == .audio {
      if let count = next(index, into: &buffer, now: now) { return (count, false) }
    }
    guard pacer.allows(now: now) else { return nil }
    for offset in sending.indices {
      // In turn, so that no stream holds up another.
      let index = (turn + offset) % sending.count
      guard sending[index].kind == .video, let count = next(index, into: &buffer, now: now) else { continue }
      turn = index + 1
      pacer.sent(count, now: now)
      updatePacer()
      if let frame = sending[index].stream.lastPacket.finishedFrame { events.append(.frameSent(sending[index].identifier, frame)) }
      return (count, false)
    }
    return nil
  }

  private mutating func next(_ index: Int, into buffer: inout MutableRawSpan, now: Instant) -> Int? {
    guard sending[index].stream.hasPackets,
      let count = sending[index].stream.nextPacket(into: &buffer, transportSequenceNumber: history.nextSequenceNumber, now: now)
    else { return nil }
    if sending[index].stream.lastPacket.hasTransportSequenceNumber {
      history.sent(count, now: now)
    }
    return count
  }

  // MARK: Control

  var controlSource: UInt32 {
    for index in sending.indices where sending[index].isActive { return sending[index].stream.configuration.ssrc }
    return feedbackSource
  }

  func ntpTime(_ now: Instant) -> NTPTime { NTPTime(unixNanoseconds: now.nanoseconds &+ clockOffset) }

  /// Queues feedback; alone where reduced-size packets were agreed on (RFC 5506), else behind an empty report.
  private mutating func send(_ packets: [RTCP.Packet]) {
    let isReduced = transceivers.allSatisfy { $0.negotiated?.isReducedSizeRTCP ?? true }
    control.append(
      RTCP.write(
        isReduced
          ? packets
          : [
            .receiverReport(RTCP.ReceiverReport(ssrc: controlSource)),
            .sourceDescription(RTCP.SourceDescription(ssrc: controlSource, canonicalName: canonicalName)),
          ] + packets))
  }

  /// Takes a decrypted RTCP packet.
  mutating func receiveControl(_ datagram: RawSpan, now: Instant) {
    let packets: [RTCP.Packet]
    do throws(MalformedPacket) {
      packets = try RTCP.parse(datagram)
    } catch {
      return counters.count("rtcp.malformed")
    }
    for packet in packets {
      switch packet {
      case .senderReport(let report):
        if let index = index(receiving: report.ssrc) { receiving[index].stream.handle(senderReport: report, now: now) }
        take(report.reportBlocks, now: now)
      case .receiverReport(let report): take(report.reportBlocks, now: now)
      case .nack(let nack):
        for index in sending.indices { sending[index].stream.handle(nack: nack, now: now) }
      case .pictureLossIndication(let indication):
        for index in sending.indices { sending[index].stream.handle(pictureLossIndication: indication) }
      case .fullIntraRequest(let request):
        for index in sending.indices { sending[index].stream.handle(fullIntraRequest: request) }
      case .receiverEstimatedMaximumBitrate(let estimate): adapt { $0.handle(receiverEstimatedMaximumBitrate: estimate.bitrate) }
      case .transportFeedback(let feedback):
        let roundTripTime = history.handle(feedback, now: now)
        let results = history.results
        adapt { $0.handle(results, roundTripTime: roundTripTime, now: now) }
      // The peer's tracks end with its description or its connection, not with a source's goodbye (W3C section 5.1).
      case .goodbye, .sourceDescription, .extendedReport, .unknown: break
      }
    }
    for index in sending.indices where sending[index].stream.takeKeyFrameRequest() {
      events.append(.keyFrameRequested(sending[index].identifier))
    }
  }

  private func index(receiving source: UInt32) -> Int? { routes[source].flatMap { $0.isRetransmission ? nil : $0.index } }

  private mutating func take(_ blocks: [RTCP.ReportBlock], now: Instant) {
    for block in blocks {
      for index in sending.indices {
        sending[index].stream.handle(reportBlock: block, ntpTime: ntpTime(now))
        if sending[index].kind == .audio, block.ssrc == sending[index].stream.configuration.ssrc { announceLoss(of: index) }
      }
    }
    // Where there is transport-wide feedback, it says more than report blocks.
    guard !usesTransportFeedback,
      let worst = sending.filter({ $0.kind == .video }).map(\.stream.remote).max(by: { $0.fractionLost < $1.fractionLost })
    else { return }
    adapt { $0.handle(fractionLost: worst.fractionLost, roundTripTime: worst.roundTripTime, now: now) }
  }

  /// Losses come in bursts: what is told rises at once and falls slowly.
  private mutating func announceLoss(of index: Int) {
    let loss = max(sending[index].stream.remote.fractionLost, sending[index].announcedLoss * 0.8)
    let told = loss < 0.005 ? 0 : loss
    guard told != sending[index].announcedLoss else { return }
    sending[index].announcedLoss = told
    events.append(.packetLoss(sending[index].identifier, told))
  }

  private mutating func adapt(_ body: (inout BitrateTarget) -> Void) {
    let before = bitrate.bitrate
    body(&bitrate)
    guard bitrate.bitrate != before else { return }
    pacer.targetBitrate = bitrate.bitrate
    events.append(.targetBitrate(bitrate.bitrate))
  }

  mutating func pollEvent() -> Event? { events.popFirst() }

  // MARK: Time

  /// Ties the monotonic clock to the wall clock, for sender reports: `unixNanoseconds` is the wall clock's time at `now`.
  mutating func setWallClock(unixNanoseconds: Int64, now: Instant) { clockOffset = unixNanoseconds &- now.nanoseconds }

  var deadline: Instant? {
    var result = earliest(nextReport, pacer.deadline)
    result = earliest(result, recorder.deadline)
    for index in receiving.indices { result = earliest(result, receiving[index].stream.deadline) }
    return result
  }

  /// Does what is due. `roundTripTime` is that of the transport, which sets the pace of requests.
  mutating func handleTimeout(roundTripTime: Interval?, now: Instant) {
    if let roundTripTime, roundTripTime != self.roundTripTime {
      self.roundTripTime = roundTripTime
      for index in receiving.indices { receiving[index].stream.roundTripTime = roundTripTime }
    }
    sendFeedback(now: now)
    if let due = nextReport, due <= now {
      sendReports(now: now)
      nextReport = now + MediaStreams.reportInterval
    }
  }

  /// Requests for lost packets and key frames, and transport-wide feedback, as they are due.
  private mutating func sendFeedback(now: Instant) {
    var packets: [RTCP.Packet] = []
    for index in receiving.indices { receiving[index].stream.feedback(now: now, into: &packets) }
    recorder.feedback(now: now, senderSSRC: controlSource, mediaSSRC: feedbackMediaSource, into: &packets)
    if !packets.isEmpty { send(packets) }
  }

  /// Sender reports for what is sent, and report blocks for what is received, in one compound packet.
  private mutating func sendReports(now: Instant) {
    var blocks: [RTCP.ReportBlock] = []
    for index in receiving.indices {
      if let block = receiving[index].stream.reportBlock(now: now) { blocks.append(block) }
    }
    var packets: [RTCP.Packet] = []
    for sender in sending where sender.isActive {
      guard var report = sender.stream.senderReport(now: now, ntpTime: ntpTime(now)) else { continue }
      if packets.isEmpty { report.reportBlocks = Array(blocks.prefix(31)) }
      packets.append(.senderReport(report))
    }
    if packets.isEmpty { packets = [.receiverReport(RTCP.ReceiverReport(ssrc: controlSource, reportBlocks: Array(blocks.prefix(31))))] }
    packets.append(.sourceDescription(RTCP.SourceDescription(ssrc: controlSource, canonicalName: canonicalName)))
    control.append(RTCP.write(packets))
  }

  private mutating func sendGoodbye(_ sources: [UInt32]) {
    control.append(
      RTCP.write([
        .receiverReport(RTCP.ReceiverReport(ssrc: controlSource)),
        .sourceDescription(RTCP.SourceDescription(ssrc: controlSource, canonicalName: canonicalName)),
        .goodbye(RTCP.Goodbye(ssrcs: sources)),
      ]))
  }

  /// Queues a goodbye for all that was sent.
  mutating func close() {
    let sources = sending.filter(\.isActive).map(\.stream.configuration.ssrc)
    if !sources.isEmpty { sendGoodbye(Array(sources.prefix(31))) }
    for index in sending.indices { sending[index].isActive = false }
  }
}
