import FoundationEssentials

/// What became of the version that was installed last: `parlor confirm` writes it down, `parlor status` tells it.
public struct UpdateOutcome: Codable, Sendable, Equatable {
  /// How far it is.
  public enum State: String, Codable, Sendable {
    /// It runs, and is watched.
    case trial
    /// It was well, and stays.
    case good
    /// It was never well; the version before it is back.
    case givenUp = "given-up"
  }

  public var state: State
  /// Where it was installed, "A" or "B".
  public var slot: String
  /// Its version; nil: nobody wrote it down.
  public var version: String?
  /// Since when it is so.
  public var since: Date

  static let file = ProvisioningStore.defaultFolder + "/update.json"

  /// The one that was written down; nil: there was no update.
  static var current: UpdateOutcome? {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return FileManager.default.contents(atPath: file).flatMap { try? decoder.decode(UpdateOutcome.self, from: $0) }
  }

  /// Writes it down, if anything but the time is new.
  func save() throws(StoredFile.Failure) {
    if let old = UpdateOutcome.current, (old.state, old.slot) == (state, slot), old.version == version { return }
    guard let text = try? JSON.text(self) else { return }
    try StoredFile.write(text, to: UpdateOutcome.file, mode: 0o644)
  }

  /// One line for a person.
  var text: String {
    let what = "\(version.map { "version \($0)" } ?? "the version") in slot \(slot)"
    return switch state {
    case .trial: "\(what) is on trial"
    case .good: "\(what) is good since \(since.formatted(.iso8601))"
    case .givenUp: "\(what) was given up: it was never well; the version before it runs"
    }
  }
}
