import FoundationEssentials
import Glibc

/// The system around the box, as operators' verbs use it: its service manager, its log, its files.
///
/// What needs more rights than an operator has is done by units that systemd starts; `Config/polkit/50-parlor.rules` says which.
public struct HostSystem: Sendable {
  /// A unit that a verb starts.
  enum Unit: String, Sendable, CaseIterable {
    /// Applies what lies in the inbox.
    case apply = "parlor-apply.service"
    /// Installs an update.
    case update = "parlor-update.service"
    /// Erases what the box knows, with the next start.
    case factoryReset = "parlor-factory-reset.service"
    /// The box itself.
    case app = "parlor.service"
    /// The machine.
    case reboot = "reboot.target"
  }

  /// The folder that stands for `/`; empty on the machine itself.
  let root: String
  /// On whose behalf.
  let asker: Asker

  /// The system below `root`, on behalf of `asker`.
  public init(root: String = "", asker: Asker) { (self.root, self.asker) = (root, asker) }

  /// A path of this system as this process opens it.
  func path(_ path: String) -> String { root + path }

  /// What is in a file; nil when it cannot be read.
  func contents(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: self.path(path)).map(Array.init) }

  // MARK: The service manager

  /// Throws when no systemd runs here: on a developer's machine, or in a container.
  func requireServiceManager() throws(VerbFailure) {
    guard access(path("/run/systemd/system"), F_OK) == 0 else {
      throw VerbFailure(.unavailable, "there is no systemd here, so nobody restarts or changes the box; on a box there is")
    }
  }

  /// Starts a unit; a `oneshot` has ended by then, unless `waits` is false.
  func start(_ unit: Unit, waits: Bool = true) throws(VerbFailure) { try order(["start"] + (waits ? [] : ["--no-block"]), unit) }

  /// Ends a unit and starts it.
  func restart(_ unit: Unit) throws(VerbFailure) { try order(["restart"], unit) }

  /// Whether a unit runs, or is about to.
  func isActive(_ unit: Unit) throws(VerbFailure) -> Bool {
    let state = try ChildProcess.run(path("/usr/bin/systemctl"), ["is-active", unit.rawValue]).text
    return ["active", "activating", "reloading", "deactivating"].contains { state.hasPrefix($0) }
  }

  /// Starts the machine anew. Nothing that is under way stops it.
  func reboot() throws(VerbFailure) {
    try requireServiceManager()
    try order(["start", "--no-block", "--job-mode=replace-irreversibly"], .reboot)
  }

  private func order(_ words: [String], _ unit: Unit) throws(VerbFailure) {
    try requireServiceManager()
    let result = try ChildProcess.run(path("/usr/bin/systemctl"), ["--no-ask-password"] + words + [unit.rawValue])
    if result.code == 0 { return }
    let isRefused = ["Access denied", "authentication required", "not permitted"].contains { result.text.contains($0) }
    throw VerbFailure(isRefused ? .notPermitted : .unavailable, "\(unit.rawValue): \(result.lastLine)")
  }

  // MARK: The log

  /// Writes down what the asker had done, for what no `parlor run` writes down itself.
  func note(_ deed: String) {
    let text = "\(asker) \(deed)"
    unsafe openlog("parlor", LOG_PID, LOG_DAEMON)
    unsafe withVaList([]) {
      unsafe vsyslog(LOG_NOTICE, text.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%"), $0)
    }
    closelog()
  }
}
