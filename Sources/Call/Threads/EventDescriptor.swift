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

  /// Sleeps until `signal`, at most `milliseconds` (negative: without end), or until `other` can be read; returns whether it can.
  @discardableResult
  func wait(milliseconds: Int32 = -1, or other: Int32 = -1) -> Bool {
    var entries = (pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0))
    let isReady = unsafe withUnsafeMutableBytes(of: &entries) { bytes in
      let first = unsafe bytes.baseAddress!.assumingMemoryBound(to: pollfd.self)
      return unsafe poll(first, 2, milliseconds) > 0 && first[1].revents != 0
    }
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
    return isReady
  }
}
