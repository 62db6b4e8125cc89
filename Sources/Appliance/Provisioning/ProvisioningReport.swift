import FoundationEssentials

/// What `parlor-report.txt` says: how it went, for whoever put the files there, in a text that any editor shows.
struct ProvisioningReport {
  /// How the attempt ended.
  var outcome: ProvisioningOutcome
  /// What the box is called; nil: it has no name.
  var name: String?
  /// The box's first hardware address.
  var hardwareAddress: String?
  /// Whether the clock was known to be right.
  var isClockSet: Bool
  /// Whether the box ran with other files before, with which it goes on.
  var hasFormer: Bool
  /// The line of `known_hosts` that the box is known by over SSH, its name left out.
  var hostKey: String?

  /// The text, with the line ends that all systems understand.
  var text: String {
    var lines = ["Parlor \(Version.current): what became of the files from \(outcome.source)", ""]
    lines.append("Time:    \(outcome.time.formatted(.iso8601))" + (isClockSet ? "" : " (the clock was not set)"))
    if let name { lines.append("Box:     \(name)") }
    if let hardwareAddress { lines.append("Address: \(hardwareAddress)") }
    if let hostKey { lines.append("SSH key: \(hostKey)") }
    lines.append("")
    switch outcome.result {
    case .applied:
      lines.append("APPLIED: the box runs with these files.")
      if outcome.source == .partition {
        lines.append(
          "Passwords and keys have left this partition; \(ConfigurationText.mark) stands in their place. Leave it there, or write another one."
        )
      }
    case .refused:
      lines.append("NOT APPLIED: " + (hasFormer ? "the box goes on with what it had before." : "the box is not set up."))
    }
    if !outcome.lines.isEmpty { lines += ["", outcome.result == .applied ? "To look at:" : "What is wrong:"] + outcome.lines }
    return lines.map { $0 + "\r\n" }.joined()
  }
}
