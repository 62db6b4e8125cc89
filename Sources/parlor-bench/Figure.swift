/// One figure that was measured, as `--json` prints it.
struct Figure: Encodable, Sendable {
  /// What it is compared with, measured in the same run.
  struct Reference: Encodable, Sendable {
    var name: String
    var value: Double
  }

  /// What the ratio, or without a reference the value, has to keep.
  enum Bound: Sendable {
    case atLeast(Double)
    case atMost(Double)
  }

  /// The benchmark's name.
  var name: String
  /// What was measured.
  var metric: String
  /// The median over all runs.
  var value: Double
  /// The unit of `value`, the reference's and the spread's.
  var unit: String
  /// Nil where there is nothing to compare with, or where it is not installed.
  var reference: Reference?
  /// How many times the reference's value: the median of what the runs, each beside one of the reference, gave.
  var ratio: Double?
  /// How often it was measured.
  var runs: Int
  /// Between the quarter and the three quarters of the runs' values.
  var spread: Double
  /// What has to hold; nil where the figure only informs.
  var bound: Bound?

  /// Whether the bound holds; nil without a bound, or without the reference that it speaks of.
  var isKept: Bool? {
    guard let bound, let measured = ratio ?? (needsReference ? nil : value) else { return nil }
    switch bound {
    case .atLeast(let limit): return measured >= limit
    case .atMost(let limit): return measured <= limit
    }
  }

  /// Whether the bound is one of the ratio.
  var needsReference = true

  private enum Keys: String, CodingKey { case name, metric, value, unit, reference, ratio, runs, spread, bound }
  private enum BoundKeys: String, CodingKey {
    case atLeast = "at_least"
    case atMost = "at_most"
    case isKept = "is_kept"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(name, forKey: .name)
    try container.encode(metric, forKey: .metric)
    try container.encode(value, forKey: .value)
    try container.encode(unit, forKey: .unit)
    try container.encode(reference, forKey: .reference)
    try container.encode(ratio, forKey: .ratio)
    try container.encode(runs, forKey: .runs)
    try container.encode(spread, forKey: .spread)
    guard let bound else { return }
    var limits = container.nestedContainer(keyedBy: BoundKeys.self, forKey: .bound)
    switch bound {
    case .atLeast(let limit): try limits.encode(limit, forKey: .atLeast)
    case .atMost(let limit): try limits.encode(limit, forKey: .atMost)
    }
    try limits.encode(isKept, forKey: .isKept)
  }
}

/// Values of one figure, one for each run.
struct Samples {
  var values: [Double] = []

  mutating func append(_ value: Double) { values.append(value) }

  /// The value that `fraction` of the runs stay below, between the two nearest.
  func quantile(_ fraction: Double) -> Double {
    let sorted = values.sorted()
    guard let last = sorted.last else { return 0 }
    let place = fraction * Double(sorted.count - 1)
    let index = Int(place)
    return index + 1 < sorted.count ? sorted[index] + (sorted[index + 1] - sorted[index]) * (place - Double(index)) : last
  }

  var median: Double { quantile(0.5) }
  var spread: Double { quantile(0.75) - quantile(0.25) }
}
