import Base
import RTP

/// How many bits per second to send: a plain, careful controller.
///
/// It rises while packets arrive in time, quickly until the first sign of congestion and by 8 % a second afterwards. It falls to 85 % of what
/// arrives when queues grow on the path, and by half the loss when more than a tenth is lost. A REMB of the receiver is a cap.
struct BitrateTarget: Sendable {
  /// Queueing delay that counts as congestion.
  private static let congested = Interval.milliseconds(60)
  /// Queueing delay that lets the bitrate rise.
  private static let clear = Interval.milliseconds(30)

  /// Bits per second to send now.
  var bitrate: Int { min(max(Int(min(target, cap)), range.lowerBound), range.upperBound) }
  /// Bits per second that arrive, measured over half a second or more; nil until then.
  private(set) var acknowledgedBitrate: Double?
  /// Time that packets wait in queues on the path, smoothed.
  private(set) var queueingDelay = Interval.zero
  /// Bounds of the bitrate.
  var range: ClosedRange<Int>

  private var target: Double
  private var cap = Double.infinity
  private var isStarting = true
  private var lastUpdate: Instant?
  private var lastDecrease: Instant?
  // The smallest one-way delay of the last 10 to 20 s stands for the empty path. Its absolute value means nothing: the clocks differ.
  private var smallest: (current: Int64, previous: Int64, since: Instant)?
  private var window = (bytes: 0, start: Interval.zero, isBegun: false)
  private var counts = (lost: 0, total: 0)

  /// A target that begins at `initial` bits per second.
  init(initial: Int, range: ClosedRange<Int>) {
    self.range = range
    target = Double(initial)
  }

  /// Takes note of how packets fared; `roundTripTime` tells how soon a change can show.
  mutating func handle(_ results: [SentPackets.Result], roundTripTime: Interval?, now: Instant) {
    for result in results {
      counts.total += 1
      guard let arrival = result.arrival else {
        counts.lost += 1
        continue
      }
      measure(arrival, result.count)
      note(delay: arrival.nanoseconds &- result.sent.nanoseconds, now)
    }
    update(roundTripTime ?? .milliseconds(100), now)
  }

  /// Takes note of a report block, where there is no transport-wide feedback.
  mutating func handle(fractionLost: Double, roundTripTime: Interval?, now: Instant) {
    if fractionLost > 0.1 {
      decrease(to: target * (1 - fractionLost / 2), roundTripTime ?? .milliseconds(100), now)
    } else if fractionLost < 0.02 {
      rise(now)
    }
    lastUpdate = now
  }

  /// Takes the receiver's estimate as a cap.
  mutating func handle(receiverEstimatedMaximumBitrate bitrate: UInt64) { cap = Double(bitrate) }

  private mutating func measure(_ arrival: Interval, _ count: Int) {
    guard window.isBegun else {
      window = (0, arrival, true)
      return
    }
    window.bytes += count
    let time = arrival - window.start
    guard time >= .milliseconds(500) else { return }
    let rate = Double(window.bytes) * 8 / time.seconds
    // A pause in sending is not a slow path.
    if time < .milliseconds(1_500) { acknowledgedBitrate = acknowledgedBitrate.map { $0 * 0.4 + rate * 0.6 } ?? rate }
    window = (0, arrival, true)
  }

  private mutating func note(delay: Int64, _ now: Instant) {
    var known = smallest ?? (delay, delay, now)
    if now - known.since > .milliseconds(10_000) { known = (delay, known.current, now) }
    known.current = min(known.current, delay)
    smallest = known
    let queueing = Double(delay &- min(known.current, known.previous))
    queueingDelay = .nanoseconds(Int64(min(Double(queueingDelay.nanoseconds) * 0.9 + queueing * 0.1, 1e12)))
  }

  private mutating func update(_ roundTripTime: Interval, _ now: Instant) {
    defer { lastUpdate = now }
    let loss = Double(counts.lost) / Double(max(counts.total, 1))
    let isLossKnown = counts.total >= 20
    if isLossKnown { counts = (0, 0) }
    if queueingDelay > Self.congested {
      decrease(to: min(target, acknowledgedBitrate ?? target) * 0.85, roundTripTime, now)
    } else if isLossKnown, loss > 0.1 {
      decrease(to: target * (1 - loss / 2), roundTripTime, now)
    } else if queueingDelay < Self.clear, loss < 0.02 {
      rise(now)
    }
  }

  /// One decrease has to show before the next, or one queue would be paid for twice.
  private mutating func decrease(to value: Double, _ roundTripTime: Interval, _ now: Instant) {
    if let lastDecrease, now - lastDecrease < roundTripTime + .milliseconds(200) { return }
    target = max(value, Double(range.lowerBound))
    isStarting = false
    lastDecrease = now
  }

  private mutating func rise(_ now: Instant) {
    guard let lastUpdate else { return }
    let seconds = min((now - lastUpdate).seconds, 1)
    guard seconds > 0 else { return }
    var risen = target * (1 + (isStarting ? 1.0 : 0.08) * seconds)
    // What was never tried is not known to pass: an idle sender must not climb.
    if let acknowledgedBitrate { risen = min(risen, max(target, acknowledgedBitrate * (isStarting ? 2 : 1.5) + 50_000)) }
    target = min(risen, Double(range.upperBound))
  }
}
