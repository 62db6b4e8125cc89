extension Configuration {
  /// `[power]`: when the screen is dark, or not as light as usual, and when the box restarts.
  public struct Power: Sendable, Equatable {
    /// `blank`: the stretches of darkness of each week.
    public var schedule = BlankingSchedule()
    /// `blank_after`: seconds without input and without a call until the screen goes dark; 0: it does not.
    public var blankAfter = 0.0
    /// `wake_seconds`: how long a touch, or the end of a call, keeps the screen bright that the schedule or an operator wants dark.
    public var wakeSeconds = 300.0
    /// `blank_in_calls`: whether calls leave the screen dark.
    public var blanksCalls = false
    /// `gamma`: when gamma is not as `[display]` says.
    public var gamma = GammaSchedule()
    /// `restart_at`: when the box restarts, unless a call is under way; nil: never by itself.
    public var restartAt: DailyTime?
    /// `restart_days`: the days on which it does.
    public var restartDays = Set(Weekday.allCases)

    /// A screen that is never dark by itself.
    public init() {}
  }
}
