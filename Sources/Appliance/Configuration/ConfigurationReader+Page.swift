import FoundationEssentials

extension ConfigurationReader {
  /// The keys of `[call]` that say how a page is loaded.
  func readPageKeys(of call: inout Configuration.Call, in table: TableReader) {
    for (index, text) in table.texts("allowed_origins") {
      guard let origin = Origin(text) else {
        table.fail("allowed_origins", "\"\(text)\" is no origin", at: index, accepted: table.accepted("allowed_origins"))
        continue
      }
      if !origin.isSecure { table.warn("allowed_origins", "everybody on the way can read and change the pages of \(origin); use https") }
      call.allowedOrigins.append(origin)
    }
    call.loadDeadline = table.number("load_deadline") ?? call.loadDeadline
    call.reloadAt = table.value("reload_at") { DailyTime($0) }
    if case .page = call.target {
      for key in ["token", "token_file", "relay_only", "codec", "connect_timeout"] where table.has(key) {
        table.warn(key, "has no effect on a page call")
      }
    } else {
      for key in ["allowed_origins", "load_deadline", "reload_at"] where table.has(key) {
        table.warn(key, "has no effect on a direct call")
      }
    }
  }

  func readPage() -> Configuration.Page {
    var page = Configuration.Page()
    guard let table = root.table("page") else { return page }
    page.userAgent = table.string("user_agent")
    page.memoryLimit = table.integer("memory_limit_mb") ?? page.memoryLimit
    page.dialogTimeout = table.number("dialog_timeout") ?? page.dialogTimeout
    table.finish()
    return page
  }

  func readTLS() -> Configuration.TLS {
    var tls = Configuration.TLS()
    guard let table = root.table("tls") else { return tls }
    tls.certificateFiles = (table.strings("ca_files") ?? []).map(absolute)
    tls.clientCertificate = table.string("client_certificate").map(absolute)
    tls.clientKey = table.string("client_key").map(absolute)
    for (one, other) in [("client_certificate", "client_key"), ("client_key", "client_certificate")]
    where table.has(one) && !table.has(other) {
      table.fail(one, "needs \(other) beside it")
    }
    for (index, text) in table.texts("pins") {
      let encoded = text.hasPrefix("sha256/") ? String(text.dropFirst(7)) : ""
      if Data(base64Encoded: encoded)?.count == 32 {
        tls.pins.append(text)
      } else {
        table.fail(
          "pins", "\"\(text)\" is no pin", at: index, accepted: table.accepted("pins"))
      }
    }
    table.finish()
    return tls
  }
}
