import FoundationEssentials
import Glibc

/// What the box was set up with, on the data partition: root writes it, the box reads it.
///
/// `current` leads to the files in use and `seen` to those that the PARLOR partition held last; both change in one step, so that a power cut leaves the old or the new ones.
public struct ProvisioningStore: Sendable {
  /// Where it is on a box.
  public static let defaultFolder = "/var/lib/parlor-system"

  /// The folder of all.
  public let folder: String

  /// The store in `folder`.
  public init(folder: String = defaultFolder) { self.folder = folder }

  /// The configuration file that a box which was set up runs with.
  public var configurationFile: String { "\(folder)/current/\(ConfigurationSet.mainFile)" }

  /// How the last attempt ended; nil: there was none, or nobody may know.
  public var outcome: ProvisioningOutcome? { load("outcome.json") }

  /// What origins may capture, since when, and who said so.
  public var grants: [RecordedGrant] { load("grants.json") ?? [] }

  var current: ConfigurationSet? { try? ConfigurationSet.read("\(folder)/current") }
  var seen: ConfigurationSet? { try? ConfigurationSet.read("\(folder)/seen") }

  /// Makes the folder, which root alone writes and `parlor` reads.
  func prepare() throws(StoredFile.Failure) { try StoredFile.makeFolder("\(folder)/sets", mode: 0o750, group: ProvisioningStore.group) }

  /// Writes files beside those in use, to be tried. Returns their folder.
  func stage(_ set: ConfigurationSet) throws(ConfigurationSet.Failure) -> String {
    var number = (names.compactMap(Int.init).max() ?? 0) + 1
    while access("\(folder)/sets/\(number)", F_OK) == 0 { number += 1 }
    let path = "\(folder)/sets/\(number)"
    try set.write(to: path, group: ProvisioningStore.group)
    return path
  }

  /// Puts staged files into use.
  func use(_ path: String) throws(StoredFile.Failure) {
    try StoredFile.link("\(folder)/current", to: "sets/\(ProvisioningStore.name(path))")
  }

  /// Remembers what the PARLOR partition holds.
  func see(_ set: ConfigurationSet) throws(ConfigurationSet.Failure) {
    if seen == set { return }
    let path = current == set ? try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/current") : try stage(set)
    guard let path else { return }
    do { try StoredFile.link("\(folder)/seen", to: "sets/\(ProvisioningStore.name(path))") } catch {
      throw ConfigurationSet.Failure(description: "\(error)")
    }
  }

  /// Whether the PARLOR partition is being written to or, at a start, was when the power went.
  var isMirroring: Bool { access("\(folder)/mirroring", F_OK) == 0 }

  /// Notes that the PARLOR partition is being written to, or no longer.
  func setMirroring(_ isMirroring: Bool) throws(StoredFile.Failure) {
    let path = "\(folder)/mirroring"
    if isMirroring { try StoredFile.write([], to: path, mode: 0o640) } else { try StoredFile.remove(path) }
  }

  /// Removes files that are neither in use nor remembered.
  func prune() {
    let used = ["current", "seen"].compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
    for name in names where !used.contains("sets/\(name)") { try? FileManager.default.removeItem(atPath: "\(folder)/sets/\(name)") }
  }

  func save(_ outcome: ProvisioningOutcome) throws(StoredFile.Failure) { try save(outcome, to: "outcome.json") }
  func save(_ grants: [RecordedGrant]) throws(StoredFile.Failure) { try save(grants, to: "grants.json") }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/sets")) ?? [] }

  private static func name(_ path: String) -> Substring {
    path[(path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)...]
  }

  private func load<Value: Decodable>(_ name: String) -> Value? {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { return nil }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try? decoder.decode(Value.self, from: data)
  }

  private func save(_ value: some Encodable, to name: String) throws(StoredFile.Failure) {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { preconditionFailure("plain values can be written as JSON") }
    try StoredFile.write(Array(data) + [10], to: "\(folder)/\(name)", mode: 0o640, group: ProvisioningStore.group)
  }

  /// The group that reads what the box needs; nil on machines without one.
  private static let group: gid_t? = unsafe getgrnam("parlor")?.pointee.gr_gid
}
