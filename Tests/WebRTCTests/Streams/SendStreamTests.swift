import Base
import Bytes
import RTP
import Testing

@testable import WebRTC

@Suite struct SendStreamTests {
  private func stream(
    capacity: Int = 16, retransmission: UInt32? = 2, rid: String? = nil, map: HeaderExtensionMap = StreamUnderTest.extensionMap
  ) -> SendStream {
    SendStream(
      SendStream.Configuration(
        ssrc: 1, retransmissionSSRC: retransmission, retransmissionPayloadTypes: [96: 97], clockRate: 90_000, extensionMap: map, mid: "v",
        rid: rid, capacity: capacity, firstSequenceNumber: 65_534, firstRetransmissionSequenceNumber: 500))
  }

  private func frame(isKeyFrame: Bool = false, timestamp: UInt32 = 1_000) -> SendStream.Frame {
    SendStream.Frame(format: .vp8, payloadType: 96, timestamp: timestamp, isKeyFrame: isKeyFrame)
  }

  private func enqueue(_ stream: inout SendStream, _ count: Int, at milliseconds: Int64 = 0, isKeyFrame: Bool = false) -> Bool {
    let bytes = [UInt8](repeating: 5, count: count)
    return stream.enqueue(frame: bytes.span.bytes, frame(isKeyFrame: isKeyFrame), now: .zero + .milliseconds(milliseconds))
  }

