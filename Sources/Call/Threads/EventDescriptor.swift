import CLinux
import Glibc

/// Wakes another thread without waiting for it: an eventfd, which a real-time thread may write to.
final class EventDescriptor: Sendable {
  let descriptor: Int32

  init() {
    descriptor = linux_eventfd()
    precondition(descriptor >= 0, "the system has no descriptor left")
  }

  deinit { close(descriptor) }

  /// Wakes the thread that waits, or spares it the next wait.
  func signal() {
    var one: UInt64 = 1
    // Fails only when 2^64 - 2 signals are waiting: one is enough.
    _ = unsafe write(descriptor, &one, 8)
  }

  /// Sleeps until `signal`, at most `milliseconds` (negative: without end).
  func wait(milliseconds: Int32 = -1) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&entry, 1, milliseconds)
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
  }
}
