import Foundation
import Glibc
import Testing

/// A real sshd on the loopback, with the box's configuration, that lets this process's user in by a key and has `parlor-shell` for a shell.
final class SSHServer {
  private let folder: String
  private let program: Program
  private let port: UInt16

  /// Starts it; `environment` is set in every session, as `NAME=VALUE`.
  init(environment: String) async throws {
    folder = NSTemporaryDirectory() + "parlor-ssh-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for name in ["host", "anna"] {
      try await Program.run("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "\(name)@example", "-f", "\(folder)/\(name)"])
    }
    try FileManager.default.createSymbolicLink(atPath: folder + "/parlor-shell", withDestinationPath: RunningBox.program)
    port = SSHServer.freePort()
    let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL.path
    // The first value counts: what stands here instead of the box's own is where files are, and who logs in.
    let configuration = """
      ListenAddress 127.0.0.1
      Port \(port)
      HostKey \(folder)/host
      PidFile none
      AuthorizedKeysFile \(folder)/anna.pub
      StrictModes no
      PermitRootLogin prohibit-password
      AllowUsers \(NSUserName())
      SetEnv \(environment)
      ForceCommand if [ -n "$SSH_ORIGINAL_COMMAND" ]; then exec \(folder)/parlor-shell -c "$SSH_ORIGINAL_COMMAND"; else exec \(folder)/parlor-shell; fi
      Include \(project)/Config/ssh/sshd_config
      Subsystem sftp /usr/lib/openssh/sftp-server
      """
    try Data((configuration + "\n").utf8).write(to: URL(fileURLWithPath: folder + "/sshd_config"))
    if getuid() == 0 { try FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true) }
    program = try Program("/usr/sbin/sshd", ["-D", "-e", "-f", folder + "/sshd_config"])
    for _ in 0..<600 where !program.errors.contains("Server listening") { try await Task.sleep(for: .milliseconds(50)) }
    #expect(program.errors.contains("Server listening"), "\(program.errors)")
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Ends it.
  func stop() async {
    program.terminate()
    _ = await program.end()
  }

  /// The fingerprint of the key that is let in.
  func fingerprint() async throws -> String {
    let line = try await Program.run("/usr/bin/ssh-keygen", ["-l", "-f", folder + "/anna.pub"]).output
    return String(line.split(separator: " ")[1])
  }

  /// Runs a line as `ssh` does; without one there is a prompt, on a terminal or not.
  func ssh(_ line: String?, options: [String] = [], input: String = "") async throws -> Program.Result {
    try await Program.run("/usr/bin/ssh", common("-p") + options + ["127.0.0.1"] + (line.map { [$0] } ?? []), input: input)
  }

  /// Runs `sftp` or `scp`.
  func transfer(_ program: String, _ arguments: [String], input: String = "") async throws -> Program.Result {
    try await Program.run("/usr/bin/\(program)", common("-P") + arguments, input: input)
  }

  private func common(_ portOption: String) -> [String] {
    [
      portOption, "\(port)", "-F", "none", "-i", folder + "/anna", "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-o",
      "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
    ]
  }

  private static func freePort() -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = unsafe bind(descriptor, $0, length)
        _ = unsafe getsockname(descriptor, $0, &length)
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }
}
