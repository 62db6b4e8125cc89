import Synchronization

/// The newest of a thread's values for another thread: neither waits for the other. Three slots go round: one is written, one is read, and the
/// third holds what was written last.
public final class LatestValue<Value: BitwiseCopyable>: @unchecked Sendable {
  // Unchecked: the writer owns `written`, the readers share `read` under the lock, and the slot between them changes hands atomically.
  private let slots: UnsafeMutablePointer<Value>
  private var written = 0
  private var read = 1
  /// The slot between, and in bit 2 whether it is newer than the one that is read.
  private let between = Atomic(2)
  private let lock = Mutex(())

  /// A value to begin with.
  public init(_ value: Value) {
    slots = .allocate(capacity: 3)
    unsafe slots.initialize(repeating: value, count: 3)
  }

  deinit { unsafe slots.deallocate() }

  /// Makes `value` the newest. From the one thread that writes.
  public func set(_ value: Value) {
    unsafe slots[written] = value
    written = between.exchange(written | 4, ordering: .acquiringAndReleasing) & 3
  }

  /// The newest value. From any thread but the one that writes: readers wait for each other, never the writer for them.
  public var value: Value {
    lock.withLock { _ in
      if between.load(ordering: .relaxed) & 4 != 0 { read = between.exchange(read, ordering: .acquiringAndReleasing) & 3 }
      return unsafe slots[read]
    }
  }
}
