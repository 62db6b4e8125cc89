import Base
import RTP
import Testing

@testable import JitterBuffer

/// H.264 payloads do not say where a frame starts: the buffer has to find out.
final class H264JitterBufferTests {
  private static let format = RTP.PayloadFormat.h264(packetizationMode: 1)
  private var source = PacketSource(format: format)
  private var buffer = VideoJitterBuffer(format: format)

  private static func unit(_ header: UInt8, _ count: Int, name: UInt8) -> [UInt8] {
    [0, 0, 0, 1, header, 0x88, name] + [UInt8](repeating: 7, count: count)
  }
  private static let parameterSets = unit(0x67, 12, name: 0) + unit(0x68, 4, name: 0)

  private static func keyFrame(_ name: UInt8, hasParameterSets: Bool = true, count: Int = 3_000) -> [UInt8] {
    (hasParameterSets ? parameterSets : []) + unit(0x65, count, name: name)
  }

  private static func delta(_ name: UInt8, count: Int = 100) -> [UInt8] { unit(0x61, count, name: name) }

  private func released(at milliseconds: Int) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    while let frame = buffer.poll(now: instant(milliseconds)) { frames.append(frame.encoded.bytes) }
    return frames
  }

  @Test func parameterSetsFragmentsAndSlicesComeOutAsTheyWentIn() {
    let frames = [H264JitterBufferTests.keyFrame(1), H264JitterBufferTests.delta(2), H264JitterBufferTests.delta(3, count: 2_500)]
    for (index, frame) in frames.enumerated() {
      for packet in source.packets(of: frame, timestamp: UInt32(index) * 3_000) { buffer.insert(packet, at: 0) }
    }
    #expect(released(at: 0) == frames)
    #expect(buffer.counters.keyFramesReleased == 1)
  }

  @Test func aKeyFrameWhoseParameterSetsAreMissingIsNotAStart() {
    let packets = source.packets(of: H264JitterBufferTests.keyFrame(1), timestamp: 0)
    for packet in packets.dropFirst() { buffer.insert(packet, at: 0) }
    #expect(released(at: 0).isEmpty)
    buffer.insert(packets[0], at: 50)
    #expect(released(at: 50) == [H264JitterBufferTests.keyFrame(1)])
  }

  @Test func aLaterKeyFrameMayRelyOnEarlierParameterSets() {
    for packet in source.packets(of: H264JitterBufferTests.keyFrame(1), timestamp: 0) { buffer.insert(packet, at: 0) }
    #expect(released(at: 0).count == 1)
    _ = source.packets(of: H264JitterBufferTests.delta(2), timestamp: 3_000)
    for packet in source.packets(of: H264JitterBufferTests.delta(3), timestamp: 6_000) { buffer.insert(packet, at: 66) }
    let keyFrame = H264JitterBufferTests.keyFrame(4, hasParameterSets: false)
    for packet in source.packets(of: keyFrame, timestamp: 9_000) { buffer.insert(packet, at: 99) }
    #expect(released(at: 120) == [keyFrame])
  }

  @Test func aMissingFragmentIsWaitedFor() {
    let frame = H264JitterBufferTests.keyFrame(1)
    let packets = source.packets(of: frame, timestamp: 0)
    for packet in [packets[0], packets[2], packets[3]] { buffer.insert(packet, at: 0) }
    #expect(released(at: 0).isEmpty)
    buffer.insert(packets[1], at: 90)
    #expect(released(at: 90) == [frame])
  }

  @Test func eachSliceOfAPictureIsPartOfOneFrame() {
    // The second slice's first macroblock is not 0: 0x48 in place of 0x88.
    let second: [UInt8] = [0, 0, 0, 1, 0x65, 0x48, 1] + [UInt8](repeating: 9, count: 1_500)
    let frame = H264JitterBufferTests.keyFrame(1) + second
    for packet in source.packets(of: frame, timestamp: 0) { buffer.insert(packet, at: 0) }
    for packet in source.packets(of: H264JitterBufferTests.delta(2), timestamp: 3_000) { buffer.insert(packet, at: 33) }
    #expect(released(at: 33) == [frame, H264JitterBufferTests.delta(2)])
  }
}
