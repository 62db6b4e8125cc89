import Camera
import Frames
import Testing

@testable import Codecs

@Suite struct AccessUnitReaderTests {
  /// What a camera codes; a key frame where `keyFrames` says so.
  private func stream(_ count: Int, keyFrames: Set<Int> = [0]) throws -> [[UInt8]] {
    let encoder = try H264Encoder(settings: VideoEncoderSettings(width: 320, height: 180, bitrate: 300_000))
    let camera = SyntheticCamera(width: 320, height: 180)
    return try (0..<count).map { try #require(try encoder.encode(camera.frame(at: $0), forceKeyFrame: keyFrames.contains($0))).bytes }
  }

  private func units(_ bytes: [UInt8], _ type: UInt8) -> [[UInt8]] {
    AnnexB.units(of: bytes).map { Array(bytes[$0]) }.filter { $0[0] & 0x1F == type }
  }

  @Test func unitsGoOnAsTheyAreAndSayWhatTheyAre() throws {
    var reader = AccessUnitReader()
    var last: Int?
    for (index, bytes) in try stream(40, keyFrames: [0, 20]).enumerated() {
      let unit = try #require(try reader.read(bytes))
      #expect(unit.frame.bytes == bytes)
      #expect(unit.frame.isKeyFrame == (index == 0 || index == 20))
      #expect(unit.format == AccessUnit.Format(width: 320, height: 180, profile: 66, constraints: 0xC0, level: unit.format?.level ?? 0))
      #expect(unit.format?.profileLevelID.hasPrefix("42c0") == true)
      #expect((unit.frame.width, unit.frame.height) == (320, 180) && unit.frame.quantizer != nil)
      if let last { #expect(unit.number == last + 1) }
      last = unit.number
    }
  }

  /// A driver that drops a picture does not always say so.
  @Test func aMissingUnitLeavesANumberOut() throws {
    var stream = try stream(12)
    stream.remove(at: 6)
    var reader = AccessUnitReader()
    let numbers = try stream.map { try #require(try reader.read($0)).number }
    let steps = zip(numbers.dropFirst(), numbers).map { $0 - $1 }
    #expect(steps == [1, 1, 1, 1, 1, 2, 1, 1, 1, 1])
  }

  @Test func keyFramesGetTheParameterSetsThatCameBefore() throws {
    let stream = try stream(3, keyFrames: [0, 2])
    let sets = units(stream[0], 7) + units(stream[0], 8)
    func bytes(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }
    let bare = bytes(units(stream[2], 5))
    var reader = AccessUnitReader()
    // Some cameras give them in a buffer of their own, or each in one, once.
    #expect(try reader.read(bytes([sets[0]])) == nil)
    #expect(try reader.read(bytes([sets[1]])) == nil)
    let first = try #require(try reader.read(bytes(units(stream[0], 5))))
    #expect(first.frame.isKeyFrame && first.frame.bytes == bytes(sets) + bytes(units(stream[0], 5)))
    // Nothing may stand before a delimiter.
    let delimited = try #require(try reader.read([0, 0, 0, 1, 0x09, 0x10] + bare))
    #expect(delimited.frame.bytes == [0, 0, 0, 1, 0x09, 0x10] + bytes(sets) + bare)
  }

  @Test func whatIsAtFaultIsNamedAndCountsAsMissing() throws {
    let stream = try stream(4)
    var reader = AccessUnitReader()
    let first = try #require(try reader.read(stream[0])).number
    func fault(_ bytes: [UInt8]) -> AccessUnitFault? {
      do throws(AccessUnitFault) { _ = try reader.read(bytes) } catch { return error }
      return nil
    }
    #expect(fault([]) == .empty)
    #expect(fault([UInt8](repeating: 7, count: 100)) == .empty)
    #expect(fault([0, 0, 1, 0x81, 0x9A]) == .damaged("a NAL unit that is marked as damaged"))
    #expect(fault([0, 0, 0, 1, 0x61, 0x40, 1, 2, 3]) == .damaged("a picture without its first slice"))
    #expect(fault(stream[1] + stream[2]) == .damaged("two pictures in one buffer"))
    #expect(fault(Array(stream[1].prefix(6))) == .damaged("a slice header that is cut short, or whose SPS and PPS never came"))
    #expect(try #require(try reader.read(stream[3])).number > first + 1)
  }

  @Test func aStreamThatBeginsInTheMiddleWaitsForParameterSets() throws {
    let stream = try stream(3, keyFrames: [0, 2])
    var reader = AccessUnitReader()
    #expect(throws: AccessUnitFault.damaged("a slice header that is cut short, or whose SPS and PPS never came")) {
      try reader.read(stream[1])
    }
    #expect(try reader.read(stream[2])?.frame.isKeyFrame == true)
  }
}
