import FoundationEssentials

/// How the last attempt to set the box up ended: what the screen, the log, `parlor status` and the report on the partition say.
public struct ProvisioningOutcome: Sendable, Equatable, Codable {
  /// How an attempt ends.
  public enum Result: String, Sendable, Codable {
    /// The box runs with it.
    case applied
    /// The box goes on with what it had before, if anything.
    case refused
  }

  /// Where files came from.
  public enum Source: String, Sendable, Codable, CustomStringConvertible {
    case partition, stick, `operator`, folder

    public var description: String {
      switch self {
      case .partition: "the PARLOR partition"
      case .stick: "a USB stick"
      case .operator: "the operator"
      case .folder: "a folder"
      }
    }
  }

  /// How it ended.
  public var result: Result
  /// Where the files came from.
  public var source: Source
  /// When that was, by the box's clock.
  public var time: Date
  /// What is wrong with `parlor.toml`, and what has no effect; the file is named as it is on the partition.
  public var problems: [ConfigurationProblem] = []
  /// What else is wrong, in sentences.
  public var failures: [String] = []

  /// One line for each thing that is wrong or has no effect.
  public var lines: [String] { problems.map(\.description) + failures }
}

/// What an origin may capture, since when, and who said so: written down once.
public struct RecordedGrant: Sendable, Equatable, Codable {
  /// Whose pages it is for.
  public var origin: String
  /// Whether they may use the camera.
  public var camera: Bool
  /// Whether they may use the microphone.
  public var microphone: Bool
  /// When it was given.
  public var since: Date
  /// How it came to the box.
  public var source: ProvisioningOutcome.Source

  /// Both records, for as long as the configuration that they are for may be the one or the other.
  static func union(_ new: [RecordedGrant], _ former: [RecordedGrant]) -> [RecordedGrant] { new + former.filter { !new.contains($0) } }

  /// The record of `grants` at `time`: one that is in `former` unaltered keeps its time and source.
  static func record(_ grants: Grants, former: [RecordedGrant], time: Date, source: ProvisioningOutcome.Source) -> [RecordedGrant] {
    grants.all.map { grant in
      let origin = "\(grant.origin)"
      return former.first { $0.origin == origin && $0.camera == grant.camera && $0.microphone == grant.microphone }
        ?? RecordedGrant(origin: origin, camera: grant.camera, microphone: grant.microphone, since: time, source: source)
    }
  }
}
