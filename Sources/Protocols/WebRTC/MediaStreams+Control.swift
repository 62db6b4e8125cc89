import Base
import Bytes
import RTP

/// RTCP both ways, and what is due by time.
extension MediaStreams {
  /// RFC 4585 section 3.6.2 lets feedback go early; regular reports come once a second while video flows.
  static let reportInterval = Interval.seconds(1)

  var controlSource: UInt32 {
    for index in sending.indices where sending[index].isActive { return sending[index].stream.configuration.ssrc }
    return feedbackSource
  }

  /// The source of what concerns a transceiver's arriving media: its own sending side where there is one. Middle boxes tell by the sender of
  /// feedback which medium it belongs to.
  private func controlSource(of identifier: TransceiverIdentifier) -> UInt32 {
    sending.first { $0.identifier == identifier }?.stream.configuration.ssrc ?? controlSource
  }

  func ntpTime(_ now: Instant) -> NTPTime { NTPTime(unixNanoseconds: now.nanoseconds &+ clockOffset) }

  /// Queues feedback; alone where reduced-size packets were agreed on (RFC 5506), else behind an empty report.
  private mutating func send(_ packets: [RTCP.Packet], from source: UInt32) {
    let isReduced = transceivers.allSatisfy { $0.negotiated?.isReducedSizeRTCP ?? true }
    control.append(
      RTCP.write(
        isReduced
          ? packets
          : [
            .receiverReport(RTCP.ReceiverReport(ssrc: source)),
            .sourceDescription(RTCP.SourceDescription(ssrc: source, canonicalName: canonicalName)),
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
    for index in sending.indices where sending[index].kind == .audio { result = earliest(result, sending[index].tones.deadline) }
    return result
  }

  /// Does what is due. `roundTripTime` is that of the transport, which sets the pace of requests.
  mutating func handleTimeout(roundTripTime: Interval?, now: Instant) {
    if let roundTripTime, roundTripTime != self.roundTripTime {
      self.roundTripTime = roundTripTime
      for index in receiving.indices { receiving[index].stream.roundTripTime = roundTripTime }
    }
    sendFeedback(now: now)
    for index in sending.indices where sending[index].kind == .audio { sendTones(index, now: now) }
    if let due = nextReport, due <= now {
      sendReports(now: now)
      nextReport = now + MediaStreams.reportInterval
    }
  }

  /// Requests for lost packets and key frames, and transport-wide feedback, as they are due.
  mutating func sendFeedback(now: Instant) {
    for index in receiving.indices {
      var packets: [RTCP.Packet] = []
      let source = controlSource(of: receiving[index].identifier)
      receiving[index].stream.configuration.localSSRC = source
      receiving[index].stream.feedback(now: now, into: &packets)
      if !packets.isEmpty { send(packets, from: source) }
    }
    var packets: [RTCP.Packet] = []
    recorder.feedback(now: now, senderSSRC: controlSource, mediaSSRC: feedbackMediaSource, into: &packets)
    if !packets.isEmpty { send(packets, from: controlSource) }
  }

  /// Sender reports for what is sent, each with the report blocks of its transceiver, in one compound packet. The first one has the rest.
  private mutating func sendReports(now: Instant) {
    var blocks: [(identifier: TransceiverIdentifier, block: RTCP.ReportBlock)] = []
    for index in receiving.indices {
      if let block = receiving[index].stream.reportBlock(now: now) { blocks.append((receiving[index].identifier, block)) }
    }
    var reports: [RTCP.SenderReport] = []
    for sender in sending where sender.isActive {
      guard var report = sender.stream.senderReport(now: now, ntpTime: ntpTime(now)) else { continue }
      report.reportBlocks = blocks.filter { $0.identifier == sender.identifier }.map(\.block)
      blocks.removeAll { $0.identifier == sender.identifier }
      reports.append(report)
    }
    let rest = blocks.map(\.block)
    var packets: [RTCP.Packet]
    if reports.isEmpty {
      packets = [.receiverReport(RTCP.ReceiverReport(ssrc: controlSource, reportBlocks: Array(rest.prefix(31))))]
    } else {
      reports[0].reportBlocks = Array((reports[0].reportBlocks + rest).prefix(31))
      packets = reports.map { .senderReport($0) }
    }
    packets.append(.sourceDescription(RTCP.SourceDescription(ssrc: controlSource, canonicalName: canonicalName)))
    control.append(RTCP.write(packets))
  }

  mutating func sendGoodbye(_ sources: [UInt32]) {
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
