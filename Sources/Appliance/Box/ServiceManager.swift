import FoundationEssentials
import Glibc

/// systemd, when it started this process and waits for news (`sd_notify(3)`).
enum ServiceManager {
  /// Says that the box is up. Harmless where nobody waits for it.
  static func announceReadiness(environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let text = Array("READY=1".utf8)
    _ = unsafe UnixSocket.withAddress(path) { unsafe sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, $1) }
  }
}
