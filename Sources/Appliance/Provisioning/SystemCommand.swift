import Base
import Glibc

/// A program of the system, run for what it does.
enum SystemCommand {
  /// Runs the program at `path` to its end. What it says goes where ours does; that it failed is logged.
  static func run(_ path: String, _ arguments: String...) {
    guard access(path, X_OK) == 0 else { return Log.warning("\(path) is not there") }
    var pointers = ([path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { for pointer in unsafe pointers { unsafe free(pointer) } }
    var process: pid_t = 0
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    guard unsafe posix_spawn(&process, path, nil, nil, &pointers, &environment) == 0 else {
      return Log.warning("\(path) cannot be started")
    }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    if status != 0 { Log.warning("\(([path] + arguments).joined(separator: " ")) failed") }
  }
}
