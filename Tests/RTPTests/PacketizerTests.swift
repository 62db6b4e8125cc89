import Base
import Bytes
import Testing

@testable import RTP

/// All payloads of a frame; nil when it cannot be packetized.
func payloads(_ packetizer: inout Packetizer, _ frame: [UInt8], maximum: Int) -> [[UInt8]]? {
  guard packetizer.begin(frame.span.bytes, maximumPayloadCount: maximum) else { return nil }
  var result: [[UInt8]] = []
  var buffer = [UInt8](repeating: 0, count: maximum)
  while true {
    var span = buffer.mutableSpan
    var target = span.mutableBytes
    guard let (count, isLast) = packetizer.next(frame.span.bytes, into: &target) else { return nil }
    result.append(Array(buffer.prefix(count)))
    if isLast { break }
  }
  var span = buffer.mutableSpan
  var target = span.mutableBytes
  return packetizer.next(frame.span.bytes, into: &target) == nil ? result : nil
}

/// The frame that a receiver makes of the payloads.
func joined(_ payloads: [[UInt8]], _ format: PayloadFormat) throws -> [UInt8] {
  var depacketizer = Depacketizer(format: format)
  var frame: [UInt8] = []
  for payload in payloads { try depacketizer.append(payload.span.bytes, to: &frame) }
  return frame
}

/// A NAL unit of `count` bytes whose content needs no emulation prevention.
func unit(_ header: UInt8, _ count: Int) -> [UInt8] { [header] + (1..<max(count, 2)).map { UInt8(0x80 + $0 % 100) } }

func annexB(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

@Suite struct PacketizerTests {
  @Test(arguments: [.opus, .pcmu, .pcma] as [PayloadFormat]) func anAudioFrameIsOnePayload(format: PayloadFormat) throws {
    var packetizer = Packetizer(format: format)
    let frame = [UInt8](1...160)
    #expect(payloads(&packetizer, frame, maximum: 1_200) == [frame])
    #expect(try joined([frame], format) == frame)
    #expect(payloads(&packetizer, [UInt8](repeating: 1, count: 1_201), maximum: 1_200) == nil)
    #expect(payloads(&packetizer, [], maximum: 1_200) == nil)
  }

  @Test func aVP8FrameIsCutIntoEqualPartsWithOnePictureIdentifier() throws {
    var packetizer = Packetizer(format: .vp8, pictureIdentifier: 0x7FFF)
    let frame = (0..<3_000).map { UInt8(truncatingIfNeeded: $0 / 7 * 2) }
    let first = try #require(payloads(&packetizer, frame, maximum: 1_200))
    #expect(first.map(\.count) == [1_004, 1_004, 1_004])
    #expect(first.map { Array($0.prefix(4)) } == [[0x90, 0x80, 0xFF, 0xFF], [0x80, 0x80, 0xFF, 0xFF], [0x80, 0x80, 0xFF, 0xFF]])
    #expect(try joined(first, .vp8) == frame)
    let second = try #require(payloads(&packetizer, [1], maximum: 1_200))
    #expect(second == [[0x90, 0x80, 0x80, 0x00, 1]])
    #expect(payloads(&packetizer, [], maximum: 1_200) == nil)
  }

  @Test func parameterSetsTravelInOnePayloadAndALargePictureInFragments() throws {
    var packetizer = Packetizer(format: .h264(packetizationMode: 1))
    let (sps, pps, idr) = (unit(0x67, 12), unit(0x68, 5), unit(0x65, 2_500))
    let frame = annexB([sps, pps, idr])
    let result = try #require(payloads(&packetizer, frame, maximum: 1_000))
    #expect(result.count == 4)
    #expect(result[0] == [0x78, 0, 12] + sps + [0, 5] + pps)
    #expect(result[1].prefix(2) == [0x7C, 0x85] && result[2].prefix(2) == [0x7C, 0x05] && result[3].prefix(2) == [0x7C, 0x45])
    #expect(result.dropFirst().allSatisfy { $0.count == 835 })
    #expect(try joined(result, .h264(packetizationMode: 1)) == frame)
  }

  @Test func modeZeroSendsUnitsOneByOneAndRefusesLargeOnes() throws {
    var packetizer = Packetizer(format: .h264(packetizationMode: 0))
    let units = [unit(0x67, 12), unit(0x68, 5), unit(0x65, 1_000)]
    #expect(payloads(&packetizer, annexB(units), maximum: 1_000) == units)
    #expect(payloads(&packetizer, annexB(units + [unit(0x65, 1_001)]), maximum: 1_000) == nil)
  }

  @Test func startCodesOfThreeBytesAndStuffingAreUnderstood() throws {
    var packetizer = Packetizer(format: .h264(packetizationMode: 0))
    let frame: [UInt8] = [0, 0, 1, 0x67, 9, 0, 0, 0, 0, 0, 1, 0x68, 8, 0, 0, 1, 0, 0, 1, 0x65, 7, 6, 0, 0]
    #expect(payloads(&packetizer, frame, maximum: 100) == [[0x67, 9], [0x68, 8], [0x65, 7, 6]])
    #expect(payloads(&packetizer, [0x65, 1, 2], maximum: 100) == [[0x65, 1, 2]])
    #expect(payloads(&packetizer, [0, 0, 1], maximum: 100) == nil)
    #expect(payloads(&packetizer, [0, 0, 0, 0], maximum: 100) == nil)
    #expect(payloads(&packetizer, [], maximum: 100) == nil)
  }

  @Test func anyFrameComesBackWhole() throws {
    var random = RandomSource(seed: 11)
    for format in [PayloadFormat.vp8, .h264(packetizationMode: 1)] {
      var packetizer = Packetizer(format: format)
      for _ in 0..<300 {
        let units = (0..<Int.random(in: 1...6, using: &random)).map { _ in
          unit(
            [0x61, 0x65, 0x67, 0x41, 0x06].randomElement(using: &random)!,
            Int.random(in: 2...(Bool.random(using: &random) ? 40 : 4_000), using: &random))
        }
        let frame = annexB(units)
        let maximum = Int.random(in: 32...1_300, using: &random)
        let result = try #require(payloads(&packetizer, frame, maximum: maximum))
        #expect(result.allSatisfy { $0.count <= maximum })
        #expect(try joined(result, format) == frame)
      }
    }
  }
}
