import Base
import Testing

@testable import TURN

@Suite struct StreamReassemblerTests {
  let stun: [UInt8] = [0, 1, 0, 4, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12) + [0x80, 0x22, 0, 0]

  func cut(_ framing: StreamReassembler.Framing, _ stream: [UInt8], into size: Int) throws -> [[UInt8]] {
    var reassembler = StreamReassembler(framing)
    var result: [[UInt8]] = []
    for start in stride(from: 0, to: stream.count, by: size) {
      let piece = Array(stream[start..<min(start + size, stream.count)])
      reassembler.append(piece.span.bytes)
      while let message = try reassembler.next() { result.append(message) }
    }
    return result
  }

  @Test(arguments: 1...30)
  func `messages are found wherever the stream is cut`(size: Int) throws {
    let channel: [UInt8] = [0x40, 1, 0, 5, 1, 2, 3, 4, 5]
    #expect(try cut(.turn, stun + channel + [0, 0, 0] + stun + [0x40, 2, 0, 0], into: size) == [stun, channel, stun, [0x40, 2, 0, 0]])
    #expect(try cut(.lengthPrefixed, [0, 2, 8, 9, 0, 0, 0, 1, 5], into: size) == [[8, 9], [], [5]])
  }

  @Test func `a stream that is neither STUN nor ChannelData is an error`() {
    #expect(throws: StreamError(firstByte: 0x80)) { try cut(.turn, [0x80, 0, 0, 0], into: 4) }
    #expect(throws: StreamError(firstByte: 0xC0)) { try cut(.turn, stun + [0xC0, 1, 2, 3], into: 7) }
  }
}
