import Base

/// A program of the system, run for what it does.
enum SystemCommand {
  /// Runs the program at `path` to its end, which is true when all went well. Why it did not is logged.
  @discardableResult static func run(_ path: String, _ arguments: [String]) -> Bool {
    let command = ([path] + arguments).joined(separator: " ")
    do throws(VerbFailure) {
      let result = try ChildProcess.run(path, arguments, limit: 4_096)
      if result.code != 0 { Log.info("\(command): \(result.lastLine)") }
      return result.code == 0
    } catch {
      Log.warning("\(command): \(error)")
      return false
    }
  }
}
