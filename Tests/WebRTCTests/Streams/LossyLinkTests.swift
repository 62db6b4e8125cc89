import Base
import Bytes
import RTP
import Testing

@testable import WebRTC

/// One direction of a path: loses, delays and reorders datagrams, the same for the same seed.
struct LossyLink {
  var loss = 0.0
  var delay = Interval.milliseconds(50)
  var jitter = Interval.zero
  private var random: RandomSource
  private var flying: [(due: Instant, bytes: [UInt8])] = []

  init(seed: UInt64, loss: Double, delay: Interval = .milliseconds(50), jitter: Interval = .zero) {
    (self.loss, self.delay, self.jitter) = (loss, delay, jitter)
    random = RandomSource(seed: seed)
  }

  mutating func send(_ bytes: [UInt8], now: Instant) {
    if Double.random(in: 0..<1, using: &random) < loss { return }
    let due = now + delay + jitter * Double.random(in: 0...1, using: &random)
    let index = flying.firstIndex { $0.due > due } ?? flying.count
    flying.insert((due, bytes), at: index)
  }

  mutating func receive(now: Instant) -> [[UInt8]] {
    var result: [[UInt8]] = []
    while let first = flying.first, first.due <= now {
      result.append(first.bytes)
      flying.removeFirst()
    }
    return result
  }
}

/// A stream of VP8 frames over a lossy path, with the feedback that a call would send.
struct StreamUnderTest {
  var sender: SendStream
  var receiver: ReceiveStream
  var recorder = TransportFeedbackRecorder()
  var sent = SentPackets(first: 65_500)
  var forward: LossyLink
  var back: LossyLink
  var now = Instant.zero
  /// Payloads by sequence number as they were sent, and as they arrived.
  var sentPayloads: [Int64: [UInt8]] = [:]
  var arrivedPayloads: [Int64: [UInt8]] = [:]
  var duplicates = 0
  var acknowledged = 0
  var feedbackRoundTrip: Interval?
  private var sentNumbers = SequenceNumberUnwrapper()
  private var arrivedNumbers = SequenceNumberUnwrapper()
  private let map = extensionMap

  static let extensionMap: HeaderExtensionMap = {
    var map = HeaderExtensionMap()
    map.set(.mid, identifier: 4)
    map.set(.absoluteSendTime, identifier: 2)
    map.set(.transportSequenceNumber, identifier: 3)
    return map
  }()

  init(forward: LossyLink, back: LossyLink, hasRetransmissionStream: Bool = true, isNackEnabled: Bool = true) {
    sender = SendStream(
      SendStream.Configuration(
        ssrc: 1, retransmissionSSRC: hasRetransmissionStream ? 2 : nil, retransmissionPayloadTypes: [96: 97], clockRate: 90_000,
        extensionMap: Self.extensionMap, mid: "0", firstSequenceNumber: 65_000, firstRetransmissionSequenceNumber: 65_530))
    receiver = ReceiveStream(
      ReceiveStream.Configuration(
        ssrc: 1, retransmissionSSRC: 2, localSSRC: 9,
        codecs: [
          96: .init(format: .vp8, clockRate: 90_000), 97: .init(format: .rtx, clockRate: 90_000, associatedPayloadType: 96),
        ], isNackEnabled: isNackEnabled, isPictureLossIndicationEnabled: true))
    receiver.roundTripTime = .milliseconds(100)
    (self.forward, self.back) = (forward, back)
  }

  mutating func enqueue(_ index: Int, bytes count: Int) {
    var frame = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ index) }
    frame[0] = index == 0 ? 0 : 1
    sender.enqueue(
      frame: frame.span.bytes,
      SendStream.Frame(
        format: .vp8, payloadType: 96, timestamp: UInt32(truncatingIfNeeded: 0xFFFF_0000 + index * 3_000), isKeyFrame: index == 0),
      now: now)
  }

  /// Sends all that is queued, moves time by a millisecond, and delivers.
  mutating func step() throws {
    var buffer = [UInt8](repeating: 0, count: 1_500)
    while true {
      var span = buffer.mutableSpan
      var target = span.mutableBytes
      guard let count = sender.nextPacket(into: &target, transportSequenceNumber: sent.nextSequenceNumber, now: now) else { break }
      if sender.lastPacket.hasTransportSequenceNumber { sent.sent(count, now: now) }
      let packet = Array(buffer.prefix(count))
      if !sender.lastPacket.isRetransmission {
        let header = try Header(parsing: packet.span.bytes)
        sentPayloads[sentNumbers.unwrap(header.sequenceNumber)] = Array(packet[header.payload])
      }
      forward.send(packet, now: now)
    }
    now += .milliseconds(1)
    for var packet in forward.receive(now: now) {
      let header = try Header(parsing: packet.span.bytes)
      let extensions = HeaderExtensions(parsing: packet.span.bytes, header: header, map: map)
      #expect(extensions.mid == "0")
      if let number = extensions.transportSequenceNumber { recorder.record(number, now: now) }
      var span = packet.mutableSpan
      var target = span.mutableBytes
      guard let received = receiver.receive(&target, header: header, now: now) else { continue }
      let original = Array(packet[received.range])
      #expect(received.header.ssrc == 1 && received.header.payloadType == 96)
      let number = arrivedNumbers.unwrap(received.header.sequenceNumber)
      if arrivedPayloads[number] != nil { duplicates += 1 }
      arrivedPayloads[number] = Array(original[received.header.payload])
    }
    var feedback: [RTCP.Packet] = []
    receiver.feedback(now: now, into: &feedback)
    recorder.feedback(now: now, senderSSRC: 9, mediaSSRC: 1, into: &feedback)
    if !feedback.isEmpty { back.send(RTCP.write(feedback), now: now) }
    for datagram in back.receive(now: now) {
      for packet in try RTCP.parse(datagram.span.bytes) {
        switch packet {
        case .nack(let nack): sender.handle(nack: nack, now: now)
        case .pictureLossIndication(let indication): sender.handle(pictureLossIndication: indication)
        case .transportFeedback(let report):
          feedbackRoundTrip = sent.handle(report, now: now) ?? feedbackRoundTrip
          acknowledged += sent.results.count { $0.arrival != nil }
        default: break
        }
      }
    }
  }

  /// Sends 30 frames a second for `seconds`, then lets the last losses be repaired.
  mutating func run(seconds: Int, bytesPerFrame: Int = 5_000) throws {
    for index in 0..<seconds * 30 {
      enqueue(index, bytes: bytesPerFrame)
      for _ in 0..<33 { try step() }
    }
    for _ in 0..<3_000 { try step() }
  }
}

