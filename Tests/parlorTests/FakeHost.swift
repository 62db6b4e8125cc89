import Foundation
import Synchronization

@testable import Appliance

/// A system below a folder, whose programs are scripts that write down how they were called.
final class FakeHost: Sendable {
  let root: String
  let host: HostSystem

  init() async throws {
    root = NSTemporaryDirectory() + "parlor-host-\(UUID().uuidString.prefix(8))"
    host = HostSystem(root: root, asker: Asker(user: "operator"))
    for folder in ["/run/systemd/system", "/run/parlor", "/run/parlor-update", Provision.inbox, UpdateRequest.folder, "/etc"] {
      try FileManager.default.createDirectory(atPath: root + folder, withIntermediateDirectories: true)
    }
    try await program("systemctl", "case \"$*\" in *is-active*) cat \(root)/active 2>/dev/null || echo inactive ;; esac")
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  /// Puts a shell script at `/usr/bin/NAME`. Another process writes it: this one's children would hold it open, and what is open for writing cannot be run.
  func program(_ name: String, _ body: String) async throws {
    let (folder, text) = ("\(root)/usr/bin", "#!/bin/sh\necho \"\(name) $*\" >> \(root)/calls\n\(body)\n")
    let script = "mkdir -p \(folder) && cat > \(folder)/.new && chmod 755 \(folder)/.new && mv \(folder)/.new \(folder)/\(name)"
    _ = try await Program.run("/bin/sh", ["-c", script], input: text)
  }

  func write(_ text: String, to path: String) throws {
    let url = URL(fileURLWithPath: root + path)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  func read(_ path: String) -> String { (try? String(contentsOfFile: root + path, encoding: .utf8)) ?? "" }

  /// How programs were called so far, one call a line.
  var calls: [String] { read("/calls").split(separator: "\n").map(String.init) }

  /// Sets the box up by the real `parlor provision`, and has `systemctl start parlor-apply.service` do the same with the inbox.
  func setUp(_ files: [String: String]) async throws {
    for (name, text) in files { try write(text, to: "/first/\(name)") }
    let provision = "\(RunningBox.program) provision --root \(root) --from"
    try await program(
      "systemctl",
      "case \"$*\" in *is-active*) cat \(root)/active 2>/dev/null || echo inactive ;; *\" start parlor-apply.service\"*) \(provision) \(root)\(Provision.inbox) 2>/dev/null; [ $? -eq 0 -o $? -eq 78 ] ;; esac"
    )
    _ = try await Program.run(RunningBox.program, ["provision", "--root", root, "--from", root + "/first"])
  }
}

/// Runs something that waits for programs, away from the threads of tests, and returns how it failed; nil when it did not.
func failure(_ body: @escaping @Sendable () throws(VerbFailure) -> Void) async -> VerbFailure? {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      do throws(VerbFailure) {
        try body()
        continuation.resume(returning: nil)
      } catch { continuation.resume(returning: error) }
    }
  }
}

/// The same for what is to succeed with an exit code.
func code(_ body: @escaping @Sendable () throws(VerbFailure) -> ExitCode) async throws -> ExitCode {
  let result: Result<ExitCode, VerbFailure> = await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      do throws(VerbFailure) { continuation.resume(returning: .success(try body())) } catch {
        continuation.resume(returning: .failure(error))
      }
    }
  }
  return try result.get()
}

/// What a verb wrote.
final class Sink: Sendable {
  private let bytes = Mutex<[UInt8]>([])
  func take(_ more: [UInt8]) -> Bool {
    bytes.withLock { $0 += more }
    return true
  }
  var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
  var data: Data { Data(bytes.withLock { $0 }) }
}
