import Base

/// How long to wait before a call is tried again: longer each time, a little at random, so that a thousand boxes do not return in one second. Reads no clock.
public struct Backoff: Sendable {
  /// The shortest and the longest wait of its own choice.
  public let (shortest, longest): (Interval, Interval)
  /// How long a call must have stood for its failure to count as the first again.
  public let stableAfter: Interval

  private var random: RandomSource
  private var failures = 0
  private var upSince: Instant?

  /// A fresh start. The same seed gives the same waits.
  public init(seed: UInt64, shortest: Interval = .seconds(1), longest: Interval = .seconds(30), stableAfter: Interval = .seconds(60)) {
    precondition(shortest > .zero && shortest <= longest, "the shortest wait is more than nothing and at most the longest")
    (self.shortest, self.longest, self.stableAfter) = (shortest, longest, stableAfter)
    random = RandomSource(seed: seed)
  }

  /// The call stands since `now`.
  public mutating func succeeded(at now: Instant) { upSince = now }

  /// The call failed or ended at `now`: gives back when to try again. The wait doubles with each failure up to the longest, and is drawn from the upper half of that, at
  /// least the shortest. What the server asked for is honoured up to an hour.
  public mutating func failed(at now: Instant, retryAfter: Interval? = nil) -> Instant {
    if let upSince, now - upSince >= stableAfter { failures = 0 }
    upSince = nil
    // 2^16 times the shortest is beyond any longest worth having; without the limit the shift would overflow some day.
    let doubled = shortest.nanoseconds.multipliedReportingOverflow(by: 2 << Int64(min(failures, 16)))
    let step = doubled.overflow ? longest.nanoseconds : min(longest.nanoseconds, doubled.partialValue)
    failures += 1
    let wait = max(shortest.nanoseconds, Int64.random(in: step / 2...step, using: &random))
    return now + max(.nanoseconds(wait), min(retryAfter ?? .zero, .seconds(3_600)))
  }
}
