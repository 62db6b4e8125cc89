import Base
import CLinux
import Glibc

/// Lets the stage's thread sleep until a descriptor is readable, another thread calls, or a time has come.
final class DescriptorWait: Sendable {
  /// An eventfd: who writes to it wakes the thread.
  let signal: Int32
  private let epoll: Int32

  /// Waits for these descriptors, which have to stay open.
  init(_ descriptors: [Int32]) {
    (signal, epoll) = (linux_eventfd(), linux_epoll_create())
    precondition(signal >= 0 && epoll >= 0, "the machine has room for two more descriptors when the stage starts")
    for descriptor in [signal] + descriptors { add(descriptor) }
  }

  /// Waits for one more descriptor, which has to stay open.
  func add(_ descriptor: Int32) {
    let status = linux_epoll_set(epoll, descriptor, UInt32(linux_readable), UInt64(descriptor), true)
    precondition(status == 0, "descriptors of sockets and events can be waited for")
  }

  deinit {
    close(epoll)
    close(signal)
  }

  /// Returns when something is ready, and at `deadline` at the latest.
  func wait(until deadline: Instant) {
    let left = (deadline - StageThread.now()).nanoseconds
    guard left > 0 else { return }
    var events = [linux_event](repeating: linux_event(), count: 8)
    let count = unsafe linux_epoll_wait(epoll, &events, Int32(events.count), left)
    for event in events.prefix(Int(max(0, count))) where event.token == UInt64(signal) {
      var value: UInt64 = 0
      _ = unsafe read(signal, &value, 8)
    }
  }
}
