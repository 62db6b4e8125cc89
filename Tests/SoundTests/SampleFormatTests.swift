import Testing

@testable import Sound

struct SampleFormatTests {
  /// What a stream writes, a stream reads back, in every format and number of channels.
  @Test(arguments: SampleFormat.allCases, 1...8)
  func whatIsWrittenIsRead(format: SampleFormat, channels: Int) {
    let samples: [Float] = [0, 0.5, -0.5, 1, -1, 0.1, -0.1, 0.25]
    for inside in 1...2 {
      let frames = samples.count / inside
      var bytes = [UInt8](repeating: 0xAA, count: frames * channels * format.size)
      var result = [Float](repeating: 9, count: samples.count)
      format.store(samples, channels: inside, into: &bytes, channels: channels, frameCount: frames)
      format.load(bytes, channels: channels, into: &result, channels: inside, frameCount: frames)
      for frame in 0..<frames {
        let mean = samples[frame * inside..<(frame + 1) * inside].reduce(0, +) / Float(inside)
        for side in 0..<inside {
          let wanted = channels == 1 ? mean : samples[frame * inside + side]
          #expect(abs(result[frame * inside + side] - wanted) < 1e-4)
        }
      }
      // Channels that nothing is for are silent.
      for frame in 0..<frames where channels > 2 {
        let rest = bytes[(frame * channels + 2) * format.size..<(frame + 1) * channels * format.size]
        #expect(rest.allSatisfy { $0 == 0 })
      }
    }
  }

  @Test func bytesAreLittleEndian() {
    func stored(_ format: SampleFormat, _ value: Float) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: format.size)
      format.store([value], channels: 1, into: &bytes, channels: 1, frameCount: 1)
      return bytes
    }
    #expect(stored(.int16, 0.5) == [0x00, 0x40])
    #expect(stored(.int24Packed, -0.5) == [0x00, 0x00, 0xC0])
    #expect(stored(.int24, -0.5) == [0x00, 0x00, 0xC0, 0xFF])
    #expect(stored(.int32, 0.5) == [0x00, 0x00, 0x00, 0x40])
    #expect(stored(.float, 0.5) == [0x00, 0x00, 0x00, 0x3F])
    #expect(stored(.int16, 2) == [0xFF, 0x7F] && stored(.int16, -2) == [0x00, 0x80])
    #expect(stored(.int32, 2) == [0xFF, 0xFF, 0xFF, 0x7F])
  }

  @Test func aNumberThatIsNoneIsSilence() {
    var result: [Float] = [9]
    SampleFormat.float.load([Float.nan], channels: 1, into: &result, channels: 1, frameCount: 1)
    #expect(result == [0])
  }

  @Test func theUpperByteOf24BitsInFourIsAnything() {
    var result: [Float] = [9]
    SampleFormat.int24.load([0x00, 0x00, 0xC0, 0x55] as [UInt8], channels: 1, into: &result, channels: 1, frameCount: 1)
    #expect(result == [-0.5])
  }
}
