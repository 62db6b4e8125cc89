import Frames

/// Adds up 10 ms of several sounds, in memory that was allocated once.
struct BlockMixer: ~Copyable {
  /// Interleaved channels of the sum.
  let channelCount: Int
  private let sums: UnsafeMutablePointer<Int32>

  init(channelCount: Int) {
    precondition((1...2).contains(channelCount), "sound has one or two channels")
    self.channelCount = channelCount
    sums = .allocate(capacity: AudioBlock.sampleCount * channelCount)
    unsafe sums.initialize(repeating: 0, count: AudioBlock.sampleCount * channelCount)
  }

  deinit { unsafe sums.deallocate() }

  /// Begins a block with silence.
  mutating func clear() { unsafe sums.update(repeating: 0, count: AudioBlock.sampleCount * channelCount) }

  /// Adds a block of `count` channels, by the factor `start` at its beginning, going over evenly to `end` so that no change of loudness clicks.
  mutating func add(_ samples: UnsafePointer<Int16>, channelCount count: Int, from start: Float, to end: Float) {
    let step = (end - start) / Float(AudioBlock.sampleCount)
    for index in 0..<AudioBlock.sampleCount {
      let factor = start + step * Float(index + 1)
      if count == channelCount {
        for channel in 0..<count { unsafe sums[index * count + channel] &+= scaled(Float(samples[index * count + channel]), factor) }
      } else if count == 1 {
        let value = unsafe scaled(Float(samples[index]), factor)
        unsafe sums[2 * index] &+= value
        unsafe sums[2 * index + 1] &+= value
      } else {
        unsafe sums[index] &+= scaled((Float(samples[2 * index]) + Float(samples[2 * index + 1])) / 2, factor)
      }
    }
  }

  private func scaled(_ sample: Float, _ factor: Float) -> Int32 {
    // Twice full scale is more than any gain that is heard; the bound keeps sums of hundreds from overflowing.
    Int32(max(-4_000_000, min(4_000_000, (sample * factor).rounded())))
  }

  /// Writes the sum, cut at full scale, by a factor as above.
  func write(to samples: UnsafeMutablePointer<Int16>, from start: Float, to end: Float) {
    let step = (end - start) / Float(AudioBlock.sampleCount)
    for index in 0..<AudioBlock.sampleCount * channelCount {
      let factor = start + step * Float(index / channelCount + 1)
      // Cut first: a loud sum that is played quietly is as distorted as one that is played loud, and no more.
      let cut = unsafe Float(max(-32_768, min(32_767, sums[index])))
      unsafe samples[index] = Int16((cut * factor).rounded())
    }
  }
}
