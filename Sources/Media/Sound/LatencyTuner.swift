import Base

/// Decides how much sound is kept waiting in a loudspeaker's ring: as little as goes without gaps.
///
/// It starts at a base, widens when gaps repeat or the ring was all but empty, and narrows again, step by step, after calm, as far
/// down as the least that was left in the ring shows to be safe.
public struct LatencyTuner: Sendable {
  /// Never less than this.
  public let floor: Interval
  /// Never more than this.
  public let ceiling: Interval
  /// What is kept in the ring when the next block comes.
  public private(set) var target: Interval

  private static let widening = Interval.milliseconds(4)
  private static let narrowing = Interval.milliseconds(1)
  /// Gaps that are further apart than this are accidents.
  private static let repetition = Interval.seconds(30)
  private static let shortestCalm = Interval.seconds(30)
  private static let longestCalm = Interval.seconds(3_600)
  /// What has to be left at the worst moment.
  private static let margin = Interval.milliseconds(2)

  private var lastXrun: (time: Instant, lateness: Interval)?
  private var calmSince: Instant?
  private var calm = LatencyTuner.shortestCalm
  private var leastFill = Interval.seconds(1)
  private var hasNarrowed = false

  /// A tuner that starts at `base`.
  public init(base: Interval, floor: Interval, ceiling: Interval) {
    (self.floor, self.ceiling) = (floor, ceiling)
    target = max(floor, min(ceiling, base))
  }

  /// There was a gap; the block after it came `lateness` after it was due. What both of two gaps lacked will be lacked again.
  public mutating func xrun(at now: Instant, lateness: Interval) {
    if let lastXrun, now - lastXrun.time < LatencyTuner.repetition {
      widen(by: max(LatencyTuner.widening, min(lateness, lastXrun.lateness) + LatencyTuner.margin - target))
    }
    if hasNarrowed {
      // It had been wide enough: back, and slower down the next time.
      widen(by: LatencyTuner.narrowing)
      calm = min(LatencyTuner.longestCalm, calm * Int64(2))
      hasNarrowed = false
    }
    lastXrun = (now, lateness)
    beginCalm(at: now)
  }

  /// So much was left in the ring when a block came.
  public mutating func observe(fill: Interval, at now: Instant) {
    guard let calmSince else { return beginCalm(at: now) }
    leastFill = min(leastFill, fill)
    guard now - calmSince >= calm else { return }
    let spare = leastFill - LatencyTuner.margin - LatencyTuner.narrowing
    if spare > LatencyTuner.narrowing, target > floor {
      // A quarter of what was not used: what a busy minute widened is back within a few.
      target = max(floor, target - max(LatencyTuner.narrowing, spare / 4))
      hasNarrowed = true
    } else if leastFill < LatencyTuner.narrowing {
      widen(by: LatencyTuner.narrowing)
    }
    beginCalm(at: now)
  }

  private mutating func widen(by step: Interval) { target = min(ceiling, target + step) }

  private mutating func beginCalm(at now: Instant) { (calmSince, leastFill) = (now, .seconds(1)) }
}
