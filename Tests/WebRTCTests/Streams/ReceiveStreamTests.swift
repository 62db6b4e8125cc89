import Base
import Bytes
import RTP
import Testing

@testable import WebRTC

@Suite struct ReceiveStreamTests {
  private func stream(isNackEnabled: Bool = true) -> ReceiveStream {
    ReceiveStream(
      ReceiveStream.Configuration(
        ssrc: 1, retransmissionSSRC: 2, localSSRC: 9,
        codecs: [
          96: .init(format: .vp8, clockRate: 90_000), 97: .init(format: .rtx, clockRate: 90_000, associatedPayloadType: 96),
          98: .init(format: .rtx, clockRate: 90_000, associatedPayloadType: 50),
        ], isNackEnabled: isNackEnabled, isPictureLossIndicationEnabled: true))
  }

  private let keyFrame: [UInt8] = [0x10, 0, 1]
  private let deltaFrame: [UInt8] = [0x10, 1, 1]

  private func receive(
    _ stream: inout ReceiveStream, _ number: UInt16, at milliseconds: Int64 = 0, payloadType: UInt8 = 96, ssrc: UInt32 = 1,
    payload: [UInt8]? = nil
  ) throws -> ReceiveStream.ReceivedPacket? {
    var packet: [UInt8] = [0x80, payloadType, UInt8(number >> 8), UInt8(number & 255), 0, 0, 0, 0, 0, 0, 0, UInt8(ssrc)]
    packet += payload ?? keyFrame
    let header = try Header(parsing: packet.span.bytes)
    var span = packet.mutableSpan
    var target = span.mutableBytes
    return stream.receive(&target, header: header, now: .zero + .milliseconds(milliseconds))
  }

  private func feedback(_ stream: inout ReceiveStream, at milliseconds: Int64) -> [RTCP.Packet] {
    var packets: [RTCP.Packet] = []
    stream.feedback(now: .zero + .milliseconds(milliseconds), into: &packets)
    return packets
  }

  private func nack(_ numbers: UInt16...) -> RTCP.Packet { .nack(RTCP.Nack(senderSSRC: 9, mediaSSRC: 1, sequenceNumbers: numbers)) }

  @Test func aGapIsAskedForAfterAShortWaitAndAgainAfterARoundTrip() throws {
    var stream = stream()
    stream.roundTripTime = .milliseconds(40)
    #expect(try receive(&stream, 65_534) != nil)
    #expect(try receive(&stream, 1) != nil)
    #expect(stream.deadline == .zero + .milliseconds(10))
    #expect(feedback(&stream, at: 9).isEmpty)
    #expect(feedback(&stream, at: 10) == [nack(65_535, 0)])
    #expect(stream.deadline == .zero + .milliseconds(60))
    #expect(try receive(&stream, 500, at: 30, payloadType: 97, ssrc: 2, payload: [0, 0] + keyFrame)?.header.sequenceNumber == 0)
    #expect(feedback(&stream, at: 60) == [nack(65_535)])
    #expect(stream.deadline == .zero + .milliseconds(130))
    #expect(try receive(&stream, 501, at: 70, payloadType: 97, ssrc: 2, payload: [255, 255] + keyFrame) != nil)
    #expect(stream.deadline == nil && stream.missingPackets == 0)
    let statistics = stream.currentStatistics
    #expect(statistics.nackCount == 2 && statistics.packetsReceived == 4 && statistics.retransmittedPacketsReceived == 2)
    #expect(statistics.packetsLost == 2 && statistics.bytesReceived == 16 && statistics.headerBytesReceived == 48)
  }

