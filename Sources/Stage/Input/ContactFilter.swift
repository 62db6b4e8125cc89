import Base

/// Takes the bounces out of a contact: a level counts once it has stood for a while.
struct ContactFilter {
  /// How long a level has to stand.
  let patience: Interval

  /// Whether the contact is closed, as far as it is known for sure.
  private(set) var isClosed: Bool
  private var newest: (isClosed: Bool, since: Instant)?

  /// A contact that is as it is: one that is closed from the start has not been pressed.
  init(isClosed: Bool, patience: Interval) { (self.isClosed, self.patience) = (isClosed, patience) }

  /// When to call `advance` next; nil when nothing is open.
  var deadline: Instant? { newest.map { $0.since + patience } }

  /// The contact closed or opened.
  mutating func edge(isClosed: Bool, at time: Instant) {
    newest = isClosed == self.isClosed ? nil : (isClosed, time)
  }

  /// Returns whether the contact has closed or opened for good; nil when it has not.
  mutating func advance(to now: Instant) -> Bool? {
    guard let newest, now >= newest.since + patience else { return nil }
    self.newest = nil
    isClosed = newest.isClosed
    return isClosed
  }
}
