import CLinux
import Glibc

/// A program of the system that a verb runs to its end. It has nothing to read.
enum ChildProcess {
  /// What a program wrote to both of its outputs, and how it ended.
  struct Result: Equatable {
    /// The exit code; 256 and the signal's number where one ended it.
    var code: Int32
    var output: [UInt8]

    /// What it wrote, as a text.
    var text: String { String(decoding: output, as: UTF8.self) }
    /// Its last words, for a message.
    var lastLine: String { text.split(whereSeparator: \.isNewline).last.map(String.init) ?? "it ended with \(code)" }
  }

  /// Runs the program at `path` and collects what it writes, at most `limit` bytes.
  static func run(_ path: String, _ arguments: [String], limit: Int = 64 << 20) throws(VerbFailure) -> Result {
    var output: [UInt8] = []
    let code = try run(path, arguments) { bytes in
      output += bytes.prefix(limit - output.count)
      return true
    }
    return Result(code: code, output: output)
  }

  /// Runs the program at `path` and hands over what it writes as it comes. The program is ended when `take` returns false, or when nobody is at the other end of
  /// the descriptor `reader` any more. Returns the exit code; 256 and the signal's number where one ended it.
  static func run(_ path: String, _ arguments: [String], reader: Int32? = nil, take: ([UInt8]) -> Bool) throws(VerbFailure) -> Int32 {
    guard access(path, X_OK) == 0 else { throw VerbFailure(.unavailable, "\(path) is not there") }
    var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    defer { for word in unsafe words { unsafe free(word) } }
    var output: Int32 = -1
    let process = unsafe linux_spawn(path, &words, &output)
    guard process > 0 else { throw VerbFailure(.unavailable, "\(path) cannot be started: \(unsafe String(cString: strerror(errno)))") }
    defer { close(output) }
    var isWanted = true
    while isWanted, wait(for: output, reader: reader) {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      if count <= 0 { return linux_reap(process) }
      isWanted = take(Array(buffer[..<count]))
    }
    kill(process, SIGTERM)
    return linux_reap(process)
  }

  /// Waits until there is something to read; false when nobody wants it any more.
  private static func wait(for output: Int32, reader: Int32?) -> Bool {
    // Of the reader's end only errors and hang-ups are told, which nobody needs to ask for.
    var watched = [pollfd(fd: output, events: Int16(POLLIN), revents: 0), pollfd(fd: reader ?? -1, events: 0, revents: 0)]
    while unsafe poll(&watched, 2, -1) < 0 { if errno != EINTR { return true } }
    return watched[1].revents == 0
  }
}
