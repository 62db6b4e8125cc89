import FoundationEssentials

/// The two places that hold versions of the system image, "A" and "B".
enum SystemSlot {
  /// The one that runs, as the kernel's command line says; nil: this is no image.
  static let running = FileManager.default.contents(atPath: "/proc/cmdline").flatMap { named(in: String(decoding: $0, as: UTF8.self)) }

  /// The slot that a kernel's command line names.
  static func named(in commandLine: String) -> String? {
    let word = commandLine.split(whereSeparator: \.isWhitespace).last { $0.hasPrefix("rauc.slot=") }
    return word.map { String($0.dropFirst("rauc.slot=".count)) }
  }

  /// The version that was installed last into `slot`, by the text of RAUC's status file (`statusfile` in its system.conf); nil: it does not say.
  static func version(in slot: String, statusFile text: String) -> String? {
    let section = "[slot.rootfs.\(slot == "A" ? 0 : 1)]"
    var isThere = false
    for line in text.split(whereSeparator: \.isNewline) {
      if line.first == "[" { isThere = line == section }
      if isThere, line.hasPrefix("bundle.version=") { return String(line.dropFirst("bundle.version=".count)) }
    }
    return nil
  }
}
