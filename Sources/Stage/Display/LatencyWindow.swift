import Base

/// How long something took, over some seconds.
public struct LatencyFigures: Sendable, Hashable {
  /// What half took at most.
  public var p50: Interval
  /// What 95 of 100 took at most.
  public var p95: Interval
  /// What 99 of 100 took at most.
  public var p99: Interval
  /// The longest.
  public var max: Interval
  /// How many there were.
  public var count: Int
}

/// How long things took over the last ten seconds.
struct LatencyWindow: Sendable {
  typealias Figures = LatencyFigures

  /// Ten seconds at the rate of the fastest monitors.
  private static let limit = 2_400
  private static let window = Interval.seconds(10)

  private var samples: [(time: Instant, length: Interval)] = []
  private var oldest = 0

  init() { samples.reserveCapacity(LatencyWindow.limit) }

  /// Adds what took `length` and ended at `time`.
  mutating func add(_ length: Interval, at time: Instant) {
    guard samples.count == LatencyWindow.limit else {
      samples.append((time, length))
      return
    }
    samples[oldest] = (time, length)
    oldest = (oldest + 1) % LatencyWindow.limit
  }

  /// The figures of the ten seconds before `now`; nil when nothing was added in them. Not for every frame: it sorts.
  func figures(now: Instant) -> Figures? {
    let lengths = samples.filter { now - $0.time <= LatencyWindow.window }.map(\.length).sorted()
    guard let last = lengths.last else { return nil }
    func share(_ percent: Int) -> Interval { lengths.count * percent / 100 < lengths.count ? lengths[lengths.count * percent / 100] : last }
    return Figures(p50: share(50), p95: share(95), p99: share(99), max: last, count: lengths.count)
  }
}
