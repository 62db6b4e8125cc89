import Base
import CLinux
import FoundationEssentials
import Glibc

/// `parlor provision`: sets the box up with a site's files. Runs as root, once at each start before the network, and when an operator brings other files.
public struct Provision {
  /// Where operators' files wait.
  public static let inbox = "/var/lib/parlor-operator/inbox"

  private let root: String
  private let store: ProvisioningStore
  private let machine: Machine
  private var provisioner: Provisioner { Provisioner(store: store, machine: machine, now: Date()) }

  /// The machine whose files lie below `root`; empty for this one. Only on this one is anything else told that files have changed.
  public init(root: String = "", machine: Machine = .current) {
    (self.root, self.machine) = (root, machine)
    store = ProvisioningStore(folder: root + ProvisioningStore.defaultFolder)
  }

  /// Takes over what is new on the PARLOR partition and on USB sticks, or the files in `folder`; then writes what the rest of the system reads.
  public func run(from folder: String?) throws(VerbFailure) -> ExitCode {
    do throws(ProvisioningFailure) {
      try ProvisioningFailure.catching { try store.prepare() }
      try provisioner.settle()
      let steps = if let folder { try take(from: folder) } else { try synchronize() }
      if folder == nil, !steps.contains(where: { $0.outcome != nil }) { forgetOthersRefusal() }
      let changed = try writeSystemFiles()
      tell(changed, isStart: folder == nil, isNews: steps.contains { $0.outcome != nil })
      for outcome in steps.compactMap(\.outcome) { say(outcome) }
      return steps.contains { $0.outcome?.result == .refused } ? .badConfiguration : .ok
    } catch {
      throw VerbFailure(.unavailable, error.description)
    }
  }

  // MARK: Where files come from

  private func take(from folder: String) throws(ProvisioningFailure) -> [Provisioner.Step] {
    let source: ProvisioningOutcome.Source = folder == root + Provision.inbox ? .operator : .folder
    let files: ConfigurationSet?
    do throws(ConfigurationSet.Failure) { files = try ConfigurationSet.read(folder) } catch {
      return [try provisioner.refuse(error.description, source)]
    }
    guard let files else { return [try provisioner.refuse("\(folder) holds no \(ConfigurationSet.mainFile)", source)] }
    let step = try provisioner.apply(files, from: source)
    if step.outcome?.result == .applied { withPartition { folder throws(ProvisioningFailure) in try provisioner.mirror(to: folder) } }
    return [step]
  }

  private func synchronize() throws(ProvisioningFailure) -> [Provisioner.Step] {
    var steps: [Provisioner.Step] = []
    withPartition { folder throws(ProvisioningFailure) in
      let hadFormer = store.current != nil
      let step = try provisioner.synchronize(partition: folder)
      report(step, to: "\(folder)/\(ConfigurationSet.reportFile)", hadFormer: hadFormer)
      steps.append(step)
    }
    for stick in media where !stick.isPartition {
      with(stick) { folder throws(ProvisioningFailure) in
        guard let step = try take(fromStick: folder) else { return }
        steps.append(step)
      }
    }
    if steps.contains(where: { $0.outcome?.source == .stick && $0.isChanged }) {
      withPartition { folder throws(ProvisioningFailure) in try provisioner.mirror(to: folder) }
    }
    return steps
  }

  /// Takes over what is on a stick, if this box takes it from there. The stick keeps its secrets: it may be for the next box too.
  func take(fromStick folder: String) throws(ProvisioningFailure) -> Provisioner.Step? {
    let current = store.current
    let files: ConfigurationSet?
    do throws(ConfigurationSet.Failure) { files = try ConfigurationSet.read(folder) } catch { return nil }
    guard let files else { return nil }
    guard ProvisioningKey.admits(files, to: current) else {
      Log.warning("a USB stick with a \(ConfigurationSet.mainFile) was left alone: it does not hold this box's \(ProvisioningKey.file)")
      return nil
    }
    // The stick may stay plugged in for many starts.
    if files == current { return nil }
    let step = try provisioner.apply(files, from: .stick)
    let name = machine.hardwareAddress.map { "parlor-report-\($0).txt" } ?? ConfigurationSet.reportFile
    report(step, to: "\(folder)/\(name)", hadFormer: current != nil)
    return step
  }

  /// What another source brought and was wrong is over with the next start.
  private func forgetOthersRefusal() {
    guard let outcome = store.outcome, outcome.result == .refused, outcome.source != .partition else { return }
    unlink("\(store.folder)/outcome.json")
  }

