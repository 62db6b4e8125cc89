import Stage

extension ConfigurationReader {
  mutating func readDisplay() -> Configuration.Display {
    var display = Configuration.Display()
    guard var table = root.table("display") else { return display }
    display.card = table.value("card", accepted: "the path of a device, as /dev/dri/card0") { $0.hasPrefix("/dev/") ? $0 : nil }
    display.connector = table.value("connector", accepted: "a connector's name, as HDMI-A-1") {
      $0.contains(where: " /".contains) ? nil : $0
    }
    display.terminal = table.value("terminal", accepted: "/dev/tty1 to /dev/tty63") { text in
      let number = text.hasPrefix("/dev/tty") ? Int(text.dropFirst(8)) : nil
      return (1...63).contains(number ?? 0) ? text : nil
    }
    display.outputs = table.word("outputs", as: Configuration.Display.Outputs.self) ?? .all
    if display.connector != nil, table.has("outputs") { table.warn("outputs", "has no effect: connector names the only output") }
    display.mode = table.value("mode", accepted: "WIDTHxHEIGHT[@RATE], as 1920x1080@60") { Configuration.Display.Mode($0) }
    display.rotation = table.integer("rotate", as: Configuration.Display.Rotation.self) ?? .none
    display.gamma = table.number("gamma", in: GammaChoice.range)
    display.fit = table.word("fit", as: VideoFit.self) ?? .contain
    display.selfView = table.word("self_view", as: Configuration.Display.SelfView.self) ?? .bottomRight
    display.mirrorsSelfView = table.boolean("mirror_self_view") ?? true
    table.finish()
    return display
  }

  mutating func readPower() -> Configuration.Power {
    var power = Configuration.Power()
    guard var table = root.table("power") else { return power }
    power.schedule = BlankingSchedule(
      table.tables("blank").compactMap { entry in
        var entry = entry
        defer { entry.finish() }
        return readPeriod(&entry)
      })
    power.gamma = GammaSchedule(table.tables("gamma").compactMap(readGamma))
    power.blankAfter = table.number("blank_after", in: 0...604_800) ?? power.blankAfter
    power.wakeSeconds = table.number("wake_seconds", in: 1...86_400) ?? power.wakeSeconds
    power.blanksCalls = table.boolean("blank_in_calls") ?? false
    power.restartAt = table.value("restart_at", accepted: DailyTime.form) { DailyTime($0) }
    power.restartDays = readDays("restart_days", in: &table)
    if table.has("restart_days"), !table.has("restart_at") { table.fail("restart_days", "needs restart_at beside it") }
    table.finish()
    return power
  }

  private func readGamma(_ reader: TableReader) -> GammaSchedule.Period? {
    var table = reader
    defer { table.finish() }
    let (time, value) = (readPeriod(&table), table.number("value", in: GammaChoice.range))
    let range = GammaChoice.range
    if !table.has("value") { table.fail("value", "is missing", accepted: ["\(range.lowerBound) to \(range.upperBound)"]) }
    guard let time, let value else { return nil }
    return GammaSchedule.Period(time, value: value)
  }
}
