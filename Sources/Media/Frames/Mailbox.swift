import Synchronization

/// One slot between two stages: the newest value wins, and an unread one is replaced, never queued.
public final class Mailbox<Value: Sendable>: Sendable {
  private let slot = Mutex<(value: Value?, replaced: Int)>((nil, 0))

  /// An empty mailbox.
  public init() {}

  /// Puts `value` in, in place of what was not yet taken.
  public func put(_ value: Value) {
    let old = slot.withLock { slot in
      if slot.value != nil { slot.replaced += 1 }
      defer { slot.value = value }
      return slot.value
    }
    _ = old  // released outside the lock: it may return memory to a pool
  }

  /// Takes the value out; nil when nothing came since the last call.
  public func take() -> Value? {
    slot.withLock { slot in
      defer { slot.value = nil }
      return slot.value
    }
  }

  /// How many values were replaced before anyone took them.
  public var replacedCount: Int { slot.withLock { $0.replaced } }
}
