import Testing

@testable import Bytes

@Suite struct ByteWriterTests {
  @Test func writesWhatTheReaderReads() throws {
    var bytes = [UInt8](repeating: 0xAA, count: 24)
    var span = bytes.mutableSpan
    var writer = ByteWriter(span.mutableBytes)
    try writer.uint8(0x01)
    try writer.uint16(0x0203)
    try writer.uint24(0xFF04_0506)
    try writer.uint32(0x0708_090A)
    try writer.uint64(0x1020_3040_5060_7080)
    let tail: [UInt8] = [0xF1, 0xF2]
    try writer.copy(tail.span.bytes)
    try writer.zeros(2)
    writer.replace(uint16: 0xBEEF, at: 1)
    writer.replace(uint8: 0x11, at: 0)
    #expect(writer.count == 22)
    #expect(writer.remaining == 2)
    #expect(
      bytes == [
        0x11, 0xBE, 0xEF, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0xF1, 0xF2, 0, 0, 0xAA,
        0xAA,
      ])
  }

  @Test func aFullSpanRefusesAndKeepsWhatItHas() throws {
    var bytes: [UInt8] = [7, 7, 7]
    let four: [UInt8] = [1, 2, 3, 4]
    func refused(_ body: (inout ByteWriter) throws -> Void) -> Bool {
      var span = bytes.mutableSpan
      var writer = ByteWriter(span.mutableBytes)
      do { try body(&writer) } catch { return error is OutOfBounds && writer.count == 0 }
      return false
    }
    #expect(refused { try $0.uint32(1) })
    #expect(refused { try $0.uint64(1) })
    #expect(refused { try $0.copy(four.span.bytes) })
    #expect(refused { try $0.zeros(4) })
    #expect(refused { try $0.zeros(-1) })
    #expect(bytes == [7, 7, 7])
  }
}
