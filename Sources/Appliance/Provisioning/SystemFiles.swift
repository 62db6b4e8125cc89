import FoundationEssentials

/// What the rest of the system reads of the configuration: files that `parlor provision` writes anew at each start, before the network.
///
/// They lie in `/run`, so nothing of an older configuration can be left over.
struct SystemFiles: Sendable, Equatable {
  /// A part of the system that reads some of the files.
  enum Reader: Sendable, CaseIterable { case network, time, logs, app, logins }

  /// A file.
  struct File: Sendable, Equatable {
    var path: String
    var bytes: [UInt8]
    /// As chmod(2) has it.
    var mode: UInt32
    var reader: Reader
  }

  /// Where most of them lie.
  static let folder = "/run/parlor-provision"
  /// Where NetworkManager looks for connections that do not outlive a restart.
  static let connections = "/run/NetworkManager/system-connections"

  /// By whom the image's updates are signed.
  private static let ownKeyring = "/usr/lib/parlor/update-keyring.pem"

  private(set) var files: [File] = []
  /// Properties of units, by the units' names.
  private(set) var properties: [String: [String]] = [:]
  /// The time zone's name.
  private(set) var zone = "UTC"
  /// The box's name in networks; nil: the image's own.
  private(set) var hostName: String?
  /// Where the box stands, for radio channels; nil: it is not said.
  private(set) var country: String?

  /// The files for `configuration`; `set` is what lies beside it.
  init(_ configuration: Configuration, _ set: ConfigurationSet) throws(Secret.Failure) {
    (hostName, country) = (configuration.network.hostName, configuration.network.country)
    zone = configuration.time.zone ?? zone
    for profile in try NetworkProfile.all(of: configuration.network) {
      add("\(SystemFiles.connections)/\(profile.name)", profile.text, mode: 0o600, .network)
    }
    if let bytes = set.files[ConfigurationSet.wifiFile] {
      add(
        "\(SystemFiles.connections)/parlor-companion.nmconnection", String(decoding: bytes, as: UTF8.self).withUnixLines, mode: 0o600,
        .network)
    }
    let hasWiFi = !configuration.network.wifi.isEmpty || set.files[ConfigurationSet.wifiFile] != nil
    let logins = (hasWiFi ? ["wifi"] : []) + (configuration.network.ethernet.contains { $0.authentication != nil } ? ["cable"] : [])
    if !logins.isEmpty { add(ConnectionKeeper.mark, logins.map { "\($0)\n" }.joined(), .network) }
    let keys = configuration.access.keys + AuthorizedKeys(set.files[ConfigurationSet.keysFile] ?? []).keys
    add("\(SystemFiles.folder)/ssh/operator/authorized_keys", keys.map { "\($0)\n" }.joined(), mode: 0o644, .logins)
    if !configuration.time.servers.isEmpty {
      add("/run/systemd/timesyncd.conf.d/parlor.conf", "[Time]\nNTP=\(configuration.time.servers.joined(separator: " "))\n", .time)
    }
    properties = SystemFiles.properties(configuration.limits)
    if let size = configuration.limits.journalSize {
      add("/run/systemd/journald.conf.d/parlor.conf", "[Journal]\nSystemMaxUse=\(size)M\n", .logs)
    }
    if let url = configuration.logs.journalUpload { add("/run/systemd/journal-upload.conf.d/parlor.conf", "[Upload]\nURL=\(url)\n", .logs) }
    if let server = configuration.logs.syslog { add("\(SystemFiles.folder)/rsyslog.conf", SystemFiles.forwarding(to: server), .logs) }
    // RAUC reads one file, whoever it is from.
    let keyring = configuration.update.keyringFile ?? SystemFiles.ownKeyring
    if let data = FileManager.default.contents(atPath: keyring) {
      files.append(File(path: "\(SystemFiles.folder)/update-keyring.pem", bytes: Array(data), mode: 0o644, reader: .app))
    }
  }

  private mutating func add(_ path: String, _ text: String, mode: UInt32 = 0o644, _ reader: Reader) {
    files.append(File(path: path, bytes: Array(text.utf8), mode: mode, reader: reader))
  }

  /// What each unit may use of the machine, as systemd's properties.
  private static func properties(_ limits: Configuration.Limits) -> [String: [String]] {
    var properties: [String: [String]] = [:]
    for (unit, memory, processor) in [
      ("parlor.service", limits.appMemory, limits.appProcessor), ("parlor-page.service", limits.pageMemory, limits.pageProcessor),
    ] {
      let values = [memory.map { "MemoryMax=\($0)M" }, processor.map { "CPUQuota=\($0)%" }].compactMap { $0 }
      if !values.isEmpty { properties[unit] = values }
    }
    return properties
  }

  /// rsyslog's configuration: the journal goes to `server` (RFC 5424) and is kept while it cannot be reached.
  private static func forwarding(to server: Configuration.Logs.Server) -> String {
    let isEncrypted = server.transport == .tls
    var action = """
      *.* action(type="omfwd" target="\(server.host)" port="\(server.port)" protocol="\(server.transport == .udp ? "udp" : "tcp")"
        template="RSYSLOG_SyslogProtocol23Format" action.resumeRetryCount="-1" queue.type="LinkedList" queue.size="10000"
      """
    if isEncrypted { action += "\n  StreamDriver=\"gtls\" StreamDriverMode=\"1\" StreamDriverAuthMode=\"x509/name\"" }
    let trust = isEncrypted ? "global(DefaultNetstreamDriverCAFile=\"/etc/ssl/certs/ca-certificates.crt\")\n" : ""
    return """
      \(trust)module(load="imjournal" StateFile="/var/lib/parlor-system/syslog.state")
      \(action))

      """
  }
}

extension String {
  /// Line feeds alone end lines.
  fileprivate var withUnixLines: String { split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: "\n") }
}
