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
    case tone(TransceiverIdentifier, String, rest: String)
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
    /// The encoding's place among those of the sender: W3C `encodingIndex`.
    var encodingIndex = 0
    /// The DTMF tones to be sent.
    var tones = ToneSender()
    /// The RTP time stamp of the sound sent last, and when it was captured: tones are on the same clock.
    var lastSound: (timestamp: UInt32, captured: Instant)?
    /// The payload type of telephone events on the codec's clock; nil when none was agreed on.
    var tonePayloadType: UInt8?

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
    /// What W3C `getSynchronizationSources` tells of the source.
    var lastPacket: RTPSource?
    /// On whose behalf it sent.
    var contributing = ContributingSources()

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
  var sending: [Sending] = []
  var receiving: [Receiving] = []
  var counters = Counters()
  var routes: [UInt32: Route] = [:]
  var transceivers: [Transceiver] = []
  /// For packets of sources that nobody knows.
  var extensionMap = HeaderExtensionMap()
  var pacer: Pacer
  var bitrate: BitrateTarget
  var history = SentPackets()
  var recorder = TransportFeedbackRecorder()
  var usesTransportFeedback = false
  var feedbackMediaSource: UInt32 = 0
  var events = Queue<Event>()
  var control = Queue<[UInt8]>()
  var roundTripTime: Interval?
  var nextReport: Instant?
  var clockOffset: Int64 = 0
  private var random: RandomSource
  private var turn = 0

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
    let encodings = transceiver.sendParameters.encodings
    for index in sending.indices where sending[index].identifier == transceiver.identifier { sending[index].isActive = false }
    guard transceiver.currentDirection?.sends == true, !transceiver.isStopping, let codec = transceiver.sendCodec,
      let negotiated = transceiver.negotiated
    else { return }
    for (place, encoding) in encodings.enumerated() {
      let source = transceiver.source(of: encoding)
      let index = sending.firstIndex { $0.stream.configuration.ssrc == source.media } ?? makeSending(transceiver, source, codec)
      let retransmissions = negotiated.codecs.reduce(into: [UInt8: UInt8]()) { $0[$1.payloadType] = $1.retransmissionPayloadType }
      sending[index].codec = codec
      sending[index].isActive = encoding.isActive
      sending[index].encodingIndex = place
      sending[index].tonePayloadType = negotiated.tonePayloadType
      sending[index].stream.configuration.clockRate = codec.capability.clockRate
      sending[index].stream.configuration.extensionMap = negotiated.extensionMap
      sending[index].stream.configuration.retransmissionSSRC = retransmissions.isEmpty ? nil : source.retransmission
      sending[index].stream.configuration.retransmissionPayloadTypes = retransmissions
      sending[index].stream.configuration.mid = transceiver.mid
      sending[index].stream.configuration.rid = encoding.rid
    }
  }

  private mutating func makeSending(_ transceiver: Transceiver, _ source: EncodingSource, _ codec: NegotiatedCodec) -> Int {
    var configuration = SendStream.Configuration(ssrc: source.media, clockRate: codec.capability.clockRate)
    configuration.capacity = transceiver.kind == .video ? 1_024 : 128
    configuration.firstSequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    configuration.firstRetransmissionSequenceNumber = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    configuration.firstPictureIdentifier = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    sending.append(
      Sending(
        identifier: transceiver.identifier, kind: transceiver.kind, codec: codec, stream: SendStream(configuration),
        timestampOffset: UInt32(truncatingIfNeeded: random.next())))
    return sending.count - 1
  }

  /// Stops sending and receiving at once (W3C `RTCRtpTransceiver.stop()`); the peer is told by a goodbye (RFC 3550 section 6.6).
  mutating func stop(_ identifier: TransceiverIdentifier) {
    for index in receiving.indices where receiving[index].identifier == identifier { receiving[index].isActive = false }
    let stopped = sending.indices.filter { sending[$0].identifier == identifier && sending[$0].isActive }
    guard !stopped.isEmpty else { return }
    sendGoodbye(stopped.map { sending[$0].stream.configuration.ssrc })
    for index in stopped { sending[index].isActive = false }
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

  /// The clock of the source that sends now.
  func senderClock(of identifier: TransceiverIdentifier) -> SenderClock? {
    var newest: (index: Int, arrival: Instant)?
    for index in receiving.indices where receiving[index].identifier == identifier {
      guard let arrival = receiving[index].stream.statistics.lastPacketReceived else { continue }
      if newest.map({ $0.arrival < arrival }) ?? true { newest = (index, arrival) }
    }
    guard let newest, let codec = receiving[newest.index].codec else { return nil }
    return receiving[newest.index].stream.senderClock(clockRate: codec.capability.clockRate)
  }

  // MARK: Sending

  mutating func sendVideo(
    _ frame: RawSpan, isKeyFrame: Bool, captureTime: Instant, rotation: UInt8, encoding: Int, on identifier: TransceiverIdentifier,
    now: Instant
  ) {
    guard let index = activeSender(identifier, encoding: encoding) else { return counters.count("rtp.inactiveSender") }
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
    sending[index].lastSound = (timestamp, captureTime)
    // A tone takes the place of the sound (RFC 4733 section 2.2).
    if sending[index].tones.isPlaying { return counters.count("rtp.toneInstead") }
    var description = SendStream.Frame(format: format, payloadType: sending[index].codec.payloadType, timestamp: timestamp)
    description.captured = captureTime
    description.audioLevel = HeaderExtensions.AudioLevel(level: level, isVoice: level < 60)
    if !sending[index].stream.enqueue(frame: frame, description, now: now) { counters.count("rtp.queueFull") }
  }

  private func activeSender(_ identifier: TransceiverIdentifier, encoding: Int = 0) -> Int? {
    for index in sending.indices
    where sending[index].isActive && sending[index].identifier == identifier && sending[index].encodingIndex == encoding { return index }
    return nil
  }

  mutating func updatePacer() {
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
}
