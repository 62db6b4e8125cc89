import FoundationEssentials
import Glibc

/// What operators read and change of the configuration.
extension HostSystem {
  private var store: ProvisioningStore { ProvisioningStore(folder: path(ProvisioningStore.defaultFolder)) }

  /// How the last attempt to set the box up ended.
  var provisioningOutcome: ProvisioningOutcome? { store.outcome }

  /// What the box runs with; nil when it was never set up. Throws when this user may not see it.
  func setInUse() throws(VerbFailure) -> ConfigurationSet? {
    if let set = store.current { return set }
    // Whoever may not look must not take it for a box that was never set up.
    if access(store.configurationFile, R_OK) != 0, errno == ENOENT { return nil }
    throw VerbFailure(.notPermitted, "\(store.configurationFile): this user may not read it")
  }

  /// A configuration file somewhere else, with the secret files that it names.
  func filesInUse(_ file: String) throws(VerbFailure) -> ConfigurationSet {
    guard let bytes = FileManager.default.contents(atPath: file) else { throw VerbFailure(.badConfiguration, "\(file) cannot be read") }
    var set = ConfigurationSet(files: [ConfigurationSet.mainFile: Array(bytes)])
    let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
    for named in (try? ConfigurationText(set.text, file: file))?.files ?? [] where named.isSecret {
      set.files[named.path] = FileManager.default.contents(atPath: named.path.hasPrefix("/") ? named.path : folder + named.path).map(
        Array.init)
    }
    return set
  }

  private func current() throws(VerbFailure) -> ConfigurationSet {
    guard let set = try setInUse() else { throw VerbFailure(.unavailable, "the box was never set up; config apply does it") }
    return set
  }

  // MARK: Reading

  /// `parlor config get`: the file as it is, or the value of one key; marks stand in the place of secrets.
  public func configurationGet(_ key: String?, isJSON: Bool, output: Verbs.Output) throws(VerbFailure) {
    let shown: ConfigurationText
    do {
      shown = try ConfigurationText(current().withoutSecrets().text, file: ConfigurationSet.mainFile)
    } catch let failure as VerbFailure { throw failure } catch { throw VerbFailure(.badConfiguration, "\(error)") }
    guard let key else {
      _ = output(isJSON ? try HostSystem.text(shown.values) : shown.bytes)
      return
    }
    let value: JSON?
    do throws(ConfigurationText.EditFailure) { value = try shown.value(of: key) } catch { throw VerbFailure(.usage, "\(error)") }
    guard let value else {
      guard let description = ConfigurationDescription.key(key) else { throw HostSystem.unknown(key) }
      let otherwise = description.standard.map { "\($0) holds" } ?? description.otherwise ?? "nothing holds"
      throw VerbFailure(.unavailable, "\(key) is not in the file; without it, \(otherwise)")
    }
    switch value {
    case .string(let text) where !isJSON: _ = output(Array((text + "\n").utf8))
    default: _ = output(try HostSystem.text(value))
    }
  }

  private static func text(_ value: JSON) throws(VerbFailure) -> [UInt8] {
    do { return try JSON.text(value, isPretty: true) + [10] } catch {
      throw VerbFailure(.internalError, "the value cannot be written: \(error)")
    }
  }

  private static func unknown(_ key: String) -> VerbFailure {
    let names = ConfigurationDescription.tables.flatMap { table in table.keys.map { "\(table.path).\($0.name)" } }
    let nearest = NearestName.find(ConfigurationDescription.path(of: key), among: names).map { "; did you mean \($0)?" } ?? ""
    return VerbFailure(.usage, "there is no key \(key)\(nearest)")
  }

  // MARK: Changing

  /// `parlor config set`: changes one key of what the box runs with, comments kept, and applies it. Returns the exit code.
  public func configurationSet(_ key: String, to word: String, isJSON: Bool, output: Verbs.Output) throws(VerbFailure) -> ExitCode {
    guard let description = ConfigurationDescription.key(key) else { throw HostSystem.unknown(key) }
    let set = try setInUse() ?? ConfigurationSet(files: [:])
    var failure: ConfigurationError?
    for literal in description.value.literals(of: word) where ConfigurationText.isValue(literal) {
      var changed = set
      do {
        let text = try ConfigurationText(set.text, file: ConfigurationSet.mainFile)
        changed.files[ConfigurationSet.mainFile] = try text.setting(key, to: literal)
        _ = try check(changed)
      } catch let error as ConfigurationText.EditFailure {
        throw VerbFailure(.usage, "\(error)")
      } catch let error as ConfigurationError {
        failure = failure ?? error
        continue
      } catch { throw VerbFailure(.internalError, "\(error)") }
      return try apply(changed, deed: "set \(key)", isJSON: isJSON, output: output)
    }
    let refusal = "\(key): \"\(word)\" is not accepted; accepted: \(description.value.text)"
    throw VerbFailure(.badConfiguration, failure.map { "\($0)" } ?? refusal)
  }

