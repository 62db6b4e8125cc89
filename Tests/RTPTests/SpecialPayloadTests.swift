import Bytes
import Testing

@testable import RTP

@Suite struct RetransmissionTests {
  @Test func aLostPacketComesBackAsItWas() throws {
    var extensions = HeaderExtensions()
    extensions.mid = "1"
    var packet = [UInt8](repeating: 0, count: 200)
    let payload = [UInt8](1...50)
    var span = packet.mutableSpan
    var target = span.mutableBytes
    let written = try Header(payloadType: 97, sequenceNumber: 9, timestamp: 1_234, ssrc: 2, isMarked: true)
      .write(extensions, map: map(), into: &target)
    let count = try Retransmission.wrap(sequenceNumber: 65_535, payload: payload.span.bytes, into: &target, headerCount: written.count)
    packet.removeSubrange(count...)
    // A sender may pad retransmissions.
    packet[0] |= 0x20
    packet += [0, 0, 3]
    let header = try Header(parsing: packet.span.bytes)
    var again = packet.mutableSpan
    var second = again.mutableBytes
    let restored = try Retransmission.unwrap(&second, header: header, ssrc: 1, payloadType: 96)
    let original = Array(packet[restored])
    let parsed = try Header(parsing: original.span.bytes)
    #expect(parsed.ssrc == 1 && parsed.payloadType == 96 && parsed.sequenceNumber == 65_535 && parsed.isMarked && parsed.timestamp == 1_234)
    #expect(parsed.paddingCount == 0)
    #expect(Array(original[parsed.payload]) == payload)
    #expect(HeaderExtensions(parsing: original.span.bytes, header: parsed, map: map()).mid == "1")
  }

  @Test func aPayloadWithoutOriginalSequenceNumberIsRefused() throws {
    var packet: [UInt8] = [0x80, 97] + [UInt8](repeating: 0, count: 10) + [1]
    let header = try Header(parsing: packet.span.bytes)
    var span = packet.mutableSpan
    var target = span.mutableBytes
    var thrown: MalformedPayload?
    do { _ = try Retransmission.unwrap(&target, header: header, ssrc: 1, payloadType: 96) } catch { thrown = error }
    #expect(thrown == .truncated("the original sequence number"))
  }

  @Test func aShortBufferIsRefused() {
    var packet = [UInt8](repeating: 0, count: 15)
    var span = packet.mutableSpan
    var target = span.mutableBytes
    var isThrown = false
    let payload: [UInt8] = [1, 2]
    do { _ = try Retransmission.wrap(sequenceNumber: 1, payload: payload.span.bytes, into: &target, headerCount: 12) } catch {
      isThrown = true
    }
    #expect(isThrown)
  }
}

@Suite struct RedundantAudioTests {
  private func write(_ frame: [UInt8], _ redundant: [UInt8], offset: UInt32) throws -> [UInt8] {
    var payload = [UInt8](repeating: 0, count: 3_000)
    var span = payload.mutableSpan
    var target = span.mutableBytes
    let count = try RedundantAudio.write(
      payloadType: 111, frame: frame.span.bytes, redundant: redundant.span.bytes, timestampOffset: offset, into: &target)
    return Array(payload.prefix(count))
  }

  private func read(_ payload: [UInt8]) throws -> [(UInt8, UInt32, [UInt8])] {
    try RedundantAudio.blocks(of: payload.span.bytes).map { ($0.payloadType, $0.timestampOffset, Array(payload[$0.data])) }
  }

  @Test func bothFramesComeBack() throws {
    let payload = try write([1, 2, 3], [9, 8], offset: 960)
    #expect(payload == [0xEF, 0x0F, 0x00, 0x02, 111, 9, 8, 1, 2, 3])
    let blocks = try read(payload)
    #expect(blocks.count == 2)
    #expect(blocks[0] == (111, 960, [9, 8]))
    #expect(blocks[1] == (111, 0, [1, 2, 3]))
  }

  @Test func whatCannotBeCarriedIsLeftOut() throws {
    #expect(try write([1], [], offset: 960) == [111, 1])
    #expect(try write([1], [2], offset: 0x4000) == [111, 1])
    #expect(try write([1], [2], offset: 0) == [111, 1])
    #expect(try write([1], [UInt8](repeating: 2, count: 1_024), offset: 960) == [111, 1])
  }

  @Test func malformedPayloadsAreRefused() {
    for payload in [[], [0xEF], [0xEF, 0, 0, 1], [0xEF, 0, 0, 5, 111, 1, 2]] as [[UInt8]] {
      var thrown: MalformedPayload?
      do { _ = try RedundantAudio.blocks(of: payload.span.bytes) } catch { thrown = error }
      #expect(thrown != nil)
    }
  }
}

@Suite struct TelephoneEventTests {
  @Test func theBytesAreThoseOfTheRFC() throws {
    let event = TelephoneEvent(event: 11, isEnd: true, volume: 10, duration: 1_760)
    var payload: [UInt8] = [0, 0, 0, 0]
    var span = payload.mutableSpan
    var target = span.mutableBytes
    let count = try event.write(into: &target)
    #expect(count == 4 && payload == [11, 0x8A, 0x06, 0xE0])
    #expect(try TelephoneEvent(parsing: payload.span.bytes) == event)
  }

  @Test func shortPayloadsAndBuffersAreRefused() {
    var short: [UInt8] = [1, 2, 3]
    var thrown = 0
    do { _ = try TelephoneEvent(parsing: short.span.bytes) } catch { thrown += 1 }
    var span = short.mutableSpan
    var target = span.mutableBytes
    do { _ = try TelephoneEvent(event: 1, duration: 1).write(into: &target) } catch { thrown += 1 }
    #expect(thrown == 2)
  }

  @Test func tonesHaveTheirNumbers() {
    #expect("0189*#ABCDabcd".map { TelephoneEvent.event(for: $0) } == [0, 1, 8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15])
    #expect(TelephoneEvent.event(for: "x") == nil)
    #expect(TelephoneEvent.event(for: "٣") == nil)
  }
}
