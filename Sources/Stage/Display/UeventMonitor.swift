import CLinux
import Glibc

/// Hears from the kernel when monitors and graphics cards come and go (uevents of the subsystem `drm`).
final class UeventMonitor {
  /// Readable when there is news; -1 where the kernel does not tell, as in some containers.
  let descriptor = linux_uevent_monitor()

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Reads what there is, and says whether any of it is about displays.
  func dispatch() -> Bool {
    var isAboutDisplays = false
    var bytes = [UInt8](repeating: 0, count: 8_192)
    while descriptor >= 0 {
      let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      if count < 0 && errno == ENOBUFS {
        // Some were lost: they may have been about displays.
        isAboutDisplays = true
        continue
      }
      guard count > 0 else { break }
      isAboutDisplays = isAboutDisplays || bytes[..<count].split(separator: 0).contains { $0.elementsEqual("SUBSYSTEM=drm".utf8) }
    }
    return isAboutDisplays
  }
}
