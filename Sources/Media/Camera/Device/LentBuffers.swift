import Synchronization

/// Buffers of a camera that others show or encode from, and that come back from any thread.
final class LentBuffers: Sendable {
  private struct State {
    var returned: [Int] = []
    var isClosed = false
  }

  private let state: Mutex<State>
  /// Wakes the camera's thread.
  private let wake: @Sendable () -> Void

  /// For a camera of `count` buffers.
  init(count: Int, wake: @escaping @Sendable () -> Void) {
    var start = State()
    start.returned.reserveCapacity(count)
    state = Mutex(start)
    self.wake = wake
  }

  /// A buffer is not looked at any more.
  func giveBack(_ index: Int) {
    let isOpen = state.withLock { state in
      if !state.isClosed { state.returned.append(index) }
      return !state.isClosed
    }
    if isOpen { wake() }
  }

  /// A buffer that came back; nil: there is none.
  func take() -> Int? { state.withLock { $0.returned.popLast() } }

  /// The queue is gone: what comes back from now on is nobody's.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.returned.removeAll()
    }
  }
}
