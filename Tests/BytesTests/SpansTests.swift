import Testing

@testable import Bytes

@Suite struct SpansTests {
  @Test func fieldsAtAKnownPlaceComeBackAsStored() {
    var bytes = [UInt8](repeating: 0, count: 16)
    var span = bytes.mutableSpan
    var target = span.mutableBytes
    target.store(uint8: 0x12, at: 0)
    target.store(uint16: 0x3456, at: 1)
    target.store(uint24: 0x789A_BCDE, at: 3)
    target.store(uint32: 0x0102_0304, at: 6)
    #expect(bytes == [0x12, 0x34, 0x56, 0x9A, 0xBC, 0xDE, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0])
    let source = bytes.span.bytes
    #expect(source.uint8(at: 0) == 0x12)
    #expect(source.uint16(at: 1) == 0x3456)
    #expect(source.uint24(at: 3) == 0x9ABCDE)
    #expect(source.uint32(at: 6) == 0x0102_0304)
    #expect(source.uint64(at: 2) == 0x569A_BCDE_0102_0304)
  }

  @Test func bytesMoveWithinASpanAlsoWhenTheyOverlap() {
    var bytes: [UInt8] = [1, 2, 3, 4, 5, 6]
    var span = bytes.mutableSpan
    var target = span.mutableBytes
    target.move(4, from: 0, to: 2)
    #expect(bytes == [1, 2, 1, 2, 3, 4])
    let source: [UInt8] = [9, 8]
    var again = bytes.mutableSpan
    var second = again.mutableBytes
    second.copy(source.span.bytes, at: 4)
    let empty: [UInt8] = []
    second.copy(empty.span.bytes, at: 6)
    second.move(0, from: 6, to: 6)
    #expect(bytes == [1, 2, 1, 2, 9, 8])
  }
}
