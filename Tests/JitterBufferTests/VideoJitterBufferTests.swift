import Base
import RTP
import Testing

@testable import JitterBuffer

struct VideoJitterBufferTests {
  /// Sequence of test frames: 0 is a key frame, then deltas.
  private final class Stream {
    var source = PacketSource(format: .vp8)
    var buffer = VideoJitterBuffer(format: .vp8)
    private var timestamp: UInt32 = 4_294_960_000  // wraps soon

    func frame(_ name: UInt8, isKeyFrame: Bool = false, count: Int = 40) -> [PacketSource.Packet] {
      timestamp &+= 3_000
      return source.packets(of: vp8(name, isKeyFrame: isKeyFrame, count: count), timestamp: timestamp)
    }

    /// Whether the buffer asks for a key frame at that time.
    func asks(at milliseconds: Int) -> Bool { buffer.pollKeyFrameRequest(now: instant(milliseconds)) }

    /// Names of all frames that are released at `now`.
    func released(at milliseconds: Int) -> [UInt8] {
      var names: [UInt8] = []
      while let frame = buffer.poll(now: instant(milliseconds)) { names.append(frame.encoded.bytes[frame.encoded.isKeyFrame ? 10 : 3]) }
      return names
    }
  }

  @Test func aWholeNextFrameNeverWaits() {
    let stream = Stream()
    for (index, packets) in [stream.frame(0, isKeyFrame: true, count: 5_000), stream.frame(1), stream.frame(2, count: 3_000)].enumerated() {
      for packet in packets.dropLast() {
        stream.buffer.insert(packet, at: index * 33)
        #expect(stream.released(at: index * 33).isEmpty)
      }
      stream.buffer.insert(packets.last!, at: index * 33)
      #expect(stream.released(at: index * 33) == [UInt8(index)])
    }
    #expect(stream.buffer.deadline == nil)
    #expect(stream.buffer.counters.framesReceived == 3)
    #expect(stream.buffer.counters.framesAssembledFromMultiplePackets == 2)
  }

  @Test func theFrameIsWhatWasSentAndKnowsItsTimes() throws {
    var source = PacketSource(format: .vp8, sequence: 65_530)
    var buffer = VideoJitterBuffer(format: .vp8)
    let sent = vp8(9, isKeyFrame: true, count: 9_999)
    for (index, packet) in source.packets(of: sent, timestamp: 77).enumerated() { buffer.insert(packet, at: 100 + index) }
    let released = buffer.poll(now: instant(200))
    let frame = try #require(released)
    #expect(frame.encoded.bytes == sent)
    #expect(frame.timestamp == 77 && frame.packetCount == 10 && frame.firstSequenceNumber == 65_530)
    #expect(frame.encoded.width == 320 && frame.encoded.height == 180)
    #expect(frame.firstArrival == instant(100))
    #expect(frame.encoded.ledger[.receive] == instant(109))
    #expect(frame.encoded.ledger[.assemble] == instant(200))
    #expect(buffer.counters.totalAssemblyTime == .milliseconds(9))
    #expect(buffer.counters.jitterBufferDelay == .milliseconds(100))
  }

  @Test func packetsInWrongOrderArePutRight() {
    let stream = Stream()
    let packets = stream.frame(0, isKeyFrame: true, count: 3_000) + stream.frame(1, count: 2_000) + stream.frame(2)
    var random = RandomSource(seed: 4)
    for packet in packets.shuffled(using: &random) { stream.buffer.insert(packet, at: 0) }
    #expect(stream.released(at: 0) == [0, 1, 2])
    #expect(!stream.asks(at: 0))
  }

  @Test func aGapWaitsForItsRetransmission() {
    let stream = Stream()
    for packet in stream.frame(0, isKeyFrame: true) { stream.buffer.insert(packet, at: 0) }
    let lost = stream.frame(1)
    #expect(stream.released(at: 0) == [0])
    for packet in stream.frame(2) + stream.frame(3) { stream.buffer.insert(packet, at: 40) }
    #expect(stream.released(at: 40).isEmpty)
    #expect(stream.buffer.deadline == instant(40 + 250))
    #expect(stream.released(at: 200).isEmpty)
    #expect(!stream.asks(at: 200))
    for packet in lost { stream.buffer.insert(packet, at: 210) }
    #expect(stream.released(at: 210) == [1, 2, 3])
    #expect(stream.buffer.counters.framesDropped == 0)
  }

