import Base

/// Spreads video packets over time, so that a large frame does not fill the queues on its path.
///
/// A leaky bucket that runs at a multiple of the target bitrate: it smooths frames, it does not hold the sender to its bitrate. A small
/// frame leaves at once. Audio does not ask the pacer.
struct Pacer: Sendable {
  /// How much faster than the target bitrate packets leave.
  static let multiple = 2.5

  /// Bits per second that the sender is to keep on average.
  var targetBitrate: Int
  /// Longest time that what is queued may take to leave: rather than hold it longer, the pacer runs faster.
  var maximumQueueTime = Interval.milliseconds(200)

  private var queuedBytes = 0
  /// The rate that empties the queue in time, kept until it is empty.
  private var drainRate = 0.0
  /// When the bucket will be empty.
  private var empty = Instant.zero

  /// A pacer for `targetBitrate` bits per second.
  init(targetBitrate: Int) { self.targetBitrate = targetBitrate }

  /// Bits per second at which packets leave now.
  var rate: Double {
    max(Double(targetBitrate) * Self.multiple, drainRate, 50_000)
  }

  /// How full the bucket may be when a packet leaves: 20 ms, but at least 3,000 and at most 12,000 bytes.
  private var allowance: Interval {
    let rate = rate
    return .nanoseconds(Int64(min(max(rate / 8 * 0.020, 3_000), 12_000) * 8 / rate * 1e9))
  }

  /// Tells how many bytes wait in all queues.
  mutating func update(queuedBytes: Int) {
    self.queuedBytes = queuedBytes
    drainRate = queuedBytes == 0 ? 0 : max(drainRate, Double(queuedBytes) * 8 / max(maximumQueueTime.seconds, 0.001))
  }

  /// Whether a packet may leave.
  func allows(now: Instant) -> Bool { empty <= now + allowance }

  /// Takes note of a packet of `count` bytes that left.
  mutating func sent(_ count: Int, now: Instant) {
    empty = max(empty, now) + .nanoseconds(Int64(Double(count) * 8 / rate * 1e9))
  }

  /// When the next packet may leave; nil when none waits.
  var deadline: Instant? { queuedBytes > 0 ? empty - allowance : nil }
}
