import Base
import FoundationEssentials
import Glibc

/// Takes a site's files over: tries them, puts them into use if they are right, and says what came of it.
struct Provisioner {
  /// What `provision` did.
  struct Step: Sendable, Equatable {
    /// How it ended; nil: nothing new was there.
    var outcome: ProvisioningOutcome?
    /// Whether the box now runs with other files.
    var isChanged = false
  }

  let store: ProvisioningStore
  let machine: Machine
  let now: Date

  /// Takes `files` over, unless they cannot be used: then the box goes on with what it has.
  func apply(_ files: ConfigurationSet, from source: ProvisioningOutcome.Source) throws(ProvisioningFailure) -> Step {
    let current = store.current
    return try ProvisioningFailure.catching {
      try store.prepare()
      let complete: ConfigurationSet
      do throws(ConfigurationError) { complete = try files.fillingIn(from: current) } catch {
        return try refuse(error.problems, [], source)
      }
      let path = try store.stage(complete)
      let check = check(complete, at: path)
      guard let configuration = check.configuration, check.failures.isEmpty else {
        store.prune()
        return try refuse(check.problems, check.failures, source)
      }
      let outcome = ProvisioningOutcome(result: .applied, source: source, time: now, problems: check.problems)
      // Grants first: what may be captured is never without its record, whether the power goes before or behind the next line.
      let former = store.grants
      let grants = RecordedGrant.record(configuration.grants, former: former, time: now, source: source)
      try store.save(RecordedGrant.union(grants, former))
      try store.use(path)
      try store.save(grants)
      try store.save(outcome)
      store.prune()
      return Step(outcome: outcome, isChanged: complete != current)
    }
  }

  /// Ends what a power cut interrupted: the record of grants becomes that of the files in use.
  func settle() throws(ProvisioningFailure) {
    guard let current = store.current, let configuration = try? Configuration(current.text, file: store.configurationFile, machine: machine)
    else { return }
    let former = store.grants
    let grants = RecordedGrant.record(configuration.grants, former: former, time: now, source: store.outcome?.source ?? .partition)
    if grants != former { try ProvisioningFailure.catching { try store.save(grants) } }
  }

  /// Files cannot be taken over, for a reason that is not in them.
  func refuse(_ reason: String, _ source: ProvisioningOutcome.Source) throws(ProvisioningFailure) -> Step {
    try ProvisioningFailure.catching { try store.prepare() }
    return try refuse([], [reason], source)
  }

  private func refuse(
    _ problems: [ConfigurationProblem], _ failures: [String], _ source: ProvisioningOutcome.Source
  ) throws(ProvisioningFailure) -> Step {
    let outcome = ProvisioningOutcome(result: .refused, source: source, time: now, problems: problems, failures: failures)
    try ProvisioningFailure.catching { try store.save(outcome) }
    return Step(outcome: outcome)
  }

  /// What can be said of staged files.
  private func check(
    _ set: ConfigurationSet, at path: String
  ) -> (configuration: Configuration?, problems: [ConfigurationProblem], failures: [String]) {
    let prefix = path + "/"
    func named(_ problems: [ConfigurationProblem]) -> [ConfigurationProblem] {
      problems.map { problem in
        var problem = problem
        if problem.file.hasPrefix(prefix) { problem.file.removeFirst(prefix.count) }
        problem.message = problem.message.split(separator: prefix, omittingEmptySubsequences: false).joined()
        return problem
      }
    }
    let configuration: Configuration
    do throws(ConfigurationError) {
      configuration = try Configuration(set.text, file: prefix + ConfigurationSet.mainFile, machine: machine)
    } catch {
      return (nil, named(error.problems), [])
    }
    var failures: [String] = []
    if let text = try? ConfigurationText(set.text, file: ConfigurationSet.mainFile) {
      for file in text.files where !file.path.hasPrefix("/") && set.files[file.path] == nil {
        failures.append("\(ConfigurationSet.mainFile): \(file.key): the file \(file.path) is not there")
      }
    }
    failures += AuthorizedKeys(set.files[ConfigurationSet.keysFile] ?? []).failures.map { "\(ConfigurationSet.keysFile): \($0)" }
    if let bytes = set.files[ConfigurationSet.wifiFile], let failure = NetworkProfile.failure(ofCompanion: bytes) {
      failures.append("\(ConfigurationSet.wifiFile): \(failure)")
    }
    return (configuration, named(configuration.warnings), failures)
  }