@Suite struct LossyLinkTests {
  /// Packets lost at the very end leave no gap, so nobody can ask for them.
  private func missing(_ test: StreamUnderTest) -> [Int64] {
    let last = test.arrivedPayloads.keys.max() ?? 0
    return test.sentPayloads.keys.filter { $0 < last && test.arrivedPayloads[$0] == nil }
  }

  @Test(arguments: [true, false]) func everyLostPacketIsRepairedAndNoneComesTwice(hasRetransmissionStream: Bool) throws {
    var test = StreamUnderTest(
      forward: LossyLink(seed: 1, loss: 0.05, jitter: .milliseconds(8)), back: LossyLink(seed: 2, loss: 0.05, jitter: .milliseconds(8)),
      hasRetransmissionStream: hasRetransmissionStream)
    try test.run(seconds: 20)
    #expect(test.sentPayloads.count == 3_000)
    #expect(missing(test) == [])
    #expect(test.arrivedPayloads.allSatisfy { test.sentPayloads[$0.key] == $0.value })
    #expect(test.duplicates == 0)
    // One request repairs most packets: little more is sent again than was lost.
    let again = test.sender.statistics.retransmittedPacketsSent
    #expect((120...260).contains(again))
    let statistics = test.receiver.currentStatistics
    #expect(statistics.packetsUnrecovered == 0)
    if hasRetransmissionStream {
      #expect((100...220).contains(statistics.packetsLost))
      #expect(statistics.retransmittedPacketsReceived > 90)
    }
    #expect(statistics.nackCount > 50 && test.sender.statistics.nackCount <= statistics.nackCount)
    #expect(test.sender.statistics.framesSent == 600)
  }

  @Test func reorderingAloneCausesNoRequest() throws {
    var test = StreamUnderTest(forward: LossyLink(seed: 3, loss: 0, jitter: .milliseconds(9)), back: LossyLink(seed: 4, loss: 0))
    try test.run(seconds: 5)
    #expect(test.receiver.currentStatistics.nackCount == 0)
    #expect(test.arrivedPayloads.count == test.sentPayloads.count)
  }

  @Test func anOutageEndsInAKeyFrameRequestAndNoStorm() throws {
    var test = StreamUnderTest(forward: LossyLink(seed: 5, loss: 0), back: LossyLink(seed: 6, loss: 0))
    try test.run(seconds: 1)
    test.forward.loss = 1
    for index in 30..<120 {
      test.enqueue(index, bytes: 5_000)
      for _ in 0..<33 { try test.step() }
    }
    test.forward.loss = 0
    let before = test.receiver.currentStatistics
    for index in 120..<150 {
      test.enqueue(index, bytes: 5_000)
      for _ in 0..<33 { try test.step() }
    }
    let after = test.receiver.currentStatistics
    // 450 packets are missing: too many to ask for.
    #expect(after.nackCount == before.nackCount)
    #expect((1...8).contains(after.pliCount - before.pliCount))
    #expect(test.sender.isKeyFrameRequested)
    #expect(test.receiver.needsKeyFrame)
  }

  @Test func aDeafSenderIsNotAskedForEver() throws {
    // Requests never arrive: each missing packet is asked for ten times at most, and then a key frame is.
    var test = StreamUnderTest(forward: LossyLink(seed: 7, loss: 0.05), back: LossyLink(seed: 8, loss: 1))
    for index in 0..<150 {
      test.enqueue(index, bytes: 5_000)
      for _ in 0..<33 { try test.step() }
    }
    for _ in 0..<6_000 { try test.step() }
    let statistics = test.receiver.currentStatistics
    #expect(test.receiver.missingPackets == 0)
    #expect(statistics.packetsUnrecovered > 20)
    #expect(statistics.nackCount <= statistics.packetsUnrecovered * 10)
    #expect(statistics.pliCount > 0)
  }

  @Test func feedbackTellsOfEveryPacketAndOfTheRoundTrip() throws {
    var test = StreamUnderTest(
      forward: LossyLink(seed: 9, loss: 0.02, jitter: .milliseconds(5)), back: LossyLink(seed: 10, loss: 0))
    try test.run(seconds: 5)
    let arrived = test.receiver.currentStatistics.packetsReceived + test.receiver.currentStatistics.packetsDuplicated
    #expect(test.acknowledged == Int(arrived))
    let roundTrip = try #require(test.feedbackRoundTrip)
    #expect((99.0...210.0).contains(roundTrip.milliseconds))
  }
}
