import Base
import CLinux
import Frames
import Glibc
import Synchronization

/// A named thread that runs a body until told to stop.
final class WorkerThread: @unchecked Sendable {
  // Unchecked: `thread` is written before the thread is shared and read when it is joined, once.
  private var thread = pthread_t()
  private let stopping = Atomic(false)
  private let joined = Atomic(false)

  /// Whether the body should end; it asks this between its steps.
  var isStopping: Bool { stopping.load(ordering: .acquiring) }

  private final class Start: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
  }

  /// Starts the thread. `body` gets this object, to ask whether it should end. With a `realtimePriority` (1 to 99) the thread asks for
  /// SCHED_FIFO and goes on without it where that is not allowed.
  init(name: String, realtimePriority: Int32? = nil, body: @escaping @Sendable (WorkerThread) -> Void) {
    let start = Start(name: name) { [unowned self] in
      if let realtimePriority {
        var parameters = sched_param()
        parameters.sched_priority = realtimePriority
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
      }
      body(self)
    }
    let result = pthread_create(
      &thread, nil,
      { @Sendable pointer in
        let start = Unmanaged<Start>.fromOpaque(pointer!).takeRetainedValue()
        linux_set_thread_name(start.name)
        start.body()
        return nil
      }, Unmanaged.passRetained(start).toOpaque())
    precondition(result == 0, "the system has no thread left for \(name)")
  }

  /// Asks the body to end.
  func askToStop() { stopping.store(true, ordering: .releasing) }

  /// Asks the body to end, wakes it by `wake`, and waits for it.
  func stop(waking wake: WakeSignal? = nil) {
    askToStop()
    wake?.signal()
    if !joined.exchange(true, ordering: .acquiringAndReleasing) { pthread_join(thread, nil) }
  }

  /// Leaves a thread behind whose body does not come back from a call to a driver. When it does, it is told to end.
  func abandon() {
    askToStop()
    guard !joined.exchange(true, ordering: .acquiringAndReleasing) else { return }
    pthread_detach(thread)
    // Its body may use it at any time from now on.
    _ = Unmanaged.passRetained(self)
  }

  deinit { precondition(joined.load(ordering: .acquiring), "a thread is stopped before it is dropped") }
}
