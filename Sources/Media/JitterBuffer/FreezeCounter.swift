import Base

/// Counts when the picture stood still, as W3C `freezeCount` and `totalFreezesDuration` define it: a frame came later than three times the
/// average distance of the last 30 frames, or later than that average and 150 ms, whichever is more.
public struct FreezeCounter: Sendable, Equatable {
  /// How often the picture stood still.
  public private(set) var freezeCount = 0
  /// How long it stood in all.
  public private(set) var totalFreezesDuration = Interval.zero

  private var last: Instant?
  private var average: Interval?
  private var distances: [Interval] = []
  private var position = 0

  /// A counter that has seen no frame.
  public init() { distances.reserveCapacity(30) }

  /// A frame is shown at `now`.
  public mutating func show(at now: Instant) {
    defer { last = now }
    guard let last else { return }
    let distance = now - last
    if let average, distance > max(average + average + average, average + .milliseconds(150)) {
      freezeCount += 1
      totalFreezesDuration += distance
    }
    if distances.count < 30 { distances.append(distance) } else { distances[position % 30] = distance }
    position += 1
    average = distances.reduce(.zero, +) / Int64(distances.count)
  }

  /// The stream was paused on purpose: the time until the next frame is no freeze.
  public mutating func pause() { last = nil }
}