  @Test func aGapThatStaysOpenEndsInAKeyFrameRequestAndTheNextKeyFrame() {
    let stream = Stream()
    for packet in stream.frame(0, isKeyFrame: true) { stream.buffer.insert(packet, at: 0) }
    _ = stream.frame(1)
    #expect(stream.released(at: 0) == [0])
    for packet in stream.frame(2) { stream.buffer.insert(packet, at: 40) }
    #expect(stream.released(at: 289).isEmpty)
    #expect(!stream.buffer.needsKeyFrame)
    #expect(stream.released(at: 290).isEmpty)
    #expect(stream.buffer.needsKeyFrame)
    #expect(stream.asks(at: 290), "at once")
    #expect(!stream.asks(at: 290), "once")
    #expect(!stream.asks(at: 800), "nothing came that could have been one")
    for packet in stream.frame(3) { stream.buffer.insert(packet, at: 810) }
    #expect(stream.released(at: 810).isEmpty, "it depends on what was lost")
    #expect(stream.asks(at: 810), "the request was lost, or its answer")
    for packet in stream.frame(4, isKeyFrame: true) + stream.frame(5) { stream.buffer.insert(packet, at: 900) }
    #expect(stream.released(at: 900) == [4, 5])
    #expect(!stream.buffer.needsKeyFrame && !stream.asks(at: 2_000))
    #expect(stream.buffer.counters.framesDropped == 2, "two came; nobody knows of the lost one")
    #expect(stream.buffer.counters.framesReceived == 5)
    #expect(stream.buffer.counters.gapsGivenUp == 1 && stream.buffer.counters.keyFrameRequests == 2)
  }

  @Test func noRequestWhileTheKeyFrameArrives() {
    let stream = Stream()
    for packet in stream.frame(0) { stream.buffer.insert(packet, at: 0) }
    _ = stream.released(at: 0)
    #expect(stream.asks(at: 10))
    let keyFrame = stream.frame(1, isKeyFrame: true, count: 3_000)
    stream.buffer.insert(keyFrame[0], at: 305)
    #expect(!stream.asks(at: 320))
    stream.buffer.insert(keyFrame[1], at: 340)
    stream.buffer.insert(keyFrame[2], at: 340)
    #expect(stream.released(at: 340) == [1])
  }

  @Test func aWholeKeyFrameBehindAGapEndsTheWait() {
    let stream = Stream()
    for packet in stream.frame(0, isKeyFrame: true) { stream.buffer.insert(packet, at: 0) }
    #expect(stream.released(at: 0) == [0])
    _ = stream.frame(1)
    for packet in stream.frame(2) + stream.frame(3, isKeyFrame: true) + stream.frame(4) { stream.buffer.insert(packet, at: 66) }
    #expect(stream.released(at: 66).isEmpty, "it may be a matter of order")
    #expect(stream.buffer.deadline == instant(76))
    #expect(stream.released(at: 76) == [3, 4])
    #expect(stream.buffer.counters.framesDropped == 1)
  }

  @Test func aStreamThatBeginsWithoutKeyFrameIsComplainedOfWithinAFramesTime() {
    let stream = Stream()
    for packet in stream.frame(0) { stream.buffer.insert(packet, at: 5) }
    #expect(stream.released(at: 5).isEmpty)
    #expect(stream.buffer.deadline == instant(15))
    #expect(!stream.asks(at: 14))
    #expect(stream.asks(at: 15))
  }

  @Test func aFailedDecoderGetsAKeyFrameNext() {
    let stream = Stream()
    for packet in stream.frame(0, isKeyFrame: true) { stream.buffer.insert(packet, at: 0) }
    #expect(stream.released(at: 0) == [0])
    stream.buffer.requireKeyFrame(now: instant(1))
    #expect(stream.asks(at: 1))
    for packet in stream.frame(1) + stream.frame(2, isKeyFrame: true) { stream.buffer.insert(packet, at: 33) }
    #expect(stream.released(at: 33) == [2])
  }

  @Test func paddingFillsTheSequenceAndIsNoFrame() {
    let stream = Stream()
    for packet in stream.frame(0, isKeyFrame: true) { stream.buffer.insert(packet, at: 0) }
    for _ in 0..<3 { stream.buffer.insert(stream.source.packet(payload: [], timestamp: 1, isMarked: false), at: 1) }
    for packet in stream.frame(1) { stream.buffer.insert(packet, at: 33) }
    #expect(stream.released(at: 33) == [0, 1])
    #expect(stream.buffer.counters.framesReceived == 2)
  }

