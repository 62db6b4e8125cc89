/// Which lines of the log an operator wants.
public struct LogQuery: Sendable, Equatable {
  /// Whether new lines follow as they come.
  public var isFollowing = false
  /// How many lines there are at most; nil: 200, or all since `since`.
  public var lines: Int?
  /// From when on, as systemd.time(7) writes it, such as `-1h`, `today` or `2026-11-30 12:00`.
  public var since: String?
  /// Whether each line is a JSON object (journalctl(1), `-o json`).
  public var isJSON = false

  /// The last lines.
  public init() {}

  /// The units whose lines are the box's.
  static let units = [
    "parlor.service", "parlor-page.service", "parlor-provision.service", "parlor-apply.service", "parlor-update.service",
    "parlor-health.service", "parlor-factory-reset.service", "parlor-rescue.service", "parlor-connections.service", "parlor-syslog.service",
    "parlor-grow-data.service", "rauc.service",
  ]

  /// The arguments of journalctl. What units say, what systemd says of them, and what operators' verbs have written down.
  var arguments: [String] {
    var words = ["--no-pager", "--quiet", "--output=\(isJSON ? "json" : "short-iso")"]
    if isFollowing { words.append("--follow") }
    if let since { words.append("--since=\(since)") }
    if let count = lines ?? (since == nil ? 200 : nil) { words.append("--lines=\(count)") }
    let matches = LogQuery.units.flatMap { ["_SYSTEMD_UNIT=\($0)", "UNIT=\($0)"] } + ["SYSLOG_IDENTIFIER=parlor"]
    return words + Array(matches.map { [$0] }.joined(separator: ["+"]))
  }
}

extension HostSystem {
  /// `parlor logs`: ends when there are no more lines, or when nobody reads them.
  public func logs(_ query: LogQuery, output: Verbs.Output) throws(VerbFailure) {
    var last: [UInt8] = []
    let code = try ChildProcess.run(path("/usr/bin/journalctl"), query.arguments, reader: 1) { bytes in
      last = bytes
      return output(bytes)
    }
    // 256 and more: it was ended since nobody reads.
    guard code == 0 || code >= 256 else {
      let reason = String(decoding: last, as: UTF8.self).split(whereSeparator: \.isNewline).last.map(String.init) ?? "no reason given"
      throw VerbFailure(query.since != nil && reason.contains("parse") ? .usage : .unavailable, "journalctl: \(reason)")
    }
  }
}
