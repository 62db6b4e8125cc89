/// A point on a monotonic clock, in nanoseconds since an origin that only the clock's owner knows.
///
/// Protocol cores never read a clock: whoever drives them passes an `Instant` in.
public struct Instant: Sendable, Hashable, Comparable, BitwiseCopyable {
  /// Nanoseconds since the clock's origin.
  public var nanoseconds: Int64

  /// The instant `nanoseconds` after the clock's origin.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The clock's origin: where a virtual clock starts.
  public static let zero = Instant(nanoseconds: 0)

  @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
  /// `b` later than `a`.
  @inlinable public static func + (a: Instant, b: Interval) -> Instant { Instant(nanoseconds: a.nanoseconds &+ b.nanoseconds) }
  /// `b` earlier than `a`.
  @inlinable public static func - (a: Instant, b: Interval) -> Instant { Instant(nanoseconds: a.nanoseconds &- b.nanoseconds) }
  /// How much later `a` is than `b`.
  @inlinable public static func - (a: Instant, b: Instant) -> Interval { Interval(nanoseconds: a.nanoseconds &- b.nanoseconds) }
  /// Moves the instant by an interval.
  @inlinable public static func += (a: inout Instant, b: Interval) { a = a + b }
}

/// A signed length of time in nanoseconds. (The standard library's `Duration` is 128 bits wide, which costs on packet paths.)
public struct Interval: Sendable, Hashable, Comparable, AdditiveArithmetic, BitwiseCopyable {
  /// The length in nanoseconds; negative when it points back in time.
  public var nanoseconds: Int64

  /// An interval of `nanoseconds`.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// No time at all.
  public static let zero = Interval(nanoseconds: 0)

  /// `value` nanoseconds.
  @inlinable public static func nanoseconds(_ value: Int64) -> Interval { Interval(nanoseconds: value) }
  /// `value` microseconds.
  @inlinable public static func microseconds(_ value: Int64) -> Interval { Interval(nanoseconds: value * 1_000) }
  /// `value` milliseconds.
  @inlinable public static func milliseconds(_ value: Int64) -> Interval { Interval(nanoseconds: value * 1_000_000) }
  /// `value` seconds.
  @inlinable public static func seconds(_ value: Int64) -> Interval { Interval(nanoseconds: value * 1_000_000_000) }
  /// `value` seconds, rounded to a nanosecond.
  @_disfavoredOverload @inlinable public static func seconds(_ value: Double) -> Interval {
    Interval(nanoseconds: Int64((value * 1e9).rounded()))
  }

  /// The length in seconds.
  @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }
  /// The length in milliseconds.
  @inlinable public var milliseconds: Double { Double(nanoseconds) / 1e6 }

  @inlinable public static func < (a: Interval, b: Interval) -> Bool { a.nanoseconds < b.nanoseconds }
  @inlinable public static func + (a: Interval, b: Interval) -> Interval { Interval(nanoseconds: a.nanoseconds &+ b.nanoseconds) }
  @inlinable public static func - (a: Interval, b: Interval) -> Interval { Interval(nanoseconds: a.nanoseconds &- b.nanoseconds) }
  /// `a` taken `b` times.
  @inlinable public static func * (a: Interval, b: Int64) -> Interval { Interval(nanoseconds: a.nanoseconds &* b) }
  /// `a` scaled by `b`, rounded to a nanosecond.
  @inlinable public static func * (a: Interval, b: Double) -> Interval {
    Interval(nanoseconds: Int64((Double(a.nanoseconds) * b).rounded()))
  }
  /// The `b`th part of `a`.
  @inlinable public static func / (a: Interval, b: Int64) -> Interval { Interval(nanoseconds: a.nanoseconds / b) }
}
