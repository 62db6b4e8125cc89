import Base

/// How light the screen's middle tones are now: what the schedule says, and what an operator wishes. A value without a clock.
public struct GammaChoice: Sendable, Equatable {
  /// What can be chosen: below 1 what lies between black and white gets darker, above lighter.
  public static let range = 0.5...2.0

  /// The gamma; nil: the driver's own. As of the latest `update`.
  public private(set) var value: Double?

  private let schedule: GammaSchedule
  private let usual: Double?
  private var wish: Double?
  /// What the schedule said last; nil: it has not been asked.
  private var scheduled: Double??
  private var clock = WallClock()

  /// The choice between a `schedule` and, while that says nothing, what is `usual`.
  public init(_ schedule: GammaSchedule, usual: Double?) { (self.schedule, self.usual, value) = (schedule, usual, usual) }

  /// An operator wants this until the schedule's next change; nil: as the configuration says.
  public mutating func set(_ wish: Double?) { self.wish = wish }

  /// Takes the time, and returns until when `value` holds; nil: until something happens.
  public mutating func update(now: Instant, civil: CivilTime) -> Instant? {
    let civil = clock.read(civil)
    let new = schedule.value(at: civil)
    if let scheduled, scheduled != new { wish = nil }
    scheduled = .some(new)
    value = wish ?? new ?? usual
    return schedule.secondsUntilChange(after: civil).map { now + WallClock.rest(seconds: $0) }
  }
}
