import CLinux
import Glibc

/// Hears from the kernel when devices of one kind come, go or change (uevents). Used on one thread.
public final class UeventMonitor {
  /// Readable when there is news; -1 where the kernel does not tell, as in some containers.
  public let descriptor = linux_uevent_monitor()
  private let line: [UInt8]
  private var bytes = [UInt8](repeating: 0, count: 8_192)

  /// News of a subsystem of the kernel: `drm`, `video4linux`, `sound`.
  public init(subsystem: String) { line = Array("SUBSYSTEM=\(subsystem)".utf8) }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Reads what there is, and says whether any of it is about the subsystem.
  public func dispatch() -> Bool {
    var isNews = false
    while descriptor >= 0 {
      let count = unsafe recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      if count < 0 && errno == ENOBUFS {
        // Some were lost: they may have been about it.
        isNews = true
        continue
      }
      guard count > 0 else { break }
      isNews = isNews || bytes[..<count].split(separator: 0).contains { $0.elementsEqual(line) }
    }
    return isNews
  }
}
