import Synchronization

/// A value behind a lock, for what is touched rarely and briefly.
package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
  // Unchecked: the mutex hands the value to one thread at a time, and it never leaves but as a copy of a part.
  private var value: Value
  private let lock = Mutex(())

  package init(_ value: consuming Value) { self.value = value }

  package func with<Result: ~Copyable, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
    try lock.withLock { _ throws(Failure) in try body(&value) }
  }
}
