import Frames
import Testing

@testable import Sound

struct AudioBlockGainTests {
  private let block = AudioBlock(samples: Array(repeating: 10_000, count: 480))

  @Test func soundGetsQuieterByAFactor() {
    #expect(block.scaled(from: 1, to: 1) == block)
    #expect(block.scaled(from: 0.5, to: 0.5).samples.allSatisfy { $0 == 5_000 })
    #expect(block.scaled(from: 0, to: 0).samples.allSatisfy { $0 == 0 })
  }

  @Test func aChangeGoesOverEvenly() {
    let samples = block.scaled(from: 1, to: 0).samples
    #expect(samples[479] == 0 && samples[239] == 5_000)
    #expect(zip(samples, samples.dropFirst()).allSatisfy { $0 > $1 && $0 - $1 <= 21 })
  }

  @Test func bothChannelsChangeTogether() {
    let stereo = AudioBlock(samples: Array(repeating: -8_000, count: 960), channelCount: 2).scaled(from: 0, to: 1)
    #expect((0..<480).allSatisfy { stereo.samples[2 * $0] == stereo.samples[2 * $0 + 1] } && stereo.samples[959] == -8_000)
  }

  @Test func whatIsTooLoudIsCutAtFullScale() {
    #expect(block.scaled(from: 10, to: 10).samples.allSatisfy { $0 == .max })
  }
}
