import Base

/// Says when each frame of a video stream is to be shown: at once, unless the application or lip sync wants it later.
///
/// Frames that are held are shown at their own distances, a delay behind the fastest frame of the last seconds; one that is later than that is shown at
/// once. The delay changes by a tenth of the time that passes, and by a quarter while it is far off, so that nothing is seen to jump.
public struct VideoSchedule: Sendable {
  /// When a frame is shown.
  public struct Placement: Sendable, Equatable {
    /// When it shall be handed to the display; nil: as soon as it is decoded.
    public var due: Instant?
    /// Where playout stands with it, for lip sync.
    public var position: PlayoutPosition
  }

  /// The least delay that the application wishes (W3C `jitterBufferTarget`), 0 to 4 s.
  public var requestedDelay = Interval.zero
  /// The least delay that keeps the picture from running ahead of its sound, 0 to 4 s (see `LipSync`).
  public var synchronizationDelay = Interval.zero
  /// How long the display takes from a picture's being handed over to its being seen: half a refresh until one begins, and half a refresh in it.
  public var displayDelay = Interval.milliseconds(16)

  /// How late frames should be shown behind the fastest ones at least.
  public var targetDelay: Interval { max(requestedDelay, synchronizationDelay) }

  /// More than anybody can ask for.
  private static let longestDelay = Interval.seconds(5)

  private let clockRate: Int64
  private var timestamps = UnwrappedClock()
  private var arrivals = ArrivalDelay()
  /// From a frame's time to when it is shown, if frames are held.
  private var transit: Interval?
  private var last: Interval?

  /// Nothing was shown yet; time stamps count `clockRate` (90,000 for video) in a second.
  public init(clockRate: Int = 90_000) {
    precondition(clockRate > 0, "a clock ticks")
    self.clockRate = Int64(clockRate)
  }

  /// Places the frame with an RTP time stamp, which could be handed to the display at `ready`. For each frame, in order.
  public mutating func place(timestamp: UInt32, ready: Instant) -> Placement {
    let mediaTime = timestamps.mediaTime(timestamp, clockRate: clockRate)
    let natural = (ready - .zero) - mediaTime
    let before = arrivals.fastest
    arrivals.add(mediaTime: mediaTime, arrival: ready)
    guard let fastest = arrivals.fastest else { preconditionFailure("a frame was added") }
    // The sender began anew, with other time stamps.
    if let before, max(fastest - before, before - fastest) > .milliseconds(500) { (transit, last) = (nil, nil) }
    move(to: fastest + targetDelay, fastest: fastest, from: min(natural, fastest + targetDelay), at: mediaTime)
    let shown = max(natural, transit ?? natural)
    return Placement(
      due: shown > natural ? .zero + shown + mediaTime : nil,
      position: PlayoutPosition(
        timestamp: timestamp, time: .zero + shown + mediaTime + displayDelay, delay: shown - fastest + displayDelay,
        naturalDelay: max(natural - fastest, requestedDelay) + displayDelay))
  }

  private mutating func move(to goal: Interval, fastest: Interval, from start: Interval, at mediaTime: Interval) {
    let passed = last.map { max(.zero, min(mediaTime - $0, .seconds(1))) } ?? .zero
    last = mediaTime
    guard targetDelay > .zero || transit != nil else { return }
    let now = transit ?? start
    let distance = max(goal - now, now - goal)
    let step = passed * (distance > .milliseconds(500) ? 0.25 : 0.1)
    let moved = max(now - step, min(now + step, goal))
    transit = targetDelay == .zero && moved <= fastest ? nil : moved
    // Time stamps that run away from the clock are no reason to hold a frame for ever.
    if moved - fastest > VideoSchedule.longestDelay { transit = nil }
  }

  /// Continues time stamps beyond their wrap, and past a sender's new beginning.
  private struct UnwrappedClock: Sendable {
    private var latest: Int64?

    mutating func mediaTime(_ timestamp: UInt32, clockRate: Int64) -> Interval {
      let value = latest.map { $0 &+ Int64(Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: $0))) } ?? Int64(timestamp)
      latest = value
      return .nanoseconds(value / clockRate &* 1_000_000_000 &+ value % clockRate * 1_000_000_000 / clockRate)
    }
  }
}
