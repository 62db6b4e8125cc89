import Base

/// How long composing will take, from how long it took: long enough for nearly all, whatever a single one took.
struct WorkEstimate: Sendable {
  /// So many are remembered: about two seconds of video.
  private static let count = 64
  /// For what the clock and the scheduler add.
  private static let margin = Interval.microseconds(500)

  /// The last ones in their order, and the same by length.
  private var recent: [Interval] = []
  private var sorted: [Interval] = []
  private var oldest = 0
  /// What one took that came too late; it fades.
  private var floor = Interval.zero
  private let guess: Interval

  /// Before anything is known, composing is taken to last `guess`.
  init(guess: Interval) {
    self.guess = guess
    recent.reserveCapacity(WorkEstimate.count)
    sorted.reserveCapacity(WorkEstimate.count + 1)
  }

  /// What half of them take at most.
  var typical: Interval { sorted.isEmpty ? guess : sorted[sorted.count / 2] }
  /// What nearly all take at most: all but three of 64.
  var high: Interval { sorted.isEmpty ? guess : sorted[sorted.count - 1 - sorted.count / 20] }
  /// What to allow for the next one.
  var budget: Interval { max(high, floor) + WorkEstimate.margin }

  /// Adds what one took.
  mutating func add(_ duration: Interval) {
    floor = floor - max(.zero, floor - high) / 32
    let place = sorted.firstIndex { $0 > duration } ?? sorted.count
    sorted.insert(duration, at: place)
    guard recent.count == WorkEstimate.count else {
      recent.append(duration)
      return
    }
    if let index = sorted.firstIndex(of: recent[oldest]) { sorted.remove(at: index) }
    recent[oldest] = duration
    oldest = (oldest + 1) % WorkEstimate.count
  }

  /// One took so long that its blank was missed: the next ones are given as much.
  mutating func missed(_ duration: Interval) { floor = max(floor, duration) }
}
