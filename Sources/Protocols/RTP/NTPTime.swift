import Base

/// A time stamp of the network time protocol: seconds since 1900 in 32.32 fixed point (RFC 3550 section 4).
public struct NTPTime: Sendable, Hashable {
  /// The 64 bits as they stand in a packet.
  public var bits: UInt64

  /// The time with these bits.
  @inlinable public init(bits: UInt64) { self.bits = bits }

  /// The time `nanoseconds` after 1970-01-01 00:00 UTC.
  @inlinable public init(unixNanoseconds nanoseconds: Int64) {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let (second, nanosecond) = rest < 0 ? (seconds - 1, rest + 1_000_000_000) : (seconds, rest)
    bits = UInt64(truncatingIfNeeded: second + 2_208_988_800) << 32 | (UInt64(nanosecond) << 32 + 500_000_000) / 1_000_000_000
  }

  /// Nanoseconds since 1970-01-01 00:00 UTC, for times in the era that ends in 2036.
  @inlinable public var unixNanoseconds: Int64 {
    (Int64(bits >> 32) - 2_208_988_800) * 1_000_000_000 + Int64(((bits & 0xFFFF_FFFF) * 1_000_000_000 + 0x8000_0000) >> 32)
  }

  /// The middle 32 bits: seconds in 16.16 fixed point, as reports use them.
  @inlinable public var compact: UInt32 { UInt32(truncatingIfNeeded: bits >> 16) }

  /// An interval in the unit of `compact`, 65,536ths of a second; negative ones are 0, too long ones the most that fits.
  @inlinable public static func compact(_ interval: Interval) -> UInt32 {
    let (high, low) = UInt64(max(interval.nanoseconds, 0)).multipliedFullWidth(by: 65_536)
    return UInt32(clamping: UInt64(1_000_000_000).dividingFullWidth((high, low)).quotient)
  }

  /// An interval given in the unit of `compact`.
  @inlinable public static func interval(compact: UInt32) -> Interval {
    Interval(nanoseconds: Int64((UInt64(compact) * 1_000_000_000) >> 16))
  }
}
