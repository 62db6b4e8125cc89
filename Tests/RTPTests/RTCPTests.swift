import Base
import Bytes
import Testing

@testable import RTP

func rtcpError(_ bytes: [UInt8]) -> MalformedPacket? {
  do {
    _ = try RTCP.parse(bytes.span.bytes)
    return nil
  } catch { return error }
}

func parse(_ bytes: [UInt8]) throws -> [RTCP.Packet] { try RTCP.parse(bytes.span.bytes) }

@Suite struct RTCPTests {
  static let block = RTCP.ReportBlock(
    ssrc: 0x1122_3344, fractionLost: 12, packetsLost: -3, extendedHighestSequenceNumber: 0x0001_FFFE, jitter: 99,
    lastSenderReport: 0xAABB_CCDD, delaySinceLastSenderReport: 65_536)
  static let all: [RTCP.Packet] = [
    .senderReport(
      RTCP.SenderReport(
        ssrc: 1, ntpTime: NTPTime(bits: 0x0102_0304_0506_0708), rtpTimestamp: 90_000, packetCount: 5, octetCount: 6, reportBlocks: [block])),
    .receiverReport(RTCP.ReceiverReport(ssrc: 2, reportBlocks: [block, block])),
    .sourceDescription(
      RTCP.SourceDescription(chunks: [
        .init(ssrc: 1, items: [.init(type: 1, text: "kiosk"), .init(type: 15, text: "0")]), .init(ssrc: 2, items: []),
        .init(ssrc: 3, items: [.init(type: 1, text: "ab")]),
      ])),
    .goodbye(RTCP.Goodbye(ssrcs: [1, 2], reason: "bye")),
    .goodbye(RTCP.Goodbye(ssrcs: [])),
    .nack(RTCP.Nack(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [65_534, 65_535, 0, 14, 15, 100])),
    .pictureLossIndication(RTCP.PictureLossIndication(senderSSRC: 1, mediaSSRC: 2)),
    .fullIntraRequest(RTCP.FullIntraRequest(senderSSRC: 1, entries: [.init(ssrc: 9, sequenceNumber: 200)])),
    .receiverEstimatedMaximumBitrate(RTCP.ReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitrate: 0x3FFFF << 5, ssrcs: [7, 8])),
    .extendedReport(
      RTCP.ExtendedReport(
        ssrc: 1,
        blocks: [
          .receiverReferenceTime(NTPTime(bits: 77)),
          .delaySinceLastReceiverReport([.init(ssrc: 5, lastReceiverReport: 6, delaySinceLastReceiverReport: 7)]),
          .unknown(type: 9, typeSpecific: 3, content: [1, 2, 3, 4]),
        ])),
    .unknown(RTCP.Unknown(format: 3, packetType: 204, body: [0, 0, 0, 1, 0x41, 0x42, 0x43, 0x44])),
    .unknown(RTCP.Unknown(format: 15, packetType: 206, body: [0, 0, 0, 1, 0, 0, 0, 0, 0x41, 0x42, 0x43, 0x44])),
  ]

  @Test(arguments: all) func everyPacketComesBack(packet: RTCP.Packet) throws {
    let bytes = RTCP.write([packet])
    #expect(bytes.count % 4 == 0)
    #expect(try parse(bytes) == [packet])
  }

  @Test func aCompoundDatagramComesBackInOrder() throws {
    #expect(try parse(RTCP.write(Self.all)) == Self.all)
  }

  @Test func theBytesAreThoseOfTheRFCs() throws {
    #expect(
      RTCP.write([.pictureLossIndication(.init(senderSSRC: 1, mediaSSRC: 2))]) == [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2])
    #expect(
      RTCP.write([.nack(.init(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [10, 11, 26, 27]))])
        == [0x81, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 10, 0x80, 1, 0, 27, 0, 0])
    #expect(
      RTCP.write([.receiverEstimatedMaximumBitrate(.init(senderSSRC: 1, bitrate: 1_000_000, ssrcs: [3]))])
        == [0x8F, 206, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 1, 0x0B, 0xD0, 0x90, 0, 0, 0, 3])
    #expect(
      RTCP.write([.sourceDescription(.init(ssrc: 1, canonicalName: "ab"))]) == [0x81, 202, 0, 3, 0, 0, 0, 1, 1, 2, 0x61, 0x62, 0, 0, 0, 0])
    // The full intra request names its stream in the entry only (RFC 5104 section 4.3.1.2).
    #expect(
      RTCP.write([.fullIntraRequest(.init(senderSSRC: 1, entries: [.init(ssrc: 2, sequenceNumber: 3)]))])
        == [0x84, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0])
  }

  @Test func paddingIsTakenOff() throws {
    let bytes: [UInt8] = [0xA1, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4]
    #expect(try parse(bytes) == [.pictureLossIndication(.init(senderSSRC: 1, mediaSSRC: 2))])
    #expect(rtcpError([0xA1, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 16]) == .padding(16))
    #expect(rtcpError([0xA0, 201, 0, 0]) == .padding(0))
  }

  /// As libwebrtc does it, against RFC 3550, in three of four reports.
  @Test(arguments: [1, 2, 3]) func paddingThatIsNoWholeWordIsTakenOff(count: Int) throws {
    // 18 bytes up to the chunk, a run of small deltas, one byte each.
    let received = 6 - count
    let bytes: [UInt8] =
      [0xAF, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0, 7, 0, UInt8(received), 0, 0, 1, 3, 0x20, UInt8(received)]
      + [UInt8](repeating: 9, count: received) + [UInt8](repeating: 0, count: count - 1) + [UInt8(count)]
    guard case .transportFeedback(let feedback) = try parse(bytes)[0] else { throw MalformedPacket.value("type") }
    #expect(feedback.baseSequenceNumber == 7 && feedback.deltas == [Int16?](repeating: 9, count: received))
  }

  @Test func anUnknownPacketKeepsWholeWords() throws {
    let packets = try parse([0xBE, 205, 0, 2, 1, 2, 3, 4, 5, 6, 0, 2])
    #expect(packets == [.unknown(RTCP.Unknown(format: 30, packetType: 205, body: [1, 2, 3, 4, 5, 6, 0, 0]))])
    #expect(try parse(RTCP.write(packets)) == packets)
  }

  @Test func saysWhatIsWrong() {
    #expect(rtcpError([]) == .truncated("the RTCP header"))
    #expect(rtcpError([0x80, 200, 0]) == .truncated("the RTCP header"))
    #expect(rtcpError([0x40, 200, 0, 0]) == .version(1))
    #expect(rtcpError([0x80, 200, 0, 1]) == .length("RTCP packet type 200"))
    #expect(rtcpError([0x81, 201, 0, 1, 0, 0, 0, 1]) == .truncated("the end of RTCP packet type 201, format 1"))
    #expect(rtcpError([0x81, 202, 0, 1, 0, 0, 0, 1]) != nil)
    #expect(rtcpError([0x81, 207, 0, 2, 0, 0, 0, 1, 4, 0, 0, 2]) != nil)
  }

  @Test func shorteningAPacketNeverPassesUnnoticed() {
    for packet in Self.all {
      let bytes = RTCP.write([packet])
      for count in 0..<bytes.count { #expect(rtcpError(Array(bytes.prefix(count))) != nil) }
    }
  }

  @Test func anAbsurdBitrateIsTheLargestThereIs() throws {
    let bytes: [UInt8] = [0x8F, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 0, 0xFF, 0xFF, 0xFF]
    guard case .receiverEstimatedMaximumBitrate(let remb) = try parse(bytes)[0] else { throw MalformedPacket.value("type") }
    #expect(remb.bitrate == .max)
    let again = RTCP.write([.receiverEstimatedMaximumBitrate(remb)])
    guard case .receiverEstimatedMaximumBitrate(let second) = try parse(again)[0] else { throw MalformedPacket.value("type") }
    #expect(second.bitrate == UInt64(0x3FFFF) << 46)
  }

  @Test func isToldFromRTPOnTheSamePort() {
    let rtcp: [UInt8] = [0x80, 200, 0, 0]
    let rtp: [UInt8] = [0x80, 0xE0, 0, 0]
    let empty: [UInt8] = []
    #expect(RTCP.isRTCP(rtcp.span.bytes) == true)
    #expect(RTCP.isRTCP(rtp.span.bytes) == false)
    #expect(RTCP.isRTCP(empty.span.bytes) == false)
  }
}
