import Base

/// The retransmission timeout and what it is computed from (RFC 9260 section 6.3).
struct RetransmissionTimeout: Sendable {
  /// Smoothed round-trip time; nil before the first measurement.
  private(set) var smoothedRoundTrip: Interval?
  private var variation = Interval.zero
  /// The timeout now.
  private(set) var timeout: Interval

  private let initial: Interval
  private let minimum: Interval
  private let maximum: Interval
  /// Least allowance above the smoothed time: covers the peer's delayed acknowledgment (200 ms) where the path itself is steady.
  private static let leastAllowance = Interval.milliseconds(220)

  /// No measurement yet.
  init(initial: Interval, minimum: Interval, maximum: Interval) {
    (self.initial, self.minimum, self.maximum) = (initial, minimum, maximum)
    timeout = initial
  }

  /// Takes a measured round trip.
  mutating func update(_ sample: Interval) {
    let sample = max(sample, .zero)
    if let smoothed = smoothedRoundTrip {
      let difference = Interval(nanoseconds: abs(smoothed.nanoseconds - sample.nanoseconds))
      variation = variation + (difference - variation) / 4
      smoothedRoundTrip = smoothed + (sample - smoothed) / 8
    } else {
      smoothedRoundTrip = sample
      variation = sample / 2
    }
    endBackOff()
  }

  /// Takes back what `backOff` did: the peer answers.
  mutating func endBackOff() {
    guard let smoothed = smoothedRoundTrip else {
      timeout = initial
      return
    }
    timeout = min(max(smoothed + max(variation + variation + variation + variation, Self.leastAllowance), minimum), maximum)
  }

  /// Doubles the timeout after it expired.
  mutating func backOff() { timeout = min(timeout + timeout, maximum) }

  /// Forgets the path: it changed.
  mutating func reset() {
    (smoothedRoundTrip, variation, timeout) = (nil, .zero, initial)
  }
}
