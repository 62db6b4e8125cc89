import FoundationEssentials
import Glibc

/// The program that runs a page: `parlor-page`, an executable of its own so that nothing else loads a web engine.
enum PageProgram {
  /// The executable's name.
  static let name = "parlor-page"

  /// Where it is: what `PARLOR_PAGE` says, else beside this program, else on `PATH`; nil when it is nowhere.
  static func path(environment: [String: String] = ProcessInfo.processInfo.environment, executable: String? = own) -> String? {
    if let path = environment["PARLOR_PAGE"], !path.isEmpty { return access(path, X_OK) == 0 ? path : nil }
    let beside = executable.flatMap { $0.lastIndex(of: "/") }.map { executable![...$0] + name }
    let folders = (environment["PATH"] ?? "").split(separator: ":")
    return ([beside].compactMap { $0.map(String.init) } + folders.map { "\($0)/\(name)" }).first { access($0, X_OK) == 0 }
  }

  /// What to do when it is nowhere.
  static let absence = "\(name) is not there; `make build` makes it, and PARLOR_PAGE names it where it is elsewhere"

  /// Whether systemd started this process as a unit, and so the page program as another.
  static func isManagedElsewhere(environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
    environment["SYSTEMD_EXEC_PID"] == "\(getpid())"
  }

  private static var own: String? { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") }
}
