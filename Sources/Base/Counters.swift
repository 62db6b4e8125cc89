/// Counts of things dropped or refused, by a stable name such as `rtp.malformed`: nothing is discarded silently.
public struct Counters: Sendable, Equatable {
  /// The count for each name that was ever counted.
  public private(set) var values: [String: Int] = [:]

  /// No counts yet.
  public init() {}

  /// Adds `amount` to the count of `name`.
  public mutating func count(_ name: String, _ amount: Int = 1) { values[name, default: 0] += amount }

  /// The count of `name`, 0 when it never occurred.
  public subscript(name: String) -> Int { values[name] ?? 0 }

  /// Adds all counts of `other`.
  public mutating func add(_ other: Counters) { for (name, amount) in other.values { count(name, amount) } }
}
