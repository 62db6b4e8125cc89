import Base

extension ConfigurationReader {
  func readTime() -> Configuration.Time {
    var time = Configuration.Time()
    guard let table = root.table("time") else { return time }
    time.servers =
      table.values("servers") { HostName.isHost($0) ? $0 : nil } ?? []
    time.zone = readZone(in: table)
    table.finish()
    return time
  }

  private func readZone(in table: TableReader) -> String? {
    let zone = table.value("zone") { text -> String? in
      let isName = text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty && part.first != "." && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_+-".contains($0)) }
      }
      return isName ? text : nil
    }
    guard let zone, let zones = machine.timeZones else { return zone }
    if zones.contains(zone) { return zone }
    let nearest = NearestName.find(zone, among: zones).map { "; did you mean \($0)?" } ?? ""
    table.fail("zone", "\"\(zone)\" is no time zone" + nearest, accepted: table.accepted("zone"))
    return nil
  }

  func readAccess() -> Configuration.Access {
    var access = Configuration.Access()
    guard let table = root.table("access") else { return access }
    for (index, line) in table.texts("ssh_keys") {
      do throws(SSHKey.Failure) {
        let key = try SSHKey(line)
        if access.keys.contains(where: { $0.encoded == key.encoded }) { table.warn("ssh_keys", "is there already", at: index) }
        access.keys.append(key)
      } catch {
        table.fail("ssh_keys", error.description, at: index, accepted: error.accepted)
      }
    }
    access.allowsRemoteInput = table.boolean("remote_input") ?? access.allowsRemoteInput
    access.allowsScreenshots = table.boolean("screenshots") ?? access.allowsScreenshots
    access.metrics = table.value("metrics") { text in
      SocketAddress(text).flatMap { $0.port > 0 ? $0 : nil }
    }
    table.finish()
    return access
  }

  func readUpdate() -> Configuration.Update {
    var update = Configuration.Update()
    guard let table = root.table("update") else { return update }
    // Bundles are signed: nobody on the way can change one.
    update.url = readURL("url", in: table, risk: nil)
    update.isAutomatic = table.boolean("automatic") ?? update.isAutomatic
    if let window = table.table("window") {
      update.window = readPeriod(window)
      window.finish()
    }
    update.keyringFile = table.string("keyring_file").map(absolute)
    update.allowsDowngrade = table.boolean("allow_downgrade") ?? update.allowsDowngrade
    table.finish()
    for key in ["automatic", "window"] where table.has(key) && !table.has("url") { table.warn(key, "has no effect without url beside it") }
    return update
  }

  private enum LevelName: String, CaseIterable {
    case error, warning, notice, info, debug

    var level: Log.Level {
      switch self {
      case .error: .error
      case .warning: .warning
      case .notice: .notice
      case .info: .info
      case .debug: .debug
      }
    }
  }

  func readLogs() -> Configuration.Logs {
    var logs = Configuration.Logs()
    guard let table = root.table("logs") else { return logs }
    logs.level = table.word("level", as: LevelName.self)?.level ?? logs.level
    logs.syslog = table.value("syslog") { text in
      let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let transport = Configuration.Logs.Server.Transport(rawValue: parts[0]),
        let (host, port) = HostName.split(parts[1])
      else { return nil }
      return Configuration.Logs.Server(transport: transport, host: host, port: port ?? (transport == .tls ? 6_514 : 514))
    }
    logs.journalUpload = readURL("journal_upload", in: table, risk: "read these logs")
    table.finish()
    return logs
  }

  func readLimits(page: Configuration.Page) -> Configuration.Limits {
    var limits = Configuration.Limits()
    guard let table = root.table("limits") else { return limits }
    limits.appMemory = table.integer("app_memory_mb")
    limits.pageMemory = table.integer("page_memory_mb")
    if let limit = limits.pageMemory, limit < page.memoryLimit {
      table.warn(
        "page_memory_mb", "is less than page.memory_limit_mb, \(page.memoryLimit): the page would be ended without a word on the screen")
    }
    limits.appProcessor = table.integer("app_cpu_percent")
    limits.pageProcessor = table.integer("page_cpu_percent")
    limits.journalSize = table.integer("journal_mb")
    table.finish()
    return limits
  }
}
