import Bytes
import Testing

@testable import MDNS

@Suite struct NameTests {
  func read(_ bytes: [UInt8], at offset: Int = 0) throws(MessageError) -> (Name, Int) {
    var reader = ByteReader(bytes.span.bytes)
    try! reader.skip(offset)
    let name = try Name(&reader)
    return (name, reader.offset)
  }

  @Test func namesDifferNotByCaseOrAFinalDot() {
    #expect(Name("Kiosk.LOCAL.") == Name("kiosk.local"))
    #expect(Name("kiosk.local")?.hashValue == Name("KIOSK.local")?.hashValue)
    #expect(Name("kiosk.local") != Name("kiosk.loca1"))
    #expect(Name("a.b") != Name("a.b.c"))
  }

  @Test(arguments: ["", ".", "a..b", String(repeating: "a", count: 64), (0..<70).map { "l\($0)" }.joined(separator: ".")])
  func textThatIsNoNameIsRefused(text: String) { #expect(Name(text) == nil) }

  @Test func compressedNamesAreReadAndTheReaderStandsBehindThePointer() throws {
    // "local" at 0, "a" + pointer at 7, pointer to that at 11.
    let bytes: [UInt8] = [5] + Array("local".utf8) + [0, 1, 97, 0xC0, 0, 0xC0, 7]
    #expect(try read(bytes, at: 7) == (Name("a.local")!, 11))
    #expect(try read(bytes, at: 11) == (Name("a.local")!, 13))
  }

  @Test func pointersThatDoNotPointBackAreRefused() {
    #expect(throws: MessageError.pointerLoop) { try self.read([0xC0, 0]) }
    #expect(throws: MessageError.pointerLoop) { try self.read([0xC0, 2, 1, 97, 0]) }
    #expect(throws: MessageError.pointerLoop) { try self.read([1, 97, 0xC0, 0], at: 0) }
    // Two names that point at each other.
    #expect(throws: MessageError.pointerLoop) { try self.read([1, 97, 0xC0, 4, 1, 98, 0xC0, 0], at: 4) }
  }

  @Test func longAndBrokenNamesAreRefused() {
    let label: [UInt8] = [63] + [UInt8](repeating: 97, count: 63)
    #expect(throws: MessageError.nameTooLong) { try self.read(label + label + label + label + [0]) }
    #expect(throws: MessageError.truncated) { try self.read([3, 97]) }
    #expect(throws: MessageError.truncated) { try self.read([0xC0]) }
    #expect(throws: MessageError.reservedLabel) { try self.read([0x80, 0]) }
  }
}
