import Base
import Frames
import Glibc

/// What is played and what a microphone hears of it, made of noise so that each run is the same: words of noise, a direct sound, and an echo that dies away.
struct NoisyRoom {
  /// From loudspeaker to microphone, in samples.
  var delay: Int
  /// How loud the direct sound is.
  var gain: Float = 0.5
  /// How loud the microphone's own noise is.
  var noise: Float = 1e-4

  private var random: RandomSource
  private var played = [Float](repeating: 0, count: 1 << 16)
  private var position = 0

  init(delay: Int, seed: UInt64 = 1) {
    self.delay = delay
    random = RandomSource(seed: seed)
  }

  /// The next block that is played: noise that comes and goes four times a second, or silence.
  mutating func playedBlock(isSilent: Bool = false) -> AudioBlock {
    var block = AudioBlock.silence()
    for index in 0..<AudioBlock.sampleCount {
      let isWord = (position + index) % 12_000 < 9_000
      let sample = isSilent || !isWord ? 0 : 0.2 * uniform()
      played[(position + index) & 0xFFFF] = sample
      block.samples[index] = Int16(sample * 32_767)
    }
    return block
  }

  /// What the microphone hears while the block that was played last is, and `voice` besides.
  mutating func heardBlock(voice: Float = 0) -> AudioBlock {
    var block = AudioBlock.silence()
    for index in 0..<AudioBlock.sampleCount {
      let now = position + index - delay
      var sample = gain * at(now)
      // Reflections every 3.1 ms or so, each weaker.
      for reflection in 1..<8 { sample += gain * 0.5 / Float(reflection) * at(now - reflection * 149) * (reflection % 2 == 0 ? 1 : -1) }
      sample += noise * uniform() + voice * uniform()
      block.samples[index] = Int16(max(-1, min(1, sample)) * 32_767)
    }
    position += AudioBlock.sampleCount
    return block
  }

  private func at(_ index: Int) -> Float { index < 0 ? 0 : played[index & 0xFFFF] }

  private mutating func uniform() -> Float { Float(Int32(truncatingIfNeeded: random.next()) >> 8) / 8_388_608 }
}

extension [Double] {
  /// The mean, in dB: of mean squares.
  var decibels: Double { 10 * log10(reduce(0, +) / Double(count) + 1e-12) }
}
