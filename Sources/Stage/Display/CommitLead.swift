import Base

/// How long before a vertical blank a commit must be made for the driver to take it with that blank: learned from those that came too late.
struct CommitLead: Sendable {
  /// What is added to a lead that was too short.
  private static let step = Interval.microseconds(250)
  /// More than this no driver needs.
  private let limit: Interval
  /// What failed more than once never becomes enough again.
  private var floor = Interval.microseconds(200)
  private var longestFailure: Interval?
  /// The lead to keep.
  private(set) var value = Interval.microseconds(300)

  init(limit: Interval) { self.limit = limit }

  /// A commit made so long before its blank was taken with a later one.
  mutating func failed(_ lead: Interval) {
    // Once may be an accident, which fades.
    if let longestFailure, lead <= longestFailure { floor = min(limit, max(floor, lead + CommitLead.step)) }
    longestFailure = max(longestFailure ?? .zero, lead + CommitLead.step)
    value = min(limit, max(value, lead + CommitLead.step))
  }

  /// A commit was taken with its blank.
  mutating func held() {
    if value > floor { value = max(floor, value - value / 512) }
  }
}
