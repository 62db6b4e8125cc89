/// A stretch of time that comes each week, by the clock on the wall.
public struct WeeklyPeriod: Sendable, Equatable {
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

  /// Whether `time` lies in it.
  public func contains(_ time: CivilTime) -> Bool {
    starts.contains { (time.secondOfWeek - $0 + CivilTime.secondsPerWeek) % CivilTime.secondsPerWeek < length }
  }

  /// Its length in seconds.
  private var length: Int { to.seconds > from.seconds ? to.seconds - from.seconds : to.seconds - from.seconds + CivilTime.secondsPerDay }

  /// Where it begins in the week, in seconds.
  private var starts: [Int] { days.map { $0.number * CivilTime.secondsPerDay + from.seconds } }

  /// Where it begins and ends in the week, in seconds; an end may lie in the week after.
  fileprivate var edges: [Int] { starts.flatMap { [$0, $0 + length] } }
}

extension Sequence<WeeklyPeriod> {
  /// Seconds on the wall's clock until `value`, which follows from these periods alone, is another, at least 1; nil when it never is.
  func secondsUntilChange<Value: Equatable>(after time: CivilTime, of value: (CivilTime) -> Value) -> Int? {
    let now = value(time)
    let distances = flatMap(\.edges).map { edge in
      let distance = (edge - time.secondOfWeek + 2 * CivilTime.secondsPerWeek) % CivilTime.secondsPerWeek
      return distance == 0 ? CivilTime.secondsPerWeek : distance
    }
    return distances.sorted().first { value(time.advanced(by: $0)) != now }
  }
}
