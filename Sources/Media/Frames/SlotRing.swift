import Synchronization

/// A short queue between two threads, one of which puts while the other takes. Neither ever waits, locks or allocates: this is how real-time
/// threads talk to others. What finds no room is dropped and counted.
public final class SlotRing<Element: BitwiseCopyable>: @unchecked Sendable {
  // Unchecked: a slot belongs to the putting thread until `tail` passes it, then to the taking thread until `head` does.
  private let slots: UnsafeMutablePointer<Element>
  private let capacity: Int
  private let head = Atomic(0)
  private let tail = Atomic(0)
  private let dropped = Atomic(0)

  /// A ring of `capacity` slots, each of which is `initial` until it is written.
  public init(capacity: Int, of initial: Element) {
    precondition(capacity > 0, "a ring has slots")
    self.capacity = capacity
    slots = .allocate(capacity: capacity)
    unsafe slots.initialize(repeating: initial, count: capacity)
  }

  deinit { unsafe slots.deallocate() }

  /// Has `fill` write the next slot, which holds what stood there before; false and counted when there is no room. From the putting thread.
  @discardableResult
  public func put(_ fill: (UnsafeMutablePointer<Element>) -> Void) -> Bool {
    let position = tail.load(ordering: .relaxed)
    guard position - head.load(ordering: .acquiring) < capacity else {
      dropped.add(1, ordering: .relaxed)
      return false
    }
    unsafe fill(slots + position % capacity)
    tail.store(position + 1, ordering: .releasing)
    return true
  }

  /// Has `use` read the oldest slot, which is free again afterwards; false when there is none. From the taking thread.
  @discardableResult
  public func take(_ use: (UnsafePointer<Element>) -> Void) -> Bool {
    let position = head.load(ordering: .relaxed)
    guard position < tail.load(ordering: .acquiring) else { return false }
    unsafe use(slots + position % capacity)
    head.store(position + 1, ordering: .releasing)
    return true
  }

  /// How many slots wait.
  public var count: Int { tail.load(ordering: .acquiring) - head.load(ordering: .acquiring) }

  /// How often there was no room.
  public var droppedCount: Int { dropped.load(ordering: .relaxed) }
}
