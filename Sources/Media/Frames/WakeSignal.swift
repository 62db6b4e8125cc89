import Base
import Glibc

/// Lets one thread sleep until another calls, or until a time on the monotonic clock: what goes with a `Mailbox`. A call that comes early is kept.
public final class WakeSignal: @unchecked Sendable {
  // Unchecked: the state is only touched under the mutex, and both live at a fixed address.
  private struct State {
    var mutex = pthread_mutex_t()
    var condition = pthread_cond_t()
    var isSignalled = false
    var descriptor: Int32 = -1
  }

  private let state: UnsafeMutablePointer<State>

  /// A signal that nobody has given.
  public init() {
    state = .allocate(capacity: 1)
    unsafe state.initialize(to: State())
    unsafe pthread_mutex_init(&state.pointee.mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(&state.pointee.condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(&state.pointee.condition)
    unsafe pthread_mutex_destroy(&state.pointee.mutex)
    unsafe state.deallocate()
  }

  /// Has `signal` also write to an eventfd from now on, for a thread that sleeps on descriptors; -1 ends that.
  ///
  /// The descriptor has to stay open until then.
  public func notify(descriptor: Int32) {
    unsafe pthread_mutex_lock(&state.pointee.mutex)
    unsafe state.pointee.descriptor = descriptor
    unsafe pthread_mutex_unlock(&state.pointee.mutex)
  }

  /// Wakes the waiting thread, or spares it the next wait.
  public func signal() {
    unsafe pthread_mutex_lock(&state.pointee.mutex)
    unsafe state.pointee.isSignalled = true
    unsafe pthread_cond_signal(&state.pointee.condition)
    if unsafe state.pointee.descriptor >= 0 {
      // Fails only when 2^64 - 2 signals are waiting: one is enough.
      var one: UInt64 = 1
      _ = unsafe write(state.pointee.descriptor, &one, 8)
    }
    unsafe pthread_mutex_unlock(&state.pointee.mutex)
  }

  /// Sleeps until `signal` or until `deadline`; without one, until `signal` alone.
  public func wait(until deadline: Instant? = nil) {
    unsafe pthread_mutex_lock(&state.pointee.mutex)
    while unsafe !state.pointee.isSignalled {
      guard let deadline else {
        unsafe pthread_cond_wait(&state.pointee.condition, &state.pointee.mutex)
        continue
      }
      var limit = timespec(
        tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
      if unsafe pthread_cond_timedwait(&state.pointee.condition, &state.pointee.mutex, &limit) == ETIMEDOUT { break }
    }
    unsafe state.pointee.isSignalled = false
    unsafe pthread_mutex_unlock(&state.pointee.mutex)
  }
}
