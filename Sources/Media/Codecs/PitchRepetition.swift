/// Concealment for codecs without their own, in the manner of ITU-T G.711 Appendix I: the last pitch period goes on, fades out within 60 ms,
/// and is blended into the speech that comes after.
struct PitchRepetition {
  // Periods of voices between 66 and 200 Hz, in samples at 8 kHz.
  private static let shortestPeriod = 40
  private static let longestPeriod = 120
  private static let comparedCount = 160
  /// The first 10 ms are repeated at full strength; from there 50 ms to silence.
  private static let fullCount = 80
  private static let fadeCount = 400
  /// 4 ms in which invented and real speech overlap.
  private static let blendCount = 32

  private var history = [Int16](repeating: 0, count: comparedCount + longestPeriod)
  private var period: [Float] = []
  /// How many samples were invented since the last real one.
  private var inventedCount = 0

  init() { period.reserveCapacity(PitchRepetition.longestPeriod) }

  /// Remembers real samples, after blending their start with what was invented before.
  mutating func join(_ samples: inout [Int16]) {
    if inventedCount > 0 {
      let count = min(PitchRepetition.blendCount, samples.count)
      for index in 0..<count {
        let share = Float(index + 1) / Float(count + 1)
        samples[index] = PitchRepetition.clamped(Float(samples[index]) * share + invented(inventedCount + index) * (1 - share))
      }
      inventedCount = 0
    }
    remember(samples)
  }

  /// Appends `count` invented samples.
  mutating func invent(_ count: Int, appendingTo samples: inout [Int16]) {
    if inventedCount == 0 { findPeriod() }
    for index in 0..<count { samples.append(PitchRepetition.clamped(invented(inventedCount + index))) }
    inventedCount += count
  }

  /// An invention may be louder than full scale, where its first step is spread.
  private static func clamped(_ value: Float) -> Int16 { Int16(max(-32_768, min(32_767, value.rounded()))) }

  private func invented(_ index: Int) -> Float {
    let faded = Float(index - PitchRepetition.fullCount) / Float(PitchRepetition.fadeCount)
    let gain = max(0, min(1, 1 - faded))
    if gain == 0 { return 0 }
    var value = period[index % period.count]
    // What is played so far ends at another level than what leads into the repeated period: the step is spread over a quarter of it.
    let spread = period.count / 4
    if index < spread { value += step * (1 - Float(index + 1) / Float(spread + 1)) }
    return value * gain
  }

  private var step: Float = 0

  /// The lag at which the history resembles itself best becomes the period.
  private mutating func findPeriod() {
    let end = history.count
    let first = end - PitchRepetition.comparedCount
    var best = (lag: PitchRepetition.shortestPeriod, score: -Float.infinity)
    for lag in PitchRepetition.shortestPeriod...PitchRepetition.longestPeriod {
      var (product, energy): (Float, Float) = (0, 1)
      for index in stride(from: first, to: end, by: 1) {
        let earlier = Float(history[index - lag])
        product += Float(history[index]) * earlier
        energy += earlier * earlier
      }
      let score = product / energy.squareRoot()
      if score > best.score { best = (lag, score) }
    }
    let lag = best.lag
    period.removeAll(keepingCapacity: true)
    for index in end - lag..<end { period.append(Float(history[index])) }
    step = Float(history[end - 1]) - Float(history[end - lag - 1])
    // The period's end is blended into what comes before its start, so that it can follow itself.
    let blend = lag / 4
    for index in 0..<blend {
      let share = Float(index + 1) / Float(blend)
      period[lag - blend + index] = period[lag - blend + index] * (1 - share) + Float(history[end - lag - blend + index]) * share
    }
  }

  private mutating func remember(_ samples: [Int16]) {
    let kept = history.count
    if samples.count >= kept {
      for index in 0..<kept { history[index] = samples[samples.count - kept + index] }
    } else {
      for index in 0..<kept - samples.count { history[index] = history[index + samples.count] }
      for index in 0..<samples.count { history[kept - samples.count + index] = samples[index] }
    }
  }
}
