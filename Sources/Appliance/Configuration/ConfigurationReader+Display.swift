import Stage

extension ConfigurationReader {
  func readDisplay() -> Configuration.Display {
    var display = Configuration.Display()
    guard let table = root.table("display") else { return display }
    display.card = table.value("card") { $0.hasPrefix("/dev/") ? $0 : nil }
    display.connector = table.value("connector") {
      $0.contains(where: " /".contains) ? nil : $0
    }
    display.terminal = table.value("terminal") { text in
      let number = text.hasPrefix("/dev/tty") ? Int(text.dropFirst(8)) : nil
      return (1...63).contains(number ?? 0) ? text : nil
    }
    display.outputs = table.word("outputs", as: Configuration.Display.Outputs.self) ?? .all
    if display.connector != nil, table.has("outputs") { table.warn("outputs", "has no effect: connector names the only output") }
    display.mode = table.value("mode") { Configuration.Display.Mode($0) }
    display.rotation = table.integer("rotate", as: Configuration.Display.Rotation.self) ?? .none
    display.gamma = table.number("gamma")
    display.fit = table.word("fit", as: VideoFit.self) ?? .contain
    display.selfView = table.word("self_view", as: Configuration.Display.SelfView.self) ?? .bottomRight
    display.mirrorsSelfView = table.boolean("mirror_self_view") ?? true
    table.finish()
    return display
  }

  func readPower() -> Configuration.Power {
    var power = Configuration.Power()
    guard let table = root.table("power") else { return power }
    power.schedule = BlankingSchedule(
      table.tables("blank").compactMap { entry in
        defer { entry.finish() }
        return readPeriod(entry)
      })
    power.gamma = GammaSchedule(table.tables("gamma").compactMap(readGamma))
    power.blankAfter = table.number("blank_after") ?? power.blankAfter
    power.wakeSeconds = table.number("wake_seconds") ?? power.wakeSeconds
    power.blanksCalls = table.boolean("blank_in_calls") ?? false
    power.restartAt = table.value("restart_at") { DailyTime($0) }
    power.restartDays = readDays("restart_days", in: table)
    if table.has("restart_days"), !table.has("restart_at") { table.fail("restart_days", "needs restart_at beside it") }
    table.finish()
    return power
  }

  private func readGamma(_ table: TableReader) -> GammaSchedule.Period? {
    defer { table.finish() }
    let (time, value) = (readPeriod(table), table.number("value"))
    guard let time, let value else { return nil }
    return GammaSchedule.Period(time, value: value)
  }
}