  @Test func withoutMarkersAFrameEndsWhereTheNextBegins() {
    let stream = Stream()
    stream.source.setsMarker = false
    for packet in stream.frame(0, isKeyFrame: true, count: 2_500) + stream.frame(1) { stream.buffer.insert(packet, at: 0) }
    #expect(stream.released(at: 0) == [0])
    for packet in stream.frame(2) { stream.buffer.insert(packet, at: 33) }
    #expect(stream.released(at: 33) == [1])
  }

  @Test func packetsThatComeTwiceOrTooLateAreCountedAndChangeNothing() {
    let stream = Stream()
    let (first, second) = (stream.frame(0, isKeyFrame: true, count: 2_500), stream.frame(1, count: 2_500))
    for packet in first + second.dropLast() + second.dropLast() { stream.buffer.insert(packet, at: 0) }
    #expect(stream.released(at: 0) == [0])
    #expect(stream.buffer.counters.packetsDiscarded == second.count - 1)
    for packet in first { stream.buffer.insert(packet, at: 10) }
    stream.buffer.insert(second.last!, at: 20)
    #expect(stream.released(at: 20) == [1])
    #expect(stream.buffer.counters.packetsDiscarded == second.count - 1 + first.count)
  }

  @Test(arguments: [UInt16(40_000), 62_000, 64_900])
  func aSenderThatBeginsAnewIsFollowed(sequence: UInt16) {
    let stream = Stream()
    for packet in stream.frame(0, isKeyFrame: true) { stream.buffer.insert(packet, at: 0) }
    for name in UInt8(1)..<100 { for packet in stream.frame(name) { stream.buffer.insert(packet, at: 5) } }
    _ = stream.released(at: 10)
    stream.source = PacketSource(format: .vp8, sequence: sequence)
    var names: [UInt8] = []
    var wasAsked = false
    for name in UInt8(100)..<200 {
      let packets = stream.frame(name, isKeyFrame: wasAsked && name % 50 == 0)
      for packet in packets { stream.buffer.insert(packet, at: Int(name) * 33) }
      names += stream.released(at: Int(name) * 33)
      wasAsked = wasAsked || stream.asks(at: Int(name) * 33)
    }
    #expect(names == Array(150..<200))
  }

  @Test func aFrameThatIsTooLargeIsGivenUpAndTheNextKeyFrameShown() {
    let stream = Stream()
    for packet in stream.frame(0, isKeyFrame: true, count: 700_000) { stream.buffer.insert(packet, at: 0) }
    #expect(stream.released(at: 0).isEmpty)
    #expect(stream.asks(at: 400))
    for packet in stream.frame(1, isKeyFrame: true) { stream.buffer.insert(packet, at: 433) }
    #expect(stream.released(at: 433) == [1])
  }

  @Test func anUnreadablePayloadIsCountedAndTheFrameGivenUp() {
    let stream = Stream()
    for packet in stream.frame(0, isKeyFrame: true) { stream.buffer.insert(packet, at: 0) }
    #expect(stream.released(at: 0) == [0])
    stream.buffer.insert(stream.source.packet(payload: [0x80], timestamp: 9, isMarked: true), at: 10)
    for packet in stream.frame(1) { stream.buffer.insert(packet, at: 40) }
    #expect(stream.released(at: 300).isEmpty)
    #expect(stream.buffer.counters.packetsMalformed == 1)
    #expect(stream.asks(at: 300))
  }

  @Test func anyOrderOfAnyPacketsLeavesTheBufferUsable() {
    var random = RandomSource(seed: 11)
    for format in [RTP.PayloadFormat.vp8, .h264(packetizationMode: 1)] {
      var buffer = VideoJitterBuffer(format: format)
      var source = PacketSource(format: format)
      for round in 0..<4_000 {
        if round % 97 == 0 { source = PacketSource(format: format, sequence: UInt16(truncatingIfNeeded: random.next())) }
        let payload = random.bytes(Int.random(in: 0..<30, using: &random))
        buffer.insert(source.packet(payload: payload, timestamp: UInt32(round / 3), isMarked: random.next() & 3 == 0), at: round)
        while buffer.poll(now: instant(round)) != nil {}
        _ = buffer.pollKeyFrameRequest(now: instant(round))
        if let deadline = buffer.deadline { #expect(deadline > instant(round - 1)) }
      }
      #expect(buffer.counters.packetsMalformed > 0)
    }
  }
}