  /// Brings the PARLOR partition, mounted at `folder`, and the box together: what is new there is taken over; what the box runs with stands there in the end, without secrets.
  func synchronize(partition folder: String) throws(ProvisioningFailure) -> Step {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where ConfigurationSet.isSalvaged(name) {
      unlink("\(folder)/\(name)")
    }
    var files: ConfigurationSet?
    do throws(ConfigurationSet.Failure) { files = try ConfigurationSet.read(folder) } catch {
      return try refuse(error.description, .partition)
    }
    let seen = store.seen
    let shown = try? seen?.withoutSecrets()
    if store.isMirroring, let new = try? store.current?.withoutSecrets() { files = files?.completing(new, over: shown) }
    var step = Step()
    if let files {
      let complete = try? files.fillingIn(from: store.current)
      let isNew = complete == nil || (complete != seen && files != shown)
      let hasFailed = store.outcome?.result == .refused
      if isNew || (hasFailed && store.outcome?.source == .partition) {
        step = try apply(files, from: .partition)
        if step.outcome?.result == .refused, let complete { try remember(complete) }
      }
    } else if store.current == nil {
      return step
    }
    if step.outcome?.result != .refused { try mirror(to: folder) }
    return step
  }

  /// Writes what the box runs with to the partition, secrets left out, where it differs; and remembers it as what is there.
  func mirror(to folder: String) throws(ProvisioningFailure) {
    try ProvisioningFailure.catching {
      guard let current = store.current else { return }
      let shown = try current.withoutSecrets()
      let main = ConfigurationSet.mainFile
      let different = shown.files.filter { FileManager.default.contents(atPath: "\(folder)/\($0.key)").map(Array.init) != $0.value }
      if !different.isEmpty { try store.setMirroring(true) }
      if let there = try? ConfigurationSet.read(folder), let text = there.files[main], !text.isEmpty, text != shown.text,
        (try? there.fillingIn(from: current).text) != current.text
      {
        // It said something else: nobody's work is lost.
        try StoredFile.write(text, to: "\(folder)/\(main).before", mode: 0o644)
      }
      for (name, bytes) in different {
        if let slash = name.lastIndex(of: "/") { try StoredFile.makeFolder("\(folder)/\(name[..<slash])", mode: 0o755) }
        try StoredFile.write(bytes, to: "\(folder)/\(name)", mode: 0o644)
      }
      // What was interrupted leaves drafts.
      for name in [String](shown.files.keys) + ["\(main).before", ConfigurationSet.reportFile] {
        try StoredFile.remove("\(folder)/\(name)\(StoredFile.draftEnding)")
      }
      if let now = try ConfigurationSet.read(folder) { try remember(now.fillingIn(from: current)) }
      if store.isMirroring { try store.setMirroring(false) }
    }
  }

  private func remember(_ set: ConfigurationSet) throws(ProvisioningFailure) {
    try ProvisioningFailure.catching { try store.see(set) }
    store.prune()
  }
}

/// Why provisioning itself could not be done.
struct ProvisioningFailure: Error, Equatable, CustomStringConvertible {
  /// One sentence for a person.
  let description: String

  /// Does something whose errors say in their descriptions what went wrong.
  static func catching<Result>(_ body: () throws -> Result) throws(ProvisioningFailure) -> Result {
    do { return try body() } catch { throw ProvisioningFailure(description: "\(error)") }
  }
}
