import Bytes
import Testing

@testable import RTP

func malformed(_ bytes: [UInt8]) -> MalformedPacket? {
  do {
    _ = try Header(parsing: bytes.span.bytes)
    return nil
  } catch { return error }
}

@Suite struct HeaderTests {
  @Test func readsEveryField() throws {
    // Version 2, padding, extension, two contributing sources; marker, payload type 96.
    let bytes: [UInt8] = [
      0xB2, 0xE0, 0x12, 0x34, 0, 0, 0x27, 0x10, 0xDE, 0xAD, 0xBE, 0xEF, 0, 0, 0, 1, 0, 0, 0, 2, 0xBE, 0xDE, 0, 1, 0x10, 0x61, 0, 0, 0x70,
      0x71,
      0x72, 0, 0, 3,
    ]
    let header = try Header(parsing: bytes.span.bytes)
    #expect(header.payloadType == 96)
    #expect(header.isMarked)
    #expect(header.sequenceNumber == 0x1234)
    #expect(header.timestamp == 10_000)
    #expect(header.ssrc == 0xDEAD_BEEF)
    #expect(header.csrcCount == 2)
    #expect(header.csrc(at: 0, of: bytes.span.bytes) == 1)
    #expect(header.csrc(at: 1, of: bytes.span.bytes) == 2)
    #expect(header.extensionProfile == 0xBEDE)
    #expect(header.extensionValues == 24..<28)
    #expect(header.paddingCount == 3)
    #expect(Array(bytes: bytes.span.bytes.extracting(header.payload)) == [0x70, 0x71, 0x72])
  }

  @Test func anEmptyPayloadAndPaddingAloneAreAllowed() throws {
    let bare = [0x80, 0] + [UInt8](repeating: 0, count: 10)
    #expect(try Header(parsing: bare.span.bytes).payload.isEmpty)
    let padded = [0xA0, 0] + [UInt8](repeating: 0, count: 10) + [0, 0, 3]
    let header = try Header(parsing: padded.span.bytes)
    #expect(header.payload == 12..<12)
    #expect(header.paddingCount == 3)
  }

  @Test func saysWhatIsWrong() {
    let fixed: [UInt8] = [0x80, 0] + [UInt8](repeating: 0, count: 10)
    #expect(malformed([]) == .truncated("the end of the fixed header"))
    #expect(malformed(Array(fixed.dropLast())) == .truncated("the end of the fixed header"))
    #expect(malformed([0x40] + fixed.dropFirst()) == .version(1))
    #expect(malformed([0x81] + fixed.dropFirst()) == .truncated("the end of the contributing sources"))
    #expect(malformed([0x90] + fixed.dropFirst()) == .truncated("the header extension"))
    #expect(malformed([0x90] + fixed.dropFirst() + [0xBE, 0xDE, 0, 2, 0, 0, 0, 0]) == .length("the header extension"))
    #expect(malformed([0xA0] + fixed.dropFirst()) == .truncated("the padding count"))
    #expect(malformed([0xA0] + fixed.dropFirst() + [0]) == .padding(0))
    #expect(malformed([0xA0] + fixed.dropFirst() + [9, 3]) == .padding(3))
    #expect(MalformedPacket.version(1).description == "version 1 instead of 2")
  }

  @Test func everyTruncationOfAPacketIsRefusedOrShort() {
    let bytes: [UInt8] = [0x91, 0x60, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0x10, 0, 0, 1, 1, 2, 3, 4]
    for count in 0..<bytes.count { #expect(malformed(Array(bytes.prefix(count))) != nil) }
    #expect(malformed(bytes) == nil)
  }
}
