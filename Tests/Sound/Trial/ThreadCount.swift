import CAllocations

/// What one thread allocated, freed and locked since it had settled, and how often it waited for another or slept.
final class ThreadCount: @unchecked Sendable {
  // Unchecked: written by one thread, read when that has ended.
  private struct Counts {
    var allocations = 0
    var frees = 0
    var locks = 0
    var contentions = 0
    var waits = 0

    static var now: Counts {
      Counts(
        allocations: Int(allocations_of_thread()), frees: Int(frees_of_thread()), locks: Int(locks_of_thread()),
        contentions: Int(contentions_of_thread()), waits: Int(waits_of_thread()))
    }
  }

  private var turns = 0
  private var turnsAtFirst = 0
  private var first: Counts?
  private var last = Counts()

  /// To be called whenever the thread is about to sleep, on the thread. It counts once `isSettled`.
  func turn(isSettled: Bool) {
    turns += 1
    guard isSettled else { return }
    last = .now
    if first == nil { (first, turnsAtFirst) = (last, turns) }
  }

  /// Says what was counted; false if the thread did what it must not do, or nothing. Locks are the business of a library that uses them for itself:
  /// `locksPerTurn` of them are free whenever they are taken. It sleeps `waitsPerTurn` times for each turn, by its own choice.
  func report(_ name: String, locksPerTurn: Int = 0, waitsPerTurn: Int = 1) -> Bool {
    guard let first else {
      print("\(name): did not run")
      return false
    }
    let turns = turns - turnsAtFirst
    let (allocations, frees) = (last.allocations - first.allocations, last.frees - first.frees)
    let (locks, contentions, waits) = (last.locks - first.locks, last.contentions - first.contentions, last.waits - first.waits)
    print(
      "\(name): \(turns) turns, \(allocations) allocations, \(frees) frees, \(locks) locks, \(contentions) of them not free, \(waits) waits"
    )
    return turns > 50 && allocations == 0 && frees == 0 && locks <= locksPerTurn * turns && contentions == 0
      && waits <= waitsPerTurn * turns
  }
}
