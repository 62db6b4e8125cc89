import FoundationEssentials
import Glibc

/// systemd, when it started this process and waits for news (`sd_notify(3)`).
struct ServiceManager: Sendable {
  private let path: String

  /// The one that started this process; nil: none did, or it waits for nothing.
  init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
    guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") else { return nil }
    self.path = path
  }

  /// Says that the box is up.
  func announceReadiness() { send("READY=1") }

  /// Says that the box is alive.
  func announceLife() { send("WATCHDOG=1") }

  private func send(_ text: String) {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    _ = unsafe UnixSocket.withAddress(path) { unsafe sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) }
  }

  /// Microseconds within which it wants to hear that this process is alive; nil: it does not ask.
  static func patience(environment: [String: String] = ProcessInfo.processInfo.environment) -> Int64? {
    guard environment["WATCHDOG_PID"].map({ $0 == "\(getpid())" }) ?? true else { return nil }
    return environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
  }
}
