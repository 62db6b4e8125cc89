import Frames
import Testing

@testable import Sound

struct AudioBlockLevelTests {
  private func block(_ samples: [Int16]) -> AudioBlock { AudioBlock(samples: (0..<480).map { samples[$0 % samples.count] }) }

  @Test func levelsCountDownFromFullScale() {
    #expect(block([32_767, -32_767]).level == 0)
    #expect(block([3_277, -3_277]).level == 20)
    #expect(block([0]).level == 127)
    #expect(block([1, -1]).level == 90)
    #expect(block([.min]).level == 0)
  }

  @Test func aMixIsTheSumAndIsCutAtFullScale() {
    let mix = AudioBlock.mixed([block([100, 20_000]), block([-30, 20_000]), block([0, 20_000])])
    #expect(Array(mix.samples[..<2]) == [70, 32_767])
    #expect(AudioBlock.mixed([block([.min]), block([.min])]).samples[0] == .min)
    #expect(AudioBlock.mixed([]) == .silence())
  }

  @Test func channelsAreDoubledAndAveraged() {
    let stereo = block([5]).converted(toChannelCount: 2)
    #expect(stereo.channelCount == 2 && stereo.samples.count == 960 && stereo.samples.allSatisfy { $0 == 5 })
    let mono = AudioBlock(samples: (0..<960).map { $0 % 2 == 0 ? .max : .max - 2 }, channelCount: 2).converted(toChannelCount: 1)
    #expect(mono.samples.allSatisfy { $0 == .max - 1 })
    #expect(AudioBlock.mixed([block([4]), stereo], channelCount: 2).samples[1] == 9)
  }
}
