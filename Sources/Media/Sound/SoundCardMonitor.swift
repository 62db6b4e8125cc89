import Base
import CLinux
import Glibc

/// Hears from the kernel when sound cards come and go (uevents of the subsystem `sound`). Only a hint to look: some containers tell nothing.
public final class SoundCardMonitor {
  /// Readable when there is news; -1 where the kernel does not tell.
  public let descriptor = linux_uevent_monitor()

  /// A monitor that hears from now on.
  public init() {}

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Sleeps until there is news, at most until `deadline`. Returns whether any of it is about sound cards.
  public func wait(until deadline: Instant) -> Bool {
    var events = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe linux_poll(&events, 1, deadline.nanoseconds) > 0 && dispatch()
  }

  /// Reads what there is, and says whether any of it is about sound cards.
  public func dispatch() -> Bool {
    var isAboutSound = false
    var bytes = [UInt8](repeating: 0, count: 8_192)
    while descriptor >= 0 {
      let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      if count < 0 && errno == ENOBUFS {
        // Some were lost: they may have been about sound.
        isAboutSound = true
        continue
      }
      guard count > 0 else { break }
      isAboutSound = isAboutSound || bytes[..<count].split(separator: 0).contains { $0.elementsEqual("SUBSYSTEM=sound".utf8) }
    }
    return isAboutSound
  }
}
