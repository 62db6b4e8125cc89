import Testing

@testable import Bytes

@Suite struct ByteReaderTests {
  @Test func readsFieldsFrontToBackInNetworkOrder() throws {
    let bytes: [UInt8] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0xFF]
    var reader = ByteReader(bytes.span.bytes)
    #expect(try reader.uint8() == 0x01)
    #expect(try reader.uint16() == 0x0203)
    #expect(try reader.uint24() == 0x040506)
    #expect(try reader.uint32() == 0x0708_090A)
    #expect(try reader.uint64() == 0x1020_3040_5060_7080)
    #expect(reader.offset == 18)
    #expect(reader.isAtEnd == false)
    #expect(reader.rest() == [0xFF])
    #expect(reader.isAtEnd == true)
  }

  @Test func aFieldThatEndsOutsideIsRefusedAndNothingIsRead() throws {
    let bytes: [UInt8] = [1, 2]
    func refused(_ body: (inout ByteReader) throws -> Void) -> Bool {
      var reader = ByteReader(bytes.span.bytes)
      do { try body(&reader) } catch { return error is OutOfBounds && reader.offset == 0 }
      return false
    }
    #expect(refused { _ = try $0.uint24() })
    #expect(refused { _ = try $0.uint32() })
    #expect(refused { _ = try $0.uint64() })
    #expect(refused { try $0.skip(3) })
    #expect(refused { try $0.skip(-1) })
    #expect(refused { _ = try $0.array(3) })
    #expect(refused { _ = try $0.array(-1) })
  }

  @Test func aSpanOfItsOwnSharesTheBytes() throws {
    let bytes: [UInt8] = [9, 1, 2, 3, 8]
    var reader = ByteReader(bytes.span.bytes)
    try reader.skip(1)
    let middle = try reader.span(3)
    #expect(Array(bytes: middle) == [1, 2, 3])
    #expect(try reader.uint8() == 8)
  }
}
