/// Something in a configuration file that is wrong, or has no effect: what, where, and what would be right.
public struct ConfigurationProblem: Sendable, Hashable, Codable, CustomStringConvertible {
  /// Whether the file can be used in spite of it.
  public enum Severity: String, Sendable, Codable { case error, warning }

  /// Whether the file can be used in spite of it.
  public var severity: Severity
  /// The file's path, as it was given.
  public var file: String
  /// The line, counted from 1.
  public var line: Int
  /// The column, counted from 1 in bytes.
  public var column: Int
  /// The key's full name, such as `call.whip` or `camera[1].rate`; empty when no single key is meant.
  public var key: String
  /// What is wrong.
  public var message: String
  /// What would be right: values or key names; empty when `message` says it.
  public var accepted: [String]

  /// One line: `parlor.toml:12:9: call.codec: "VP9" is not accepted; accepted: "VP8", "H264"`.
  public var description: String {
    var text = "\(file):\(line):\(column): "
    if severity == .warning { text += "warning: " }
    if !key.isEmpty { text += "\(key): " }
    text += message
    return accepted.isEmpty ? text : text + "; accepted: " + accepted.joined(separator: ", ")
  }
}

/// A configuration that cannot be used: everything that is wrong with it, in the file's order.
public struct ConfigurationError: Error, Equatable, CustomStringConvertible {
  /// Everything that is wrong, and what has no effect, in the file's order.
  public var problems: [ConfigurationProblem]

  /// One line for each problem.
  public var description: String { problems.map(\.description).joined(separator: "\n") }
}
