import Testing

@testable import BridgeMessages

@Suite struct BridgeFrameTests {
  let frames = [
    BridgeFrame(control: #"{"type":"host.hello"}"#),
    BridgeFrame(kind: .dataChannelBinary, document: 7, target: 0xFFFF_FFFF, payload: [1, 2, 3]),
    BridgeFrame(kind: .callAnswer, document: 0x0102_0304, target: 5, payload: []),
    BridgeFrame(kind: .video, document: 9, target: 3, payload: [UInt8](repeating: 0xA5, count: 70_000)),
  ]

  @Test func layout() {
    var stream: [UInt8] = []
    BridgeFrame(kind: .audio, document: 0x0102_0304, target: 0x0506_0708, payload: [9, 10]).append(to: &stream)
    #expect(stream == [0, 0, 0, 11, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  }

  @Test(arguments: [1, 2, 3, 13, 14, 1000, 1_000_000]) func piecesOfAnySize(_ size: Int) throws {
    var stream: [UInt8] = []
    for frame in frames { frame.append(to: &stream) }
    var reader = BridgeFrameReader()
    var received: [BridgeFrame] = []
    var position = 0
    while position < stream.count {
      let piece = Array(stream[position..<min(position + size, stream.count)])
      reader.receive(piece.span.bytes)
      position += piece.count
      while let frame = try reader.next() { received.append(frame) }
    }
    #expect(received == frames)
    #expect(reader.bufferedCount == 0)
  }

  @Test(
    arguments: [
      ([0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0], BridgeFrame.Malformed.length(8)),
      ([4, 0, 0, 1, 0], .length(64 << 20 | 1)),
      ([0xFF, 0xFF, 0xFF, 0xFF, 0], .length(0xFFFF_FFFF)),
      ([0, 0, 0, 9, 7], .kind(7)),
    ] as [([UInt8], BridgeFrame.Malformed)])
  func malformed(_ bytes: [UInt8], _ reason: BridgeFrame.Malformed) {
    var reader = BridgeFrameReader()
    reader.receive(bytes.span.bytes)
    #expect(throws: reason) { try reader.next() }
    var good: [UInt8] = []
    frames[0].append(to: &good)
    reader.receive(good.span.bytes)
    #expect(throws: reason) { try reader.next() }
    #expect(reader.bufferedCount == 0)
  }

  @Test func largestLengthIsAwaited() throws {
    var reader = BridgeFrameReader()
    reader.receive(([4, 0, 0, 0, 4] as [UInt8]).span.bytes)
    #expect(try reader.next() == nil)
  }
}
