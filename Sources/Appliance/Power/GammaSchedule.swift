/// How light the screen's middle tones are at some times of the week, by the clock on the wall.
public struct GammaSchedule: Sendable, Equatable {
  /// A stretch of time with a gamma of its own.
  public struct Period: Sendable, Equatable {
    /// When.
    public var time: WeeklyPeriod
    /// What `Stage.setGamma` takes.
    public var value: Double

    /// A stretch of time with the gamma `value`.
    public init(_ time: WeeklyPeriod, value: Double) { (self.time, self.value) = (time, value) }
  }

  /// The stretches of time; where several overlap, the first one counts.
  public var periods: [Period]

  /// A schedule of `periods`; none: gamma is always the usual one.
  public init(_ periods: [Period] = []) { self.periods = periods }

  /// The gamma at `time`; nil: the usual one.
  public func value(at time: CivilTime) -> Double? { periods.first { $0.time.contains(time) }?.value }

  /// Seconds on the wall's clock until it is another, at least 1; nil when it never is.
  public func secondsUntilChange(after time: CivilTime) -> Int? {
    periods.map(\.time).secondsUntilChange(after: time) { value(at: $0) }
  }
}