  private var media: [ProvisioningMedium] { root.isEmpty ? ProvisioningMedium.all(state: store.folder) : [] }

  private func withPartition(_ body: (String) throws(ProvisioningFailure) -> Void) {
    if !root.isEmpty {
      let folder = root + SystemFiles.folder + "/partition"
      if access(folder, F_OK) == 0 { attempt { () throws(ProvisioningFailure) in try body(folder) } }
    } else if let partition = media.first(where: \.isPartition) {
      with(partition, body)
    } else {
      Log.warning("there is no partition labelled \(ProvisioningMedium.label) on this disk")
    }
  }

  private func with(_ medium: ProvisioningMedium, _ body: (String) throws(ProvisioningFailure) -> Void) {
    attempt { () throws(ProvisioningFailure) in
      try medium.withFolder(SystemFiles.folder + (medium.isPartition ? "/partition" : "/stick"), isWritable: true, body)
    }
  }

  /// A medium that cannot be read or written is no reason to leave the box without network.
  private func attempt(_ body: () throws(ProvisioningFailure) -> Void) {
    do throws(ProvisioningFailure) { try body() } catch { Log.error(error.description) }
  }

  // MARK: What came of it

  private func report(_ step: Provisioner.Step, to path: String, hadFormer: Bool) {
    guard let outcome = step.outcome else { return }
    let configuration = try? Configuration.load(path: store.configurationFile, machine: machine)
    let report = ProvisioningReport(
      outcome: outcome, name: configuration?.identity.name, hardwareAddress: machine.hardwareAddress,
      isClockSet: linux_clock_is_synchronised(),
      hasFormer: hadFormer, hostKey: hostKey)
    do { try StoredFile.write(Array(report.text.utf8), to: path, mode: 0o644) } catch {
      Log.warning("the report could not be written: \(error)")
    }
  }

  private var hostKey: String? {
    guard let data = FileManager.default.contents(atPath: "\(root)/var/lib/parlor-system/ssh/ssh_host_ed25519_key.pub") else { return nil }
    return String(decoding: data, as: UTF8.self).split(separator: " ").prefix(2).joined(separator: " ")
  }

  private func say(_ outcome: ProvisioningOutcome) {
    let isApplied = outcome.result == .applied
    let text =
      isApplied
      ? "the files from \(outcome.source) are applied" : "the files from \(outcome.source) are not applied; the box goes on as before"
    if isApplied { Log.notice(text) } else { Log.error(text) }
    for problem in outcome.problems { if problem.severity == .error { Log.error("\(problem)") } else { Log.warning("\(problem)") } }
    for failure in outcome.failures { Log.error(failure) }
  }

  // MARK: The rest of the system

  /// Writes what the system reads of the configuration in use; returns who has to read it anew.
  private func writeSystemFiles() throws(ProvisioningFailure) -> Set<SystemFiles.Reader> {
    try ProvisioningFailure.catching {
      let set = store.current ?? ConfigurationSet(files: [:])
      let configuration = set.files.isEmpty ? Configuration() : try Configuration.load(path: store.configurationFile, machine: machine)
      return try SystemWriter(root: root).write(SystemFiles(configuration, set))
    }
  }

  private func tell(_ readers: Set<SystemFiles.Reader>, isStart: Bool, isNews: Bool) {
    guard root.isEmpty else { return }
    // At a start everybody else begins later, except for the box's picture.
    if isStart {
      if isNews { SystemCommand.run("/usr/bin/systemctl", ["--no-block", "try-restart", "parlor.service"]) }
      return
    }
    if readers.contains(.network) {
      // A connection that is up keeps what it came up with.
      for words in [["connection", "reload"], ["networking", "off"], ["networking", "on"]] { SystemCommand.run("/usr/bin/nmcli", words) }
      unlink(ConnectionTrouble.file)
      SystemCommand.run("/usr/bin/systemctl", ["restart", "parlor-connections.timer"])
    }
    if readers.contains(.time) { SystemCommand.run("/usr/bin/systemctl", ["try-restart", "systemd-timesyncd.service"]) }
    if readers.contains(.logs) {
      let units = ["systemd-journald.service", "parlor-syslog.service", "systemd-journal-upload.service"]
      SystemCommand.run("/usr/bin/systemctl", ["--no-block", "restart"] + units)
    }
    if isNews { SystemCommand.run("/usr/bin/systemctl", ["--no-block", "try-restart", "parlor.service"]) }
  }
}
