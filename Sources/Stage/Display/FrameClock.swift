import Base

/// When to compose for one CRTC: as late before a vertical blank as the work allows, so that what is shown is as new as can be.
///
/// A value without a clock: it is told what happened when. For each picture: `start` says when to begin, then `began`, `committed`, and
/// `flipped` when the kernel reports it; or `abandoned`. At most one picture is on its way.
struct FrameClock: Sendable {
  /// Whether the driver has vertical blanks.
  enum Blanks: Sendable, Hashable {
    /// Nothing has flipped yet.
    case unknown
    /// Flips take place at them.
    case regular
    /// Flips take place at once: the clock runs by itself, at the mode's rate.
    case none
  }

  /// A picture on its way.
  private struct Passage {
    /// When composing began, or should have begun.
    var start: Instant
    /// The blank that it is meant for; without blanks, when it should be there at the latest.
    var target: Instant
    var committed: Instant?
  }

  /// Whether the driver has vertical blanks.
  private(set) var blanks = Blanks.unknown
  /// From one blank to the next, as measured.
  private(set) var period: Interval
  /// Pictures shown.
  private(set) var flips = 0
  /// Blanks at which a picture should have been shown, and was not yet: one that came k blanks late counts k.
  private(set) var missed = 0

  private let nominalPeriod: Interval
  private var work: WorkEstimate
  private var lead: CommitLead
  /// The last blank known for sure.
  private var blank: Instant?
  private var sequence: UInt32?
  private var stillCount = 0
  private var passage: Passage?
  private var lastStart: Instant?

  /// A clock for a mode whose blanks are `period` apart.
  init(period: Interval) {
    (self.period, nominalPeriod) = (period, period)
    work = WorkEstimate(guess: period / 4)
    lead = CommitLead(limit: period / 4)
  }

  /// The mode was set, or the monitor was off: nothing about blanks and work is known any more. What was counted stays.
  mutating func restart(period: Interval) {
    var fresh = FrameClock(period: period)
    (fresh.flips, fresh.missed) = (flips, missed)
    self = fresh
  }

  /// Whether a picture is on its way.
  var isPending: Bool { passage != nil }

  // MARK: Planning

  /// The first blank after `time`, as far as is known.
  func blank(after time: Instant) -> Instant {
    guard let origin = blanks == .none ? lastStart : blank else { return time + period }
    guard time >= origin else { return origin }
    return origin + period * ((time - origin).nanoseconds / period.nanoseconds + 1)
  }

  /// When composing should begin for something that is there at `now`: the time of a timer, or `now` itself.
  func start(now: Instant) -> Instant {
    switch blanks {
    case .unknown: return now
    case .none: return max(now, lastStart.map { $0 + period } ?? now)
    case .regular: break
    }
    let budget = work.budget + lead.value
    guard budget < period else { return now }
    let blank = firstFree(now)
    if now <= blank - budget { return blank - budget }
    // Less time than is always enough, but mostly it is: nothing is lost if it is not.
    if now + work.high + lead.value <= blank { return now }
    // Too late for this one: the next gets what is newest then.
    return blank + period - budget
  }

  /// The first blank from `time` on at which nothing is shown yet.
  private func firstFree(_ time: Instant) -> Instant {
    // A timer that fires a little early must not find the blank that has just passed.
    let taken = (passage?.target ?? blank).map { max(time, $0 + period / 2) } ?? time
    return blank(after: taken)
  }

  // MARK: What happened

  /// Composing began at `now`. `scheduled` is what `start` said, when it said a later time than its `now`: lateness since then counts as work.
  mutating func began(at now: Instant, scheduled: Instant? = nil) {
    let isLong = work.budget + lead.value >= period
    let expected = now + (isLong ? work.budget : work.typical)
    let target = blanks == .regular ? firstFree(expected + lead.value) : expected + period
    passage = Passage(start: scheduled.map { min($0, now) } ?? now, target: target)
    lastStart = now
  }

  /// The picture was handed to the driver at `now`.
  mutating func committed(at now: Instant) {
    guard var passage else { return }
    work.add(now - passage.start)
    passage.committed = now
    self.passage = passage
  }

  /// The picture will not be shown: there was nothing to show after all, or the driver refused it.
  mutating func abandoned() { passage = nil }

  /// The picture is shown since `time`; `sequence` counts the blanks (both as the kernel's flip event has them).
  mutating func flipped(at time: Instant, sequence: UInt32) {
    learnBlank(time, sequence)
    flips += 1
    guard let passage else { return }
    self.passage = nil
    let late = time - passage.target
    let count = blanks == .regular ? Int((late.seconds / period.seconds).rounded()) : Int((late.seconds / period.seconds).rounded(.up))
    guard count > 0 else {
      lead.held()
      return
    }
    missed += count
    guard let committed = passage.committed else { return }
    let margin = passage.target - committed
    if margin >= .zero && blanks == .regular { lead.failed(margin) } else { work.missed(committed - passage.start) }
  }

  private mutating func learnBlank(_ time: Instant, _ sequence: UInt32) {
    // A counter that stands still counts nothing.
    let isStill = sequence == 0 || sequence == self.sequence
    stillCount = isStill ? stillCount + 1 : 0
    if !isStill { blanks = .regular } else if blanks != .regular || stillCount > 1 { blanks = .none }
    defer { (blank, self.sequence) = (time, sequence) }
    guard blanks == .regular, let blank, let known = self.sequence else { return }
    let count = sequence &- known
    guard (1...100_000).contains(count) else { return }
    let measured = (time - blank) / Int64(count)
    // The monitor's clock is not the computer's. What is far from the mode's rate is an accident.
    guard abs((measured - nominalPeriod).nanoseconds) < nominalPeriod.nanoseconds / 20 else { return }
    period += (measured - period) * min(0.5, Double(count) / 128)
  }

}