  @Test func aPacketThatWasOnlyOvertakenIsNotAskedForAndWidensTheWait() throws {
    var stream = stream()
    for (number, time) in [(1, 0), (3, 0), (2, 9), (5, 20)] as [(UInt16, Int64)] { #expect(try receive(&stream, number, at: time) != nil) }
    #expect(feedback(&stream, at: 30).isEmpty)
    #expect(stream.deadline == Instant(nanoseconds: 31_250_000))
    #expect(feedback(&stream, at: 32) == [nack(4)])
  }

  @Test func duplicatesAreDroppedWhicheverWayTheyCome() throws {
    var stream = stream()
    #expect(try receive(&stream, 1) != nil)
    #expect(try receive(&stream, 1) == nil)
    #expect(try receive(&stream, 7, payloadType: 97, ssrc: 2, payload: [0, 1] + keyFrame) == nil)
    #expect(stream.currentStatistics.packetsDuplicated == 2)
  }

  @Test func aRetransmissionCannotBeginAStream() throws {
    var stream = stream()
    #expect(try receive(&stream, 7, payloadType: 97, ssrc: 2, payload: [0, 1] + keyFrame) == nil)
    #expect(try receive(&stream, 300) != nil)
    #expect(try receive(&stream, 8, payloadType: 97, ssrc: 2, payload: [0x40, 0] + keyFrame) == nil)
    #expect(try receive(&stream, 301) != nil)
  }

  @Test func malformedPacketsAreCountedAndDropped() throws {
    var stream = stream()
    #expect(try receive(&stream, 1, payloadType: 50) == nil)
    #expect(try receive(&stream, 1, payloadType: 98) == nil)
    #expect(try receive(&stream, 1, ssrc: 5) == nil)
    #expect(try receive(&stream, 1, payloadType: 97, ssrc: 2, payload: [1]) == nil)
    #expect(stream.currentStatistics.packetsMalformed == 4)
    // Probing for bandwidth with padding is no fault.
    #expect(try receive(&stream, 1, payloadType: 97, ssrc: 2, payload: []) == nil)
    #expect(stream.currentStatistics.packetsMalformed == 4)
  }

  @Test func withoutNackNothingIsAskedFor() throws {
    var stream = stream(isNackEnabled: false)
    #expect(try receive(&stream, 1) != nil)
    #expect(try receive(&stream, 9) != nil)
    #expect(stream.deadline == nil)
  }

  @Test func aStreamThatBeginsInTheMiddleIsAskedForAKeyFrameUntilOneComes() throws {
    var stream = stream()
    #expect(try receive(&stream, 1, payload: deltaFrame) != nil)
    #expect(feedback(&stream, at: 10).isEmpty)
    let indication = RTCP.Packet.pictureLossIndication(.init(senderSSRC: 9, mediaSSRC: 1))
    #expect(feedback(&stream, at: 20) == [indication])
    #expect(feedback(&stream, at: 200).isEmpty)
    #expect(feedback(&stream, at: 320) == [indication])
    #expect(try receive(&stream, 2, at: 330) != nil)
    #expect(stream.deadline == nil && !stream.needsKeyFrame)
    #expect(try receive(&stream, 3, at: 340, payload: deltaFrame) != nil)
    #expect(stream.deadline == nil)
    #expect(stream.currentStatistics.pliCount == 2)
  }

  @Test func keyFrameRequestsInARowAreOne() throws {
    var stream = stream()
    #expect(try receive(&stream, 1) != nil)
    for _ in 0..<5 { stream.requestKeyFrame(now: .zero) }
    #expect(feedback(&stream, at: 0).count == 1)
    #expect(try receive(&stream, 2, at: 10) != nil)
    stream.requestKeyFrame(now: .zero + .milliseconds(20))
    #expect(feedback(&stream, at: 20).isEmpty)
    #expect(feedback(&stream, at: 150).count == 1)
  }

  @Test func aRestartedSenderIsFollowedAndAStrayPacketIsNot() throws {
    var stream = stream()
    for number in 100..<110 as Range<UInt16> { #expect(try receive(&stream, number) != nil) }
    #expect(try receive(&stream, 20_000) == nil)
    #expect(try receive(&stream, 110) != nil)
    #expect(try receive(&stream, 50_000) == nil)
    #expect(try receive(&stream, 50_001) != nil)
    #expect(try receive(&stream, 50_002) != nil)
    #expect(stream.currentStatistics.packetsLost == 0 && stream.missingPackets == 0)
  }

  @Test func reportsAnswerTheSendersAndTellOfLoss() throws {
    var stream = stream()
    let nothing = stream.reportBlock(now: .zero)
    #expect(nothing == nil)
    #expect(try receive(&stream, 10) != nil)
    #expect(try receive(&stream, 13) != nil)
    let report = RTCP.SenderReport(
      ssrc: 1, ntpTime: NTPTime(bits: 0x0000_0001_0002_0000), rtpTimestamp: 90_000, packetCount: 4, octetCount: 50)
    stream.handle(senderReport: report, now: .zero + .milliseconds(1_000))
    let answer = stream.reportBlock(now: .zero + .milliseconds(1_500))
    let block = try #require(answer)
    #expect(block.ssrc == 1 && block.packetsLost == 2 && block.fractionLost == 128 && block.extendedHighestSequenceNumber == 13)
    #expect(block.lastSenderReport == 0x0001_0002 && block.delaySinceLastSenderReport == 32_768)
    #expect(stream.remote.packetsSent == 4 && stream.remote.bytesSent == 50 && stream.remote.reportsSent == 1)
    let clock = try #require(stream.senderClock(clockRate: 90_000))
    #expect(clock.captureTime(of: 135_000).bits == 0x0000_0001_8002_0000)
    #expect(clock.captureTime(of: 0).bits == 0x0000_0000_0002_0000)
    #expect(clock.arrival == .zero + .milliseconds(1_000))
  }

  @Test func whatTheJitterBufferPassedIsNotAskedFor() throws {
    var stream = stream()
    #expect(try receive(&stream, 1) != nil)
    #expect(try receive(&stream, 5) != nil)
    stream.discardMissing(before: 4)
    #expect(feedback(&stream, at: 50) == [nack(4)])
    stream.discardMissing(before: 5)
    #expect(stream.deadline == nil)
  }

  @Test func noSequenceOfPacketsTrapsAndFeedbackStaysBounded() throws {
    var random = RandomSource(seed: 21)
    var stream = stream()
    var now: Int64 = 0
    var number: UInt16 = 0
    for _ in 0..<20_000 {
      now += Int64.random(in: 0...20, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0: number = UInt16.random(in: 0...65_535, using: &random)
      case 1: number &+= UInt16.random(in: 0...400, using: &random)
      case 2: number &-= UInt16.random(in: 0...5_000, using: &random)
      default: number &+= 1
      }
      let payload = random.bytes(Int.random(in: 0...8, using: &random))
      _ = try receive(&stream, number, at: now, payloadType: [96, 96, 96, 97, 98, 3].randomElement(using: &random)!, payload: payload)
      if Int.random(in: 0..<5, using: &random) == 0 {
        for case .nack(let nack) in feedback(&stream, at: now) { #expect(nack.sequenceNumbers.count <= MissingPackets.limit) }
        if let deadline = stream.deadline { #expect(deadline > .zero + .milliseconds(now)) }
      }
      if Int.random(in: 0..<50, using: &random) == 0 {
        stream.discardMissing(before: UInt16.random(in: 0...65_535, using: &random))
        _ = stream.reportBlock(now: .zero + .milliseconds(now))
      }
      #expect(stream.missingPackets <= MissingPackets.limit)
    }
  }
}
