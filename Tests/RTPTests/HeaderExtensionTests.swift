import Bytes
import Testing

@testable import RTP

/// Writes a header with extensions and reads it back.
func roundTrip(_ extensions: HeaderExtensions, _ map: HeaderExtensionMap) throws -> (Header, HeaderExtensions, WrittenHeader, [UInt8]) {
  var bytes = [UInt8](repeating: 0xEE, count: 400)
  let header = Header(payloadType: 111, sequenceNumber: 65535, timestamp: 0xFFFF_FFFF, ssrc: 7, isMarked: true)
  var span = bytes.mutableSpan
  var target = span.mutableBytes
  let written = try header.write(extensions, map: map, into: &target)
  bytes.removeSubrange(written.count...)
  let parsed = try Header(parsing: bytes.span.bytes)
  return (parsed, HeaderExtensions(parsing: bytes.span.bytes, header: parsed, map: map), written, bytes)
}

func map(_ first: UInt8 = 1) -> HeaderExtensionMap {
  var map = HeaderExtensionMap()
  for kind in HeaderExtension.allCases { map.set(kind, identifier: first + kind.rawValue) }
  return map
}

let everything: HeaderExtensions = {
  var all = HeaderExtensions()
  all.mid = "video-0"
  all.rid = "hi"
  all.repairedRid = "lo"
  all.absoluteSendTime = 0xABCDEF
  all.transportSequenceNumber = 0xFFFE
  all.audioLevel = .init(level: 42, isVoice: true)
  all.videoOrientation = 0b1011
  all.playoutDelay = .init(minimum: 20, maximum: 40_950)
  all.absoluteCaptureTime = 0x0102_0304_0506_0708
  all.captureClockOffset = -5
  return all
}()

@Suite struct HeaderExtensionTests {
  @Test(arguments: [1, 20] as [UInt8]) func everyValueComesBackInBothForms(first: UInt8) throws {
    let (header, parsed, _, _) = try roundTrip(everything, map(first))
    #expect(parsed == everything)
    #expect(header.extensionProfile == (first == 1 ? 0xBEDE : 0x1000))
    #expect(header.payloadType == 111 && header.isMarked && header.sequenceNumber == 65535 && header.timestamp == 0xFFFF_FFFF)
  }

  @Test func theBytesAreThoseOfTheRFC() throws {
    var map = HeaderExtensionMap()
    map.set(.audioLevel, identifier: 1)
    map.set(.mid, identifier: 4)
    var extensions = HeaderExtensions()
    extensions.audioLevel = .init(level: 127, isVoice: false)
    extensions.mid = "0"
    let (_, _, _, bytes) = try roundTrip(extensions, map)
    #expect(Array(bytes[12...]) == [0xBE, 0xDE, 0, 1, 0x40, 0x30, 0x10, 0x7F])
    #expect(bytes[0] == 0x90)
  }

  @Test func theSendersLateValuesHaveTheirPlace() throws {
    var extensions = HeaderExtensions()
    extensions.absoluteSendTime = 0
    extensions.transportSequenceNumber = 0
    var (header, _, written, bytes) = try roundTrip(extensions, map())
    let time = try #require(written.absoluteSendTimeOffset)
    let number = try #require(written.transportSequenceNumberOffset)
    bytes.replaceSubrange(time..<time + 3, with: [1, 2, 3])
    bytes.replaceSubrange(number..<number + 2, with: [4, 5])
    header = try Header(parsing: bytes.span.bytes)
    let parsed = HeaderExtensions(parsing: bytes.span.bytes, header: header, map: map())
    #expect(parsed.absoluteSendTime == 0x010203)
    #expect(parsed.transportSequenceNumber == 0x0405)
  }

  @Test func valuesWithoutIdentifierAreNotWritten() throws {
    let (header, parsed, written, _) = try roundTrip(everything, HeaderExtensionMap())
    #expect(parsed == HeaderExtensions())
    #expect(header.extensionProfile == 0 && written.count == 12)
    #expect(written.absoluteSendTimeOffset == nil && written.transportSequenceNumberOffset == nil)
  }

