/// When the screen is dark each week, by the clock on the wall.
public struct BlankingSchedule: Sendable, Equatable {
  /// A stretch of darkness that begins on some days of the week.
  public struct Period: Sendable, Equatable {
    /// When it begins.
    public var from: DailyTime
    /// When it ends; on the day after when that is not later than `from`, so that equal times are a whole day.
    public var to: DailyTime
    /// The days on which it begins.
    public var days: Set<Weekday>

    /// A stretch from `from` to `to` that begins on each of `days`.
    public init(from: DailyTime, to: DailyTime, days: Set<Weekday> = Set(Weekday.allCases)) {
      (self.from, self.to, self.days) = (from, to, days)
    }

    /// Its length in seconds.
    var length: Int { to.seconds > from.seconds ? to.seconds - from.seconds : to.seconds - from.seconds + CivilTime.secondsPerDay }
  }

  /// The stretches of darkness, which may overlap.
  public var periods: [Period]

  /// A schedule of `periods`; none: the screen is never dark.
  public init(_ periods: [Period] = []) { self.periods = periods }

  /// Whether the screen is dark at `time`.
  public func isBlanked(at time: CivilTime) -> Bool {
    starts.contains { start, length in
      let passed = (time.secondOfWeek - start + CivilTime.secondsPerWeek) % CivilTime.secondsPerWeek
      return passed < length
    }
  }

  /// Seconds on the wall's clock until the screen goes dark or bright, at least 1; nil when it never does.
  public func secondsUntilEdge(after time: CivilTime) -> Int? {
    let isBlanked = isBlanked(at: time)
    let edges = starts.flatMap { [$0.start, $0.start + $0.length] }.map { edge in
      let distance = (edge - time.secondOfWeek + 2 * CivilTime.secondsPerWeek) % CivilTime.secondsPerWeek
      return distance == 0 ? CivilTime.secondsPerWeek : distance
    }
    return edges.sorted().first { self.isBlanked(at: time.advanced(by: $0)) != isBlanked }
  }

  /// Where each stretch begins in the week, and how long it is, in seconds.
  private var starts: [(start: Int, length: Int)] {
    periods.flatMap { period in period.days.map { ($0.number * CivilTime.secondsPerDay + period.from.seconds, period.length) } }
  }
}