  /// `parlor config unset`: takes one key out of what the box runs with, or a table, or an entry of a list, and applies it. Returns the exit code.
  public func configurationUnset(_ key: String, isJSON: Bool, output: Verbs.Output) throws(VerbFailure) -> ExitCode {
    guard ConfigurationDescription.key(key) != nil || ConfigurationDescription.table(key) != nil else { throw HostSystem.unknown(key) }
    var set = try current()
    do {
      guard let text = try ConfigurationText(set.text, file: ConfigurationSet.mainFile).removing(key) else {
        throw VerbFailure(.unavailable, "\(key) is not in the file")
      }
      set.files[ConfigurationSet.mainFile] = text
      _ = try check(set)
    } catch let failure as VerbFailure {
      throw failure
    } catch let error as ConfigurationText.EditFailure {
      throw VerbFailure(.usage, "\(error)")
    } catch { throw VerbFailure(.badConfiguration, "\(error)") }
    return try apply(set, deed: "unset \(key)", isJSON: isJSON, output: output)
  }

  /// `parlor config apply`: sets the box up with another file; what lies beside it stays. Returns the exit code.
  public func configurationApply(_ text: [UInt8], isJSON: Bool, output: Verbs.Output) throws(VerbFailure) -> ExitCode {
    var set = try setInUse() ?? ConfigurationSet(files: [:])
    set.files[ConfigurationSet.mainFile] = text
    do throws(ConfigurationError) { _ = try check(set) } catch { throw VerbFailure(.badConfiguration, "\(error)") }
    return try apply(set, deed: "applied a configuration", isJSON: isJSON, output: output)
  }

  /// Throws all that is wrong with the file; provisioning looks at the files beside it as well.
  private func check(_ set: ConfigurationSet) throws(ConfigurationError) -> Configuration {
    let complete = try set.fillingIn(from: store.current)
    return try Configuration(complete.text, file: ConfigurationSet.mainFile)
  }

  private func apply(_ set: ConfigurationSet, deed: String, isJSON: Bool, output: Verbs.Output) throws(VerbFailure) -> ExitCode {
    try requireServiceManager()
    let inbox = path(Provision.inbox)
    // Two at a time would mix their files.
    let lock = open("\(inbox)/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw VerbFailure(.notPermitted, "\(inbox): \(unsafe String(cString: strerror(errno)))") }
    defer { close(lock) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw VerbFailure(.unavailable, "somebody else changes the configuration; try again") }
    let former = outcomeFile
    empty(inbox)
    // The files hold secrets: they stay no longer than they are needed.
    defer { empty(inbox) }
    do { try set.write(to: inbox, group: nil) } catch { throw VerbFailure(.cannotCreate, "\(error)") }
    note(deed)
    try start(.apply)
    guard let outcome = store.outcome, outcome.source == .operator, outcomeFile != former else {
      throw VerbFailure(.unavailable, "provisioning did not say how it ended; logs has more")
    }
    if isJSON {
      do { _ = output(try JSON.text(outcome, isPretty: true) + [10]) } catch { throw VerbFailure(.internalError, "\(error)") }
    } else {
      let isApplied = outcome.result == .applied
      let lines = outcome.lines + [isApplied ? "applied" : "not applied; the box goes on as before"]
      _ = output(Array((lines.joined(separator: "\n") + "\n").utf8))
    }
    return outcome.result == .applied ? .ok : .badConfiguration
  }

  /// What tells the outcome's file from the one before, since two attempts may be alike.
  private var outcomeFile: [Int] {
    var status = stat()
    guard unsafe stat("\(store.folder)/outcome.json", &status) == 0 else { return [] }
    return [Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
  }

  private func empty(_ folder: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where !name.hasPrefix(".") {
      try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }
}