  private func next(_ stream: inout SendStream, _ number: UInt16? = 7, at milliseconds: Int64 = 0) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 1_300)
    var span = buffer.mutableSpan
    var target = span.mutableBytes
    guard let count = stream.nextPacket(into: &target, transportSequenceNumber: number, now: .zero + .milliseconds(milliseconds)) else {
      return nil
    }
    return Array(buffer.prefix(count))
  }

  private func parse(_ packet: [UInt8], _ map: HeaderExtensionMap = StreamUnderTest.extensionMap) throws -> (Header, HeaderExtensions) {
    let header = try Header(parsing: packet.span.bytes)
    return (header, HeaderExtensions(parsing: packet.span.bytes, header: header, map: map))
  }

  private func nack(_ numbers: UInt16...) -> RTCP.Nack { RTCP.Nack(senderSSRC: 9, mediaSSRC: 1, sequenceNumbers: numbers) }

  @Test func aFrameLeavesAsPacketsInSequenceWithTheMarkerOnTheLast() throws {
    var stream = stream()
    #expect(enqueue(&stream, 3_000, isKeyFrame: true))
    #expect(stream.queuedPackets == 3 && stream.hasPackets)
    var headers: [Header] = []
    for index in 0..<3 {
      let packet = try #require(next(&stream, UInt16(40 + index), at: 1_500))
      let (header, extensions) = try parse(packet)
      headers.append(header)
      #expect(packet.count <= 1_200 - 2)
      #expect(extensions.mid == "v" && extensions.transportSequenceNumber == UInt16(40 + index))
      #expect(extensions.absoluteSendTime == 393_216)
    }
    #expect(headers.map(\.sequenceNumber) == [65_534, 65_535, 0])
    #expect(headers.map(\.isMarked) == [false, false, true])
    #expect(headers.allSatisfy { $0.ssrc == 1 && $0.payloadType == 96 && $0.timestamp == 1_000 })
    #expect(next(&stream) == nil)
    #expect(stream.queuedBytes == 0)
    let statistics = stream.statistics
    #expect(statistics.packetsSent == 3 && statistics.bytesSent == 3_012 && statistics.headerBytesSent == 3 * 28)
    #expect(statistics.framesSent == 1 && statistics.keyFramesEncoded == 1)
    #expect(statistics.totalPacketSendDelay == .milliseconds(4_500))
  }

  @Test func aRetransmissionRepeatsThePayloadOnItsOwnStream() throws {
    var stream = stream()
    #expect(enqueue(&stream, 100))
    let original = try #require(next(&stream, 7))
    stream.handle(nack: nack(65_534), now: .zero)
    var again = try #require(next(&stream, 8, at: 30))
    #expect(stream.lastPacket == .init(hasTransportSequenceNumber: true, isRetransmission: true))
    let (header, extensions) = try parse(again)
    #expect(header.ssrc == 2 && header.payloadType == 97 && header.sequenceNumber == 500 && header.isMarked)
    #expect(extensions.transportSequenceNumber == 8 && extensions.mid == "v")
    var span = again.mutableSpan
    var target = span.mutableBytes
    let range = try Retransmission.unwrap(&target, header: header, ssrc: 1, payloadType: 96)
    let restored = Array(again[range])
    let (originalHeader, _) = try parse(original)
    let (restoredHeader, _) = try parse(restored)
    #expect(restoredHeader == originalHeader)
    #expect(Array(restored[restoredHeader.payload]) == Array(original[originalHeader.payload]))
    #expect(stream.statistics.retransmittedPacketsSent == 1 && stream.statistics.retransmittedBytesSent == 104)
    #expect(stream.statistics.nackCount == 1)
  }

  @Test func withoutARetransmissionStreamTheVerySameBytesGoOutAgain() throws {
    var stream = stream(retransmission: nil)
    #expect(enqueue(&stream, 100))
    let original = try #require(next(&stream, 7, at: 5))
    stream.handle(nack: nack(65_534), now: .zero)
    #expect(next(&stream, 8, at: 100) == original)
    #expect(stream.lastPacket == .init(hasTransportSequenceNumber: false, isRetransmission: true))
  }

  @Test func aRetransmissionNamesTheEncodingThatItRepairs() throws {
    for first in [1, 20] as [UInt8] {
      var map = HeaderExtensionMap()
      for kind in HeaderExtension.allCases { map.set(kind, identifier: first + kind.rawValue) }
      var stream = stream(rid: "hi", map: map)
      #expect(enqueue(&stream, 100))
      #expect(try parse(try #require(next(&stream)), map).1.rid == "hi")
      stream.handle(nack: nack(65_534), now: .zero)
      let (_, extensions) = try parse(try #require(next(&stream)), map)
      #expect(extensions.rid == nil && extensions.repairedRid == "hi")
    }
  }

  @Test func packetsNeverSentOrForgottenOrAskedForTooOftenAreNotSentAgain() throws {
    var stream = stream(capacity: 4)
    #expect(enqueue(&stream, 100))
    stream.handle(nack: nack(65_534, 100, 65_000), now: .zero)
    #expect(!stream.hasRetransmissions)
    #expect(stream.statistics.retransmissionsRefused == 3)
    for _ in 0..<5 {
      while next(&stream) != nil {}
      #expect(enqueue(&stream, 100))
    }
    while next(&stream) != nil {}
    // Six packets were sent and four are kept: 0, 1, 2 and 3.
    stream.handle(nack: nack(65_535, 0, 0, 3), now: .zero)
    #expect(next(&stream) != nil)
    #expect(next(&stream) != nil)
    #expect(next(&stream) == nil)
    #expect(stream.statistics.retransmissionsRefused == 5)
    // Older than a second: nobody waits for it any more.
    stream.handle(nack: nack(2), now: .zero + .milliseconds(1_001))
    #expect(next(&stream) == nil)
  }

  @Test func aRepeatedRequestWaitsForARoundTrip() throws {
    var stream = stream()
    stream.handle(
      reportBlock: RTCP.ReportBlock(ssrc: 1, lastSenderReport: 65_536, delaySinceLastSenderReport: 0),
      ntpTime: NTPTime(bits: (65_536 + 6_554) << 16))
    #expect(abs((stream.remote.roundTripTime ?? .zero).milliseconds - 100) < 0.1)
    #expect(enqueue(&stream, 100))
    _ = next(&stream)
    for (time, isSent) in [(10, true), (60, false), (120, true)] as [(Int64, Bool)] {
      stream.handle(nack: nack(65_534), now: .zero + .milliseconds(time))
      #expect((next(&stream, at: time) != nil) == isSent)
    }
  }

  @Test func aFrameThatDoesNotFitTheQueueIsRefusedWhole() throws {
    var stream = stream(capacity: 4)
    #expect(enqueue(&stream, 2_500))
    let bytes = stream.queuedBytes
    #expect(!enqueue(&stream, 2_500))
    #expect(stream.queuedPackets == 3 && stream.queuedBytes == bytes && stream.statistics.framesDropped == 1)
    #expect(!enqueue(&stream, 0))
    var numbers: [UInt16] = []
    while let packet = next(&stream) { numbers.append(try parse(packet).0.sequenceNumber) }
    #expect(enqueue(&stream, 10))
    numbers.append(try parse(try #require(next(&stream))).0.sequenceNumber)
    #expect(numbers == [65_534, 65_535, 0, 1])
    // The refused frame used slots of packets that were sent: those must not be taken for them.
    stream.handle(nack: nack(65_534), now: .zero)
    #expect(next(&stream).map { try? parse($0).0.payloadType } == 97)
  }

  @Test func audioCarriesItsLevelAndTheMarkerItWasGiven() throws {
    var map = StreamUnderTest.extensionMap
    map.set(.audioLevel, identifier: 5)
    var stream = SendStream(SendStream.Configuration(ssrc: 1, clockRate: 48_000, extensionMap: map, capacity: 8))
    let bytes: [UInt8] = [1, 2, 3]
    var frame = SendStream.Frame(format: .opus, payloadType: 111, timestamp: 960)
    frame.isMarked = true
    frame.audioLevel = .init(level: 30, isVoice: true)
    stream.enqueue(frame: bytes.span.bytes, frame, now: .zero)
    frame.isMarked = false
    stream.enqueue(frame: bytes.span.bytes, frame, now: .zero)
    let (header, extensions) = try parse(try #require(next(&stream)), map)
    #expect(header.isMarked && extensions.audioLevel == .init(level: 30, isVoice: true))
    #expect(try !parse(try #require(next(&stream)), map).0.isMarked)
  }

  @Test func captureTimeTravelsInTheFirstPacketOfAFrameOnly() throws {
    var map = HeaderExtensionMap()
    map.set(.absoluteCaptureTime, identifier: 1)
    map.set(.videoOrientation, identifier: 2)
    var stream = stream(map: map)
    var frame = frame(isKeyFrame: true)
    frame.absoluteCaptureTime = NTPTime(bits: 77)
    frame.videoOrientation = 0
    let bytes = [UInt8](repeating: 5, count: 2_000)
    stream.enqueue(frame: bytes.span.bytes, frame, now: .zero)
    let first = try parse(try #require(next(&stream)), map).1
    let second = try parse(try #require(next(&stream)), map).1
    #expect(first.absoluteCaptureTime == 77 && second.absoluteCaptureTime == nil)
    #expect(first.videoOrientation == 0)
  }

  @Test func keyFrameRequestsAreCountedAndRepeatedOnesIgnored() {
    var stream = stream()
    stream.handle(pictureLossIndication: .init(senderSSRC: 9, mediaSSRC: 5))
    #expect(!stream.isKeyFrameRequested)
    stream.handle(pictureLossIndication: .init(senderSSRC: 9, mediaSSRC: 1))
    let isRequested = stream.takeKeyFrameRequest()
    #expect(isRequested && !stream.isKeyFrameRequested)
    stream.handle(fullIntraRequest: .init(senderSSRC: 9, entries: [.init(ssrc: 1, sequenceNumber: 3)]))
    _ = stream.takeKeyFrameRequest()
    stream.handle(fullIntraRequest: .init(senderSSRC: 9, entries: [.init(ssrc: 1, sequenceNumber: 3)]))
    #expect(!stream.isKeyFrameRequested)
    #expect(stream.statistics.pliCount == 1 && stream.statistics.firCount == 2)
  }

  @Test func reportsTieTheRTPClockToTheWallClock() throws {
    var stream = stream()
    #expect(stream.senderReport(now: .zero, ntpTime: NTPTime(bits: 0)) == nil)
    #expect(enqueue(&stream, 100))
    _ = next(&stream)
    let report = try #require(stream.senderReport(now: .zero + .milliseconds(500), ntpTime: NTPTime(bits: 9)))
    #expect(report.rtpTimestamp == 46_000 && report.packetCount == 1 && report.octetCount == 104 && report.ntpTime.bits == 9)
    stream.handle(
      reportBlock: RTCP.ReportBlock(ssrc: 1, fractionLost: 64, packetsLost: 2, extendedHighestSequenceNumber: 65_543, jitter: 900),
      ntpTime: NTPTime(bits: 0))
    #expect(stream.remote.fractionLost == 0.25 && stream.remote.packetsLost == 2 && stream.remote.packetsReceived == 8)
    #expect(abs(stream.remote.jitter - 0.01) < 1e-9 && stream.remote.roundTripTime == nil)
  }

  @Test func anyRequestsAreAnsweredWithPacketsThatWereSent() throws {
    var random = RandomSource(seed: 22)
    var stream = stream(capacity: 64)
    var sent: [UInt16: [UInt8]] = [:]
    var order: [UInt16] = []
    var restored = 0
    for time in 0..<3_000 as Range<Int64> {
      // Some frames are empty and some find the queue full: refused ones must leave no trace in what was sent before.
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: time), count: Int.random(in: 0...2, using: &random) * 1_500)
      stream.enqueue(frame: bytes.span.bytes, frame(timestamp: UInt32(time)), now: .zero + .milliseconds(time))
      let numbers = (0..<Int.random(in: 0...20, using: &random)).map { _ in UInt16.random(in: 0...65_535, using: &random) }
      let recent = order.suffix(64).randomElement(using: &random).map { [$0] } ?? []
      stream.handle(nack: RTCP.Nack(senderSSRC: 9, mediaSSRC: 1, sequenceNumbers: numbers + recent), now: .zero + .milliseconds(time))
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        guard let packet = next(&stream, at: time) else { break }
        let header = try parse(packet).0
        let payload = Array(packet[header.payload])
        let mark = [UInt8(header.isMarked ? 1 : 0)] + packet[4..<8]
        if header.ssrc == 1 {
          sent[header.sequenceNumber] = mark + payload
          order.append(header.sequenceNumber)
        } else {
          #expect(sent[UInt16(payload[0]) << 8 | UInt16(payload[1])] == mark + payload[2...])
          restored += 1
        }
      }
    }
    #expect(restored > 1_000)
  }
}
