import FoundationEssentials
import Glibc

/// systemd, asked by its own program; polkit decides whether this user may.
enum SystemManager {
  /// Restarts the machine. Returns as soon as that has begun.
  static func reboot(environment: [String: String] = ProcessInfo.processInfo.environment) throws(VerbFailure) {
    let name = "systemctl"
    let folders = (environment["PATH"] ?? "").split(separator: ":")
    let candidates = folders.map { "\($0)/\(name)" }
    guard let path = candidates.first(where: { access($0, X_OK) == 0 }) else {
      throw VerbFailure(.unavailable, "\(name) is not there: only a machine with systemd restarts itself")
    }
    let result = try ChildProcess.run(path, ["--no-ask-password", "reboot"])
    guard result.code == 0 else { throw VerbFailure(.notPermitted, "\(name) reboot failed: \(result.lastLine)") }
  }
}
