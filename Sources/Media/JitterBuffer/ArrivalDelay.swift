import Base

/// Estimates how late packets of one stream come, compared with the fastest of the last seconds, and how long playout should wait for them.
///
/// A histogram of the lateness in 10 ms steps, in which old packets fade; the target covers 97 of 100 packets.
struct ArrivalDelay: Sendable {
  static let step = Interval.milliseconds(10)
  private static let binCount = 40
  private static let quantile = 0.97
  /// How much of the histogram stays with each packet once it has settled: half is gone after about 70 packets.
  private static let memory = 0.99
  /// About 2.5 s of 20 ms packets.
  private static let windowCount = 128

  /// The transit time (arrival minus media time; its origin means nothing) of the fastest packet in the window.
  private(set) var fastest: Interval?

  private var transits: [Interval] = []
  private var position = 0
  private var histogram = [Double](repeating: 0, count: binCount)

  init() { transits.reserveCapacity(ArrivalDelay.windowCount) }

  /// Takes a packet that brought the media of `mediaTime` at `arrival`.
  mutating func add(mediaTime: Interval, arrival: Instant) {
    let transit = (arrival - .zero) - mediaTime
    if transits.count < ArrivalDelay.windowCount {
      transits.append(transit)
      fastest = min(fastest ?? transit, transit)
    } else {
      let replaced = transits[position % ArrivalDelay.windowCount]
      transits[position % ArrivalDelay.windowCount] = transit
      if replaced == fastest { fastest = transits.min() } else { fastest = min(fastest ?? transit, transit) }
    }
    position += 1
    let lateness = transit - (fastest ?? transit)
    let bin = min(ArrivalDelay.binCount - 1, Int(lateness.nanoseconds / ArrivalDelay.step.nanoseconds))
    let kept = min(ArrivalDelay.memory, Double(position - 1) / Double(position))
    for index in histogram.indices { histogram[index] *= kept }
    histogram[bin] += 1 - kept
  }

  /// How long after its fastest packet's time a sample should be played, in whole steps: the lateness that few packets exceed, and one block,
  /// because playout asks in blocks.
  var target: Interval {
    var sum = 0.0
    for (bin, share) in histogram.enumerated() {
      sum += share
      if sum >= ArrivalDelay.quantile { return .milliseconds(10 * (Int64(bin) + 2)) }
    }
    return .milliseconds(20)
  }
}
