import Base

/// Estimates how late packets of one stream come, compared with the fastest of the last seconds, and how long playout should wait for them.
///
/// Only the packets of the last three seconds count, each compared with the fastest of them. So one disturbance is forgotten after that time, a
/// way that became longer counts as such and not as jitter, and a clock that drifts by 500 ppm moves nothing by more than 2 ms.
struct ArrivalDelay: Sendable {
  /// What the target is rounded to.
  static let step = Interval.milliseconds(10)
  /// How long a packet counts.
  static let memory = Interval.seconds(3)
  /// The share of packets that the target covers. (A lost or late 20 ms are concealed well; ten times as many late ones are not.)
  private static let quantile = 0.95
  /// A packet that comes so much sooner than all others did not overtake them: the sender's time stamps jumped ahead.
  private static let jump = Interval.milliseconds(500)
  /// Packets of 10 ms in the memory, and some.
  private static let capacity = 512
  private static let binCount = 40

  /// The transit time (arrival minus media time; its origin means nothing) of the fastest packet in the memory.
  private(set) var fastest: Interval?
  /// How long after its fastest packet's time a sample should be played, in whole steps: the lateness that few packets exceed, and one block,
  /// because playout asks in blocks.
  private(set) var target = Interval.milliseconds(20)

  private var packets = [(arrival: Instant, transit: Interval)](repeating: (.zero, .zero), count: capacity)
  private var oldest = 0
  private var count = 0
  private var bins = [Int](repeating: 0, count: binCount)

  /// Takes a packet that brought the media of `mediaTime` at `arrival`.
  mutating func add(mediaTime: Interval, arrival: Instant) {
    let transit = (arrival - .zero) - mediaTime
    if let fastest, transit < fastest - ArrivalDelay.jump { removeAll() }
    while count > 0, count == ArrivalDelay.capacity || arrival - packets[oldest].arrival > ArrivalDelay.memory {
      oldest = (oldest + 1) % ArrivalDelay.capacity
      count -= 1
    }
    packets[(oldest + count) % ArrivalDelay.capacity] = (arrival, transit)
    count += 1
    estimate()
  }

  /// Forgets all packets.
  mutating func removeAll() { (oldest, count, fastest, target) = (0, 0, nil, .milliseconds(20)) }

  private mutating func estimate() {
    var smallest = Interval(nanoseconds: .max)
    for index in 0..<count { smallest = min(smallest, packets[(oldest + index) % ArrivalDelay.capacity].transit) }
    fastest = smallest
    for bin in 0..<ArrivalDelay.binCount { bins[bin] = 0 }
    for index in 0..<count {
      let lateness = packets[(oldest + index) % ArrivalDelay.capacity].transit - smallest
      // Wild time stamps may make the difference of two transits wrap.
      bins[max(0, min(ArrivalDelay.binCount - 1, Int(lateness.nanoseconds / ArrivalDelay.step.nanoseconds)))] += 1
    }
    let covered = Int((Double(count) * ArrivalDelay.quantile).rounded(.up))
    var (sum, bin) = (bins[0], 0)
    while sum < covered {
      bin += 1
      sum += bins[bin]
    }
    target = ArrivalDelay.step * Int64(bin + 2)
  }
}
