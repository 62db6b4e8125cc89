/// Shortens or lengthens sound by one pitch period, by overlapping it with itself where it is most alike (WSOLA).
enum TimeStretch {
  /// Samples per channel that `shorten` and `lengthen` need: two of the longest periods and what is compared, 40 ms.
  static let neededCount = 2 * longestPeriod + comparedCount
  private static let shortestPeriod = 120  // 2.5 ms
  private static let longestPeriod = 720  // 15 ms
  private static let comparedCount = 480
  /// The search runs on every sixth sample, then around the best one on all.
  private static let coarse = 6

  /// Takes a period out of the start of `samples`; returns how many samples per channel went, or 0 when nothing in them is alike enough.
  /// `resemblance` is the least normalised correlation that is accepted, -1 to 1.
  static func shorten(_ samples: inout [Int16], channelCount: Int, resemblance: Float) -> Int {
    guard let period = period(of: samples, channelCount: channelCount, resemblance: resemblance) else { return 0 }
    let width = period * channelCount
    for index in 0..<width {
      let share = Float(index / channelCount) / Float(period)
      samples[width + index] = blend(samples[index], samples[width + index], share)
    }
    samples.removeSubrange(0..<width)
    return period
  }

  /// Doubles a period at the start of `samples`; returns how many samples per channel came, or 0 when nothing in them is alike enough.
  static func lengthen(_ samples: inout [Int16], channelCount: Int, resemblance: Float) -> Int {
    guard let period = period(of: samples, channelCount: channelCount, resemblance: resemblance) else { return 0 }
    let width = period * channelCount
    let first = Array(samples[..<width])
    samples.insert(contentsOf: first, at: 0)
    for index in 0..<width {
      let share = Float(index / channelCount) / Float(period)
      samples[width + index] = blend(samples[2 * width + index], first[index], share)
    }
    return period
  }

  private static func blend(_ from: Int16, _ to: Int16, _ share: Float) -> Int16 {
    Int16((Float(from) * (1 - share) + Float(to) * share).rounded())
  }

  /// The lag at which the start of the samples resembles what follows best.
  private static func period(of samples: [Int16], channelCount: Int, resemblance: Float) -> Int? {
    guard samples.count >= neededCount * channelCount else { return nil }
    return samples.withUnsafeBufferPointer { samples in
      func correlation(_ lag: Int, stride step: Int) -> Float {
        var (product, a, b): (Float, Float, Float) = (0, 1, 1)
        var index = 0
        while index < comparedCount {
          let (x, y) = (Float(samples[index * channelCount]), Float(samples[(index + lag) * channelCount]))
          product += x * y
          a += x * x
          b += y * y
          index += step
        }
        return product / (a * b).squareRoot()
      }
      var best = (lag: shortestPeriod, score: -Float.infinity)
      var energy: Float = 0
      for index in stride(from: 0, to: neededCount, by: coarse) {
        energy += Float(samples[index * channelCount]) * Float(samples[index * channelCount])
      }
      // Below about -50 dBov there is nothing to hear: any cut will do, and the longest is the soonest done.
      if energy / Float(neededCount / coarse) < 100 * 100 { return longestPeriod }
      for lag in stride(from: shortestPeriod, through: longestPeriod, by: coarse) {
        let score = correlation(lag, stride: coarse)
        if score > best.score { best = (lag, score) }
      }
      let around = max(shortestPeriod, best.lag - coarse + 1)...min(longestPeriod, best.lag + coarse - 1)
      best.score = -.infinity
      for lag in around {
        let score = correlation(lag, stride: 2)
        if score > best.score { best = (lag, score) }
      }
      return best.score >= resemblance ? best.lag : nil
    }
  }
}
