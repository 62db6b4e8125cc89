import Base

/// Where the playout of one stream stands: what lip sync has to know of it.
public struct PlayoutPosition: Sendable, Equatable, BitwiseCopyable {
  /// An RTP time stamp of the stream.
  public var timestamp: UInt32
  /// When what bears that time stamp is heard or seen.
  public var time: Instant
  /// How long after it would have come over the fastest way that is.
  public var delay: Interval
  /// How long after it that would be without lip sync.
  public var naturalDelay: Interval

  /// A position from its parts.
  public init(timestamp: UInt32, time: Instant, delay: Interval, naturalDelay: Interval) {
    (self.timestamp, self.time, self.delay, self.naturalDelay) = (timestamp, time, delay, naturalDelay)
  }
}
