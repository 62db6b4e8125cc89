/// When the screen is dark each week, by the clock on the wall.
public struct BlankingSchedule: Sendable, Equatable {
  /// The stretches of darkness, which may overlap.
  public var periods: [WeeklyPeriod]

  /// A schedule of `periods`; none: the screen is never dark.
  public init(_ periods: [WeeklyPeriod] = []) { self.periods = periods }

  /// Whether the screen is dark at `time`.
  public func isBlanked(at time: CivilTime) -> Bool { periods.contains { $0.contains(time) } }

  /// Seconds on the wall's clock until the screen goes dark or bright, at least 1; nil when it never does.
  public func secondsUntilEdge(after time: CivilTime) -> Int? { periods.secondsUntilChange(after: time) { isBlanked(at: $0) } }
}
