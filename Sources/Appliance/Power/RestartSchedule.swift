/// When the box restarts by itself, as a value: the clock on the wall and calls go in, the moment comes out.
public struct RestartSchedule: Sendable, Equatable {
  private let at: DailyTime
  private let days: Set<Weekday>
  private var wallClock = WallClock()
  private var before: CivilTime?
  /// Whether the time has come, and a call is waited for.
  private(set) var isDue = false

  /// Seconds that may lie between two looks at the clock. More is a clock that was set, which must not restart a box.
  static let longestStep = 600

  /// The schedule of `[power]`; nil when the box never restarts by itself.
  public init?(_ settings: Configuration.Power) {
    guard let at = settings.restartAt else { return nil }
    (self.at, days) = (at, settings.restartDays)
  }

  /// Takes the time and whether a call is under way. True, once: the box is to restart now. To be called at least every few minutes.
  public mutating func pass(_ civil: CivilTime, isInCall: Bool) -> Bool {
    let now = wallClock.read(civil)
    if let before {
      let week = CivilTime.secondsPerWeek
      let step = (now.secondOfWeek - before.secondOfWeek + week) % week
      let isPassed = days.contains { day in
        let distance = (day.number * CivilTime.secondsPerDay + at.seconds - before.secondOfWeek + week) % week
        return distance > 0 && distance <= step
      }
      if step <= RestartSchedule.longestStep, isPassed { isDue = true }
    }
    before = now
    guard isDue, !isInCall else { return false }
    isDue = false
    return true
  }
}
