/// The 96 bits that join a response to its request.
public struct TransactionID: Sendable, Hashable {
  /// The first 32 bits.
  public var high: UInt32
  /// The last 64 bits.
  public var low: UInt64

  /// The identifier with these bits.
  public init(high: UInt32, low: UInt64) { (self.high, self.low) = (high, low) }

  /// A new identifier from `random`, which must not be guessable by an attacker off the path.
  public init(using random: inout some RandomNumberGenerator) {
    self.init(high: UInt32(truncatingIfNeeded: random.next()), low: random.next())
  }
}
