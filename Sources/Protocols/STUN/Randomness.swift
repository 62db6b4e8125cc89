import Base

/// Where identifiers and passwords come from: the system's generator, or a seeded one so that a test repeats.
public struct Randomness: RandomNumberGenerator, Sendable {
  private var seeded: RandomSource?

  /// The system's generator when `seed` is nil, else the sequence that `seed` gives.
  public init(seed: UInt64?) { seeded = seed.map { RandomSource(seed: $0) } }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    if let value = seeded?.next() { return value }
    var system = SystemRandomNumberGenerator()
    return system.next()
  }
}
