import Base

/// Whether the screen is dark: what the schedule says, what people and calls do, and what an operator wishes. A value without a clock.
public struct Blanking: Sendable, Equatable {
  /// What an operator wants of the screen.
  public enum Wish: String, Sendable, CaseIterable {
    /// Dark, until the schedule's next change or the next call; a touch shows the picture for a while.
    case on
    /// Bright, until the schedule's next change.
    case off
    /// As the configuration says.
    case auto
  }

  /// Why the screen is dark.
  public enum Cause: String, Sendable {
    /// An operator's wish.
    case wish = "an operator"
    /// The schedule.
    case schedule = "the schedule"
    /// Nobody was there for long enough.
    case idleness = "idleness"
  }

  /// Why the screen is dark; nil: it is bright. As of the latest `update`.
  public private(set) var cause: Cause?

  private let settings: Configuration.Power
  private var wish = Wish.auto
  private var isInCall = false
  /// Since when nobody has done anything.
  private var idleSince: Instant
  /// Until when somebody who did something sees the picture.
  private var wokenUntil: Instant?
  /// Until when something is shown that has to be seen.
  private var shownUntil: Instant?
  private var scheduled: Bool?
  private var clock = WallClock()

  /// A bright screen.
  public init(_ settings: Configuration.Power, now: Instant) { (self.settings, idleSince) = (settings, now) }

  /// An operator wants this.
  public mutating func set(_ wish: Wish) {
    self.wish = wish
    // What was before does not outdo the operator.
    if wish == .on { (wokenUntil, shownUntil) = (nil, nil) }
  }

  /// Somebody touched the screen, or did something else in front of it.
  public mutating func touch(now: Instant) {
    idleSince = now
    wokenUntil = now + .seconds(settings.wakeSeconds)
  }

  /// Something is shown for `duration` that has to be seen, whatever else darkens the screen; nil: not any more.
  public mutating func show(for duration: Interval?, now: Instant) { shownUntil = duration.map { now + $0 } }

  /// A call is wanted, by a key, a touch or an operator: the screen shows how it comes about.
  public mutating func startCall(now: Instant) {
    guard !settings.blanksCalls else { return }
    if wish == .on { wish = .auto }
    touch(now: now)
  }

  /// Whether a call is established now.
  public mutating func setInCall(_ isInCall: Bool, now: Instant) {
    guard isInCall != self.isInCall else { return }
    self.isInCall = isInCall
    // When it ends, those who called are still there.
    startCall(now: now)
  }

  /// Takes the time, and returns until when what `cause` says holds; nil: until something happens.
  public mutating func update(now: Instant, civil: CivilTime) -> Instant? {
    let civil = clock.read(civil)
    let isScheduled = settings.schedule.isBlanked(at: civil)
    if let scheduled, scheduled != isScheduled { wish = .auto }
    scheduled = isScheduled
    if let end = wokenUntil, end <= now { wokenUntil = nil }
    if let end = shownUntil, end <= now { shownUntil = nil }
    let isBusy = isInCall && !settings.blanksCalls
    let idleEnd = settings.blankAfter > 0 && !isBusy ? idleSince + .seconds(settings.blankAfter) : nil
    cause =
      if shownUntil != nil {
        nil
      } else if wish == .on {
        wokenUntil == nil ? .wish : nil
      } else if wish == .off || isBusy {
        nil
      } else if isScheduled && wokenUntil == nil {
        .schedule
      } else if let idleEnd, idleEnd <= now {
        .idleness
      } else {
        nil
      }
    let edge = settings.schedule.secondsUntilEdge(after: civil).map { now + WallClock.rest(seconds: $0) }
    let ends = [wokenUntil, shownUntil, idleEnd.flatMap { $0 > now ? $0 : nil }, edge]
    return ends.compactMap { $0 }.min()
  }
}
