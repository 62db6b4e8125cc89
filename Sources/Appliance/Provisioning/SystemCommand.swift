import Base
import Glibc

/// A program of the system, run for what it does.
enum SystemCommand {
  /// Runs the program at `path` to its end, which is true when all went well. What it says goes where ours does; that it failed is logged.
  @discardableResult static func run(_ path: String, _ arguments: String...) -> Bool { run(path, arguments) }

  /// The same with arguments in a list.
  @discardableResult static func run(_ path: String, _ arguments: [String]) -> Bool {
    guard access(path, X_OK) == 0 else {
      Log.warning("\(path) is not there")
      return false
    }
    var pointers = ([path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { for pointer in unsafe pointers { unsafe free(pointer) } }
    var process: pid_t = 0
    var environment: [UnsafeMutablePointer<CChar>?] = [unsafe strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"), nil]
    defer { unsafe free(environment[0]) }
    guard unsafe posix_spawn(&process, path, nil, nil, &pointers, &environment) == 0 else {
      Log.warning("\(path) cannot be started")
      return false
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    if status != 0 { Log.info("\(([path] + arguments).joined(separator: " ")) ended with \(status >> 8)") }
    return status == 0
  }
}
