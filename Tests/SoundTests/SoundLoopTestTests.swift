import Base
import Frames
import Testing

@testable import Sound

/// The test of loudspeaker and microphone, in rooms that are made up.
@Suite struct SoundLoopTestTests {
  /// A room: how late sound comes, how loud, with what noise and how many reflections; and what cancellation leaves.
  private struct Room {
    var delay = 1_000
    var gain: Float = 0.1
    var noise: Float = 0.001
    var reflections: [(delay: Int, gain: Float)] = []
    var left: Float? = 0.01
    var seed: UInt64 = 1
  }

  private func result(_ room: Room) -> SoundLoopTest.Result {
    let start = Instant.zero + .seconds(100)
    let count = SoundLoopTest.blockCount * 480
    let played = (0..<SoundLoopTest.blockCount).flatMap { SoundLoopTest.block(at: $0).samples.map { Float($0) / 32_768 } }
    var generator = RandomSource(seed: room.seed)
    var test = SoundLoopTest(start: start, cancelsEcho: room.left != nil)
    let heard = (0..<count).map { index -> Float in
      var sample: Float = Float.random(in: -1...1, using: &generator) * room.noise
      for (delay, gain) in [(delay: 0, gain: 1)] + room.reflections where index >= room.delay + delay {
        sample += played[index - room.delay - delay] * gain * room.gain
      }
      return sample
    }
    for block in 0..<SoundLoopTest.blockCount {
      let samples = heard[block * 480..<block * 480 + 480].map { Int16(clamping: Int($0 * 32_768)) }
      let time = start + .milliseconds(10) * Int64(block)
      test.hear(AudioBlock(samples: samples), at: time)
      if let left = room.left { test.hearCancelled(AudioBlock(samples: samples.map { Int16(Float($0) * left) }), at: time) }
    }
    return test.result()
  }

  @Test func delayAndLevelAreThoseOfTheRoom() throws {
    let result = result(Room(delay: 2_400, gain: 0.1))
    let delay = try #require(result.delay)
    #expect(abs(delay.seconds - 0.05) < 0.0001)
    #expect(abs(try #require(result.level) - (Chirp().level - 20)) < 0.5)
    #expect(abs(try #require(result.reduction) - 40) < 3)
    #expect(result.noise < -60)
  }

  @Test func reflectionsDoNotMoveIt() throws {
    let room = Room(delay: 720, gain: 0.05, reflections: [(150, 0.7), (410, -0.5), (2_000, 0.4), (5_000, 0.2)])
    #expect(abs(try #require(result(room).delay).seconds - 0.015) < 0.0002)
  }

  @Test(arguments: 1...5) func noiseAloneIsNoChirp(seed: Int) {
    let silent = result(Room(gain: 0, noise: 0.2, seed: UInt64(seed)))
    #expect(silent.delay == nil && silent.level == nil && silent.reduction == nil)
    #expect(silent.noise > -25)
  }

  @Test func aChirpIsFoundBelowTheNoise() throws {
    let result = result(Room(delay: 4_800, gain: 0.02, noise: 0.02))
    #expect(abs(try #require(result.delay).seconds - 0.1) < 0.0002)
  }

  @Test func nothingHeardIsNothingFound() {
    let result = result(Room(gain: 0, noise: 0))
    #expect(result.delay == nil && result.noise <= -119)
  }

  @Test func withoutCancellationNoEchoIsTold() {
    let result = result(Room(left: nil))
    #expect(result.delay != nil && result.echo == nil && result.reduction == nil)
  }

  @Test func whatIsPlayedIsNeverTooLoudAndEndsInSilence() {
    let blocks = (0..<SoundLoopTest.blockCount).map { SoundLoopTest.block(at: $0) }
    #expect(blocks.allSatisfy { $0.peak < 0.26 } && blocks[100].peak > 0.2)
    #expect(blocks[0] == .silence() && blocks[SoundLoopTest.blockCount - 1] == .silence())
  }
}
