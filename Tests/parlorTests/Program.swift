import Dispatch
import Foundation
import Glibc

/// A program that a test runs. It inherits no descriptor of the tests but its own three, which are files.
final class Program: Sendable {
  /// What a program wrote, and how it ended.
  struct Result: Sendable {
    /// The exit code; 256 and the signal's number where one ended it.
    var code: Int32
    var output: String
    var errors: String
  }

  private let number: pid_t
  private let folder: String

  /// Starts a program, with `input` to read.
  init(_ path: String, _ arguments: [String], input: String = "", environment: [String: String] = [:]) throws {
    folder = NSTemporaryDirectory() + "parlor-program-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(input.utf8).write(to: URL(fileURLWithPath: folder + "/input"))
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawn_file_actions_addopen(&actions, 0, folder + "/input", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 1, folder + "/output", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, folder + "/errors", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    for descriptor: Int32 in 3..<256 { unsafe posix_spawn_file_actions_addclose(&actions, descriptor) }
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    var settings = unsafe variables.map { unsafe strdup("\($0)=\($1)") } + [nil]
    var process: pid_t = 0
    let failure = unsafe posix_spawn(&process, path, &actions, nil, &words, &settings)
    for text in unsafe words + settings { unsafe free(text) }
    unsafe posix_spawn_file_actions_destroy(&actions)
    guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EINVAL) }
    number = process
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// What it has written to the standard output, and to the standard error, so far.
  var output: String { text("output") }
  var errors: String { text("errors") }

  private func text(_ name: String) -> String {
    String(decoding: (try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))) ?? Data(), as: UTF8.self)
  }

  /// Asks it to end.
  func terminate() { kill(number, SIGTERM) }

  /// Waits until it has ended; once. Whoever waits leaves the thread to other tests.
  func end() async -> Result {
    let code = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [number] in
        var status: Int32 = 0
        while unsafe waitpid(number, &status, 0) < 0, errno == EINTR {}
        continuation.resume(returning: status & 0x7F == 0 ? (status >> 8) & 0xFF : 256 + status & 0x7F)
      }
    }
    return Result(code: code, output: output, errors: errors)
  }

  /// Runs a program to its end.
  @discardableResult
  static func run(_ path: String, _ arguments: [String], input: String = "", environment: [String: String] = [:]) async throws -> Result {
    try await Program(path, arguments, input: input, environment: environment).end()
  }
}
