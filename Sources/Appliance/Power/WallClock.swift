import Base

/// The clock on the wall, as schedules follow it.
struct WallClock: Sendable, Equatable {
  private var latest: CivilTime?

  /// The hour that comes twice when summer time ends is spent at its end: what happened in it once does not happen again.
  mutating func read(_ civil: CivilTime) -> CivilTime {
    if let latest, civil.offset < latest.offset {
      let behind = (latest.secondOfWeek - civil.secondOfWeek + CivilTime.secondsPerWeek) % CivilTime.secondsPerWeek
      if behind > 0, behind <= latest.offset - civil.offset { return latest }
    }
    latest = civil
    return civil
  }

  /// How long to wait for what comes in so many seconds on the wall before looking again: somebody may set the clock.
  static func rest(seconds: Int) -> Interval { min(.seconds(Int64(seconds)), .seconds(30)) }
}
