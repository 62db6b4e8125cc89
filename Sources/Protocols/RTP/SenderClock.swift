import Base

/// How a stream's RTP time stamps lie in its sender's wall-clock time: what its last sender report says (RFC 3550 section 6.4.1).
public struct SenderClock: Sendable, Equatable {
  /// The sender's wall-clock time that belongs to `timestamp`.
  public var ntpTime: NTPTime
  /// The RTP time stamp that belongs to `ntpTime`.
  public var timestamp: UInt32
  /// Ticks of the RTP clock per second, more than 0.
  public var clockRate: Int
  /// When the report arrived.
  public var arrival: Instant

  /// The clock that a report of `ntpTime` and `timestamp` tells of.
  public init(ntpTime: NTPTime, timestamp: UInt32, clockRate: Int, arrival: Instant) {
    precondition(clockRate > 0, "a clock ticks")
    (self.ntpTime, self.timestamp, self.clockRate, self.arrival) = (ntpTime, timestamp, clockRate, arrival)
  }

  /// When the media of an RTP time stamp was captured, by the sender's wall clock. For time stamps within half their range of the report's.
  public func captureTime(of timestamp: UInt32) -> NTPTime {
    let ticks = Int64(Int32(bitPattern: timestamp &- self.timestamp))
    let units = (Double(ticks) / Double(clockRate) * 4_294_967_296).rounded()
    return NTPTime(bits: ntpTime.bits &+ UInt64(bitPattern: Int64(units)))
  }
}
