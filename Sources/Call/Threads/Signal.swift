import Base
import Glibc

/// Wakes one waiting thread; a wake-up that comes early is kept.
final class Signal: @unchecked Sendable {
  // Unchecked: the mutex guards the flag; both are POSIX objects in memory of their own.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isSet = false

  init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Wakes the waiter, or the next one.
  func set() {
    pthread_mutex_lock(mutex)
    isSet = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for `set`, at most until `deadline` on the monotonic clock.
  func wait(until deadline: Instant? = nil) {
    pthread_mutex_lock(mutex)
    while !isSet {
      if let deadline {
        var time = timespec(tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
        if pthread_cond_timedwait(condition, mutex, &time) != 0 { break }
      } else {
        pthread_cond_wait(condition, mutex)
      }
    }
    isSet = false
    pthread_mutex_unlock(mutex)
  }
}
