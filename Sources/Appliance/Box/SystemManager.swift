import CLinux
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
    var output: Int32 = -1
    let arguments: [String] = [path, "--no-ask-password", "reboot"]
    var pointers = arguments.map { unsafe strdup($0) } + [nil]
    defer { for pointer in pointers { unsafe free(pointer) } }
    let child = unsafe linux_spawn(path, &pointers, &output)
    guard child > 0 else { throw VerbFailure(.unavailable, "\(path): \(unsafe String(cString: strerror(errno)))") }
    let status = linux_reap(child)
    var text = [UInt8](repeating: 0, count: 512)
    let count = unsafe read(output, &text, text.count)
    close(output)
    guard status == 0 else {
      let line = String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").first ?? "it says nothing"
      throw VerbFailure(.notPermitted, "\(name) reboot failed: \(line)")
    }
  }
}
