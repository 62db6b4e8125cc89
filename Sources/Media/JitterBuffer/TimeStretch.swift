/// Shortens or lengthens sound by one pitch period, by overlapping it with itself where it is most alike (WSOLA).
enum TimeStretch {
  /// Samples per channel that were played already and have to stand before the place where sound is stretched.
  static let historyCount = longestPeriod
  /// Samples per channel that `shorten` needs from there on: two of the longest periods, and what is compared.
  static let shorteningCount = 2 * longestPeriod + comparedCount
  /// Samples per channel that `lengthen` needs from there on. So little, that time can be gained when there is hardly any left.
  static let lengtheningCount = comparedCount
  private static let shortestPeriod = 120  // 2.5 ms
  private static let longestPeriod = 720  // 15 ms
  private static let comparedCount = 480
  /// The search runs on every sixth sample, then around the best one on all.
  private static let coarse = 6

  /// Where sound resembles itself: after how many samples, and how much, -1 to 1.
  private struct Likeness {
    var lag: Int
    var score: Float
  }

  /// Takes a period out behind the history; returns how many samples per channel went, or 0 when nothing there is alike enough.
  /// `resemblance` is the least normalised correlation that is accepted, -1 to 1.
  static func shorten(_ samples: inout [Int16], channelCount: Int, resemblance: Float) -> Int {
    let start = historyCount * channelCount
    guard samples.count >= start + shorteningCount * channelCount,
      let found = likeness(of: samples, channelCount, from: historyCount, direction: 1, longest: longestPeriod, resemblance)
    else { return 0 }
    let width = found.lag * channelCount
    for index in 0..<width {
      samples[start + width + index] = blend(samples[start + index], samples[start + width + index], index / channelCount, found)
    }
    samples.removeSubrange(start..<start + width)
    return found.lag
  }

  /// Puts a period in behind the history, made of the ones before and after; returns how many samples per channel came, or 0 when nothing there is
  /// alike enough. The capacity of `samples` has room for it.
  static func lengthen(_ samples: inout [Int16], channelCount: Int, resemblance: Float) -> Int {
    let start = historyCount * channelCount
    let longest = min(longestPeriod, samples.count / channelCount - historyCount)
    guard longest >= lengtheningCount,
      let found = likeness(of: samples, channelCount, from: historyCount, direction: -1, longest: longest, resemblance)
    else { return 0 }
    let width = found.lag * channelCount
    let count = samples.count
    for _ in 0..<width { samples.append(0) }
    for index in stride(from: count - 1, through: start, by: -1) { samples[width + index] = samples[index] }
    for index in 0..<width {
      samples[start + index] = blend(samples[start + width + index], samples[start - width + index], index / channelCount, found)
    }
    return found.lag
  }

  /// Goes over from one sample to the other. What is not alike adds up to less than either: the sum is raised to the loudness of its parts.
  private static func blend(_ from: Int16, _ to: Int16, _ position: Int, _ likeness: Likeness) -> Int16 {
    let share = (Float(position) + 0.5) / Float(likeness.lag)
    let rest = 1 - share
    let loudness = (share * share + rest * rest + 2 * share * rest * max(0, min(1, likeness.score))).squareRoot()
    return Int16(max(-32_768, min(32_767, ((Float(from) * rest + Float(to) * share) / loudness).rounded())))
  }

  /// The lag at which the samples from `start` on resemble best what stands so much later, or earlier with a `direction` of -1.
  private static func likeness(
    of samples: [Int16], _ channelCount: Int, from start: Int, direction: Int, longest: Int, _ resemblance: Float
  ) -> Likeness? {
    unsafe samples.withUnsafeBufferPointer { samples in
      let whole = direction > 0 ? start..<start + shorteningCount : start - longest..<start + comparedCount
      var energy: Float = 0
      for position in stride(from: whole.lowerBound, to: whole.upperBound, by: coarse) {
        for index in position * channelCount..<(position + 1) * channelCount {
          energy += unsafe Float(samples[index]) * Float(samples[index])
        }
      }
      // Below about -50 dBov there is nothing to hear: any cut will do, and the longest is the soonest done.
      if energy / Float(whole.count / coarse) < 100 * 100 { return Likeness(lag: longest, score: 1) }
      var best = Likeness(lag: shortestPeriod, score: -.infinity)
      for lag in stride(from: shortestPeriod, through: longest, by: coarse) {
        let score = unsafe correlation(samples, channelCount, start, start + lag * direction, stride: coarse)
        if score > best.score { best = Likeness(lag: lag, score: score) }
      }
      let around = max(shortestPeriod, best.lag - coarse + 1)...min(longest, best.lag + coarse - 1)
      best.score = -.infinity
      for lag in around {
        let score = unsafe correlation(samples, channelCount, start, start + lag * direction, stride: 2)
        if score > best.score { best = Likeness(lag: lag, score: score) }
      }
      return best.score >= resemblance ? best : nil
    }
  }

  /// How much the sound at one place resembles that at another, all channels together.
  private static func correlation(
    _ samples: UnsafeBufferPointer<Int16>, _ channelCount: Int, _ first: Int, _ second: Int, stride step: Int
  ) -> Float {
    var (product, a, b): (Float, Float, Float) = (0, 1, 1)
    var position = 0
    while position < comparedCount {
      for channel in 0..<channelCount {
        let x = unsafe Float(samples[(first + position) * channelCount + channel])
        let y = unsafe Float(samples[(second + position) * channelCount + channel])
        product += x * y
        a += x * x
        b += y * y
      }
      position += step
    }
    return product / (a * b).squareRoot()
  }
}