  @Test func aTextOfMoreThanSixteenBytesIsLeftOut() throws {
    var extensions = HeaderExtensions()
    extensions.mid = "seventeen-letters"
    #expect(try roundTrip(extensions, map()).1.mid == nil)
    extensions.mid = "sixteen-letters-"
    #expect(try roundTrip(extensions, map()).1.mid == "sixteen-letters-")
    #expect(try roundTrip(extensions, map(20)).1.mid == "sixteen-letters-")
  }

  @Test func aShortBufferIsRefused() {
    var bytes = [UInt8](repeating: 0, count: 30)
    var span = bytes.mutableSpan
    var target = span.mutableBytes
    var thrown = false
    do {
      _ = try Header(payloadType: 0, sequenceNumber: 0, timestamp: 0, ssrc: 0).write(everything, map: map(), into: &target)
    } catch { thrown = true }
    #expect(thrown)
  }

  /// A packet whose extension of `profile` holds `values`.
  private func parse(_ profile: [UInt8], _ values: [UInt8], _ map: HeaderExtensionMap) throws -> HeaderExtensions {
    let bytes = [0x90, 0] + [UInt8](repeating: 0, count: 10) + profile + [0, UInt8(values.count / 4)] + values
    return HeaderExtensions(parsing: bytes.span.bytes, header: try Header(parsing: bytes.span.bytes), map: map)
  }

  @Test func unknownIdentifiersAndPaddingArePassedOver() throws {
    let parsed = try parse([0xBE, 0xDE], [0xD1, 9, 9, 0, 0, 0, 0x60, 0x85], map())
    #expect(parsed.audioLevel == .init(level: 5, isVoice: true))
    #expect(!parsed.isMalformed)
  }

  @Test func valuesOfWrongLengthAreIgnoredAndSaidSo() throws {
    for kind in HeaderExtension.allCases where ![.mid, .rid, .repairedRid].contains(kind) {
      let parsed = try parse([0xBE, 0xDE], [(1 + kind.rawValue) << 4 | 4, 1, 2, 3, 4, 5, 0, 0], map())
      var nothing = HeaderExtensions()
      nothing.isMalformed = true
      #expect(parsed == nothing)
    }
    #expect(try parse([0xBE, 0xDE], [0x13, 0x61, 0x62, 0x63], map()).isMalformed)
    #expect(try parse([0xBE, 0xDE], [0x10, 0xFF, 0, 0], map()).mid == nil)
    #expect(try parse([0xBE, 0xDE], [0x01, 0x10, 0x61, 0], map()).isMalformed)
    #expect(try parse([0x10, 0], [0, 0, 0, 1], map()).isMalformed)
    #expect(try parse([0x10, 0], [1, 9, 0x61, 0x61], map()).isMalformed)
  }

  @Test func identifier15EndsTheOneByteForm() throws {
    let parsed = try parse([0xBE, 0xDE], [0xF0, 1, 0x60, 0x85], map())
    #expect(parsed == HeaderExtensions())
  }

  @Test func anotherProfileIsNotRead() throws {
    #expect(try parse([0x12, 0x34], [0x60, 0x85, 0, 0], map()) == HeaderExtensions())
  }

  @Test func theMapKeepsOneExtensionPerIdentifier() {
    var map = HeaderExtensionMap()
    let isSet = map.set(.mid, identifier: 3)
    #expect(isSet)
    map.set(.rid, identifier: 3)
    #expect(map.identifier(for: .mid) == nil)
    #expect(map[3] == .rid)
    let isZeroSet = map.set(.mid, identifier: 0)
    #expect(!isZeroSet)
    map.set(.mid, identifier: 200)
    #expect(map[200] == .mid && map.needsTwoByteForm)
    map.set(.mid, identifier: nil)
    #expect(map[200] == nil && !map.needsTwoByteForm && map[0] == nil && map[15] == nil)
  }

  @Test func everyURIStandsForItsExtension() {
    for kind in HeaderExtension.allCases { #expect(HeaderExtension(uri: kind.uri) == kind) }
    #expect(HeaderExtension(uri: "urn:example") == nil)
    #expect(Set(HeaderExtension.allCases.map(\.uri)).count == 9)
  }
}
