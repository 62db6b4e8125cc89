/// Continues 16-bit sequence numbers beyond their wrap: each is taken as the one nearest to the highest seen so far.
public struct SequenceNumberUnwrapper: Sendable {
  /// The highest number so far; nil before the first.
  public private(set) var highest: Int64?

  /// Nothing seen yet.
  @inlinable public init() {}

  /// The full number of `value`. The first is itself; one far below the first becomes negative.
  @inlinable public mutating func unwrap(_ value: UInt16) -> Int64 {
    let result = peek(value)
    if result > highest ?? .min { advance(to: result) }
    return result
  }

  /// The full number of `value`, without taking note of it.
  @inlinable public func peek(_ value: UInt16) -> Int64 {
    guard let highest else { return Int64(value) }
    return highest + Int64(Int16(bitPattern: value &- UInt16(truncatingIfNeeded: highest)))
  }

  @usableFromInline mutating func advance(to value: Int64) { highest = value }
}

/// Continues 32-bit RTP time stamps beyond their wrap: each is taken as the one nearest to the latest seen so far.
public struct TimestampUnwrapper: Sendable {
  /// The latest time stamp so far; nil before the first.
  public private(set) var latest: Int64?

  /// Nothing seen yet.
  @inlinable public init() {}

  /// The full time stamp of `value`. The first is itself; one far before the first becomes negative.
  @inlinable public mutating func unwrap(_ value: UInt32) -> Int64 {
    let result = peek(value)
    if result > latest ?? .min { advance(to: result) }
    return result
  }

  /// The full time stamp of `value`, without taking note of it.
  @inlinable public func peek(_ value: UInt32) -> Int64 {
    guard let latest else { return Int64(value) }
    return latest + Int64(Int32(bitPattern: value &- UInt32(truncatingIfNeeded: latest)))
  }

  @usableFromInline mutating func advance(to value: Int64) { latest = value }
}
