import Frames
import Glibc
import Testing

@testable import Sound

struct WAVFileTests {
  private func field(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }

  private func wav(rate: Int, channels: Int = 1, encoding: Int = 1, bits: Int = 16, samples: [Int16]) -> [UInt8] {
    // The odd chunk in front is padded.
    let data = samples.flatMap { field(Int($0), 2) }
    return Array("RIFF".utf8) + field(0, 4) + Array("WAVE".utf8) + Array("LIST".utf8) + field(3, 4) + [1, 2, 3, 0]
      + Array("fmt ".utf8) + field(16, 4) + field(encoding, 2) + field(channels, 2) + field(rate, 4) + field(rate * 2 * channels, 4)
      + field(2 * channels, 2) + field(bits, 2) + Array("data".utf8) + field(data.count, 4) + data
  }

  private func tone(rate: Int, seconds: Int = 1) -> [Int16] {
    (0..<rate * seconds).map { Int16(8_000 * sin(2 * .pi * 440 * Double($0) / Double(rate))) }
  }

  @Test(arguments: [8_000, 16_000, 44_100, 48_000, 96_000])
  func anyRateSoundsTheSameAt48kHz(rate: Int) throws {
    let file = try WAVFile(bytes: wav(rate: rate, samples: tone(rate: rate)))
    #expect((100...102).contains(file.blockCount))
    let expected = tone(rate: 48_000)
    let heard = (10..<90).flatMap { file.block(at: $0).samples }
    let worst = zip(heard, expected[4_800...]).map { abs(Int($0) - Int($1)) }.max()!
    #expect(worst < 250, "in phase, to 30 dB")
  }

  @Test func twoChannelsStayApartAndTheEndLeadsToTheStart() throws {
    let file = try WAVFile(bytes: wav(rate: 48_000, channels: 2, samples: (0..<2_000).map { $0 % 2 == 0 ? 7 : -7 }))
    #expect(file.channelCount == 2 && file.blockCount == 3)
    #expect(Array(file.block(at: 3).samples[..<2]) == [7, -7])
    #expect(file.block(at: 2).samples.last == 0, "padded")
    #expect(file.block(at: -1) == file.block(at: 2))
  }

  @Test func whatIsWrittenIsRead() throws {
    let path = "/tmp/parlor-wav-\(getpid()).wav"
    defer { unlink(path) }
    let microphone = SyntheticMicrophone()
    var writer = try WAVWriter(path: path)
    for index in 0..<5 { try writer.write(microphone.block(at: index)) }
    let file = try WAVFile(path: path)
    #expect(file.blockCount == 5)
    #expect((0..<5).allSatisfy { file.block(at: $0) == microphone.block(at: $0) })
  }

  @Test func aWrongFileIsRefusedWithTheReason() {
    func reason(_ bytes: [UInt8]) -> String? {
      do throws(SoundError) {
        _ = try WAVFile(bytes: bytes, name: "x.wav")
        return nil
      } catch {
        return error.description
      }
    }
    #expect(reason([]) == "x.wav: not a WAV file")
    #expect(reason(wav(rate: 8_000, encoding: 7, bits: 8, samples: [1])) == "x.wav: encoding 7 with 8 bits, accepted is PCM with 16 bits")
    #expect(reason(wav(rate: 8_000, channels: 6, samples: [1])) == "x.wav: 6 channels, accepted are 1 and 2")
    #expect(reason(wav(rate: 100, samples: [1])) == "sample rate 100 Hz, accepted are 4000 to 192000")
    #expect(reason(wav(rate: 8_000, samples: [])) == "x.wav: no sound in it")
    let whole = wav(rate: 8_000, samples: tone(rate: 8_000))
    for count in 0..<58 { #expect(reason(Array(whole[..<count])) != nil) }
    #expect(reason(Array(whole[..<1_000])) == nil, "a recording that was cut off is played to where it ends")
  }
}
