import Stage

extension ConfigurationReader {
  /// The keys of `[call]` that say when a call starts, and by what.
  func readStart(of call: inout Configuration.Call, in table: TableReader) {
    call.key = readInputKey("key", in: table)
    if let line = table.table("gpio") { call.button = readLine(line) }
    call.start = table.word("start", as: Configuration.Call.Start.self) ?? .boot
    if call.start == .key, !table.has("key"), !table.has("gpio") {
      let others = Configuration.Call.Start.allCases.filter { $0 != .key }
      table.fail(
        "start", "needs call.key or call.gpio, which name the key or button", accepted: others.map { "\"\($0.rawValue)\"" })
    }
  }

  /// A key by its name or its number.
  private func readInputKey(_ key: String, in table: TableReader) -> UInt32? {
    if table.isInteger(key) { return table.integer(key).map { UInt32($0) } }
    guard let name = table.string(key) else { return nil }
    if let code = InputKey.code(of: name) { return code }
    let nearest = NearestName.find(name, among: InputKey.names).map { "; did you mean \($0)?" } ?? ""
    table.fail(key, "\"\(name)\" is no key" + nearest, accepted: table.accepted(key))
    return nil
  }

  private func readLine(_ table: TableReader) -> GPIOLine? {
    let chip = table.value("chip") { $0.hasPrefix("/dev/") ? $0 : nil }
    let line = table.integer("line")
    let isActiveLow = table.boolean("active_low") ?? false
    let bias = table.word("bias", as: GPIOLine.Bias.self) ?? .asIs
    table.finish()
    guard let chip, let line else { return nil }
    return GPIOLine(chip: chip, line: UInt32(line), isActiveLow: isActiveLow, bias: bias)
  }
}
