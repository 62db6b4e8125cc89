import Base
import Glibc
import Stage

extension Configuration {
  /// Files longer than this are no configuration.
  static let maximumSize = 1 << 20

  /// Reads the file at `path`. Throws all that is wrong with it.
  public static func load(path: String, machine: Machine = .current) throws(ConfigurationError) -> Configuration {
    try Configuration(try bytes(of: path), file: path, machine: machine)
  }

  /// The bytes of the file at `path`; `-` is the standard input. Throws when it cannot be read, or is too long for a configuration.
  public static func bytes(of path: String) throws(ConfigurationError) -> [UInt8] {
    guard let file = unsafe path == "-" ? fdopen(dup(0), "r") : fopen(path, "re") else {
      throw unreadable(path, unsafe String(cString: strerror(errno)))
    }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: maximumSize + 1)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe fread($0.baseAddress, 1, $0.count, file) }
    if unsafe ferror(file) != 0 { throw unreadable(path, unsafe String(cString: strerror(errno))) }
    if count > maximumSize { throw unreadable(path, "is longer than \(maximumSize) bytes") }
    return Array(bytes.prefix(count))
  }

  private static func unreadable(_ path: String, _ reason: String) -> ConfigurationError {
    ConfigurationError(
      problems: [ConfigurationProblem(severity: .error, file: path, line: 1, column: 1, key: "", message: reason, accepted: [])])
  }

  /// Reads a configuration's text; `file` names it in messages, and relative paths in it start from its folder. `machine` says what `${mac}` stands for.
  public init(_ text: [UInt8], file: String, machine: Machine = Machine()) throws(ConfigurationError) {
    let report = TableReader.Report(file: file)
    self.init()
    do throws(TOMLDocument.SyntaxError) {
      let document = try TOMLDocument(ConfigurationText.utf8(text))
      guard let root = TableReader(document.root, path: "", report: report) else { preconditionFailure("a document is a table") }
      var reader = ConfigurationReader(root: root, file: file, machine: machine, report: report)
      reader.read(into: &self)
    } catch {
      report.add(error.message, key: "", at: error.position)
    }
    let problems = report.problems.sorted { ($0.line, $0.column, $0.key) < ($1.line, $1.column, $1.key) }
    if problems.contains(where: { $0.severity == .error }) { throw ConfigurationError(problems: problems) }
    warnings = problems
  }
}

/// Turns a TOML document into a `Configuration`, table by table.
struct ConfigurationReader {
  var root: TableReader
  let file: String
  let machine: Machine
  let report: TableReader.Report
  /// Which box this is, once that is read: it is filled in elsewhere.
  var identity = Configuration.Identity()

  mutating func read(into configuration: inout Configuration) {
    identity = readIdentity()
    configuration.identity = identity
    configuration.call = readCall()
    configuration.grants = readGrants()
    configuration.display = readDisplay()
    configuration.power = readPower()
    configuration.cameras = root.tables("camera").map(readCamera)
    configuration.sound = readSound()
    configuration.network = readNetwork()
    configuration.page = readPage()
    configuration.tls = readTLS()
    configuration.time = readTime()
    configuration.access = readAccess()
    configuration.update = readUpdate()
    configuration.notices = readNotices()
    configuration.logs = readLogs()
    configuration.limits = readLimits(page: configuration.page)
    warnOfGrants(configuration)
    root.finish()
  }

  /// A path as seen from the file's folder.
  func absolute(_ path: String) -> String { ConfigurationText.absolute(path, from: file) }

  private func readIdentity() -> Configuration.Identity {
    var identity = Configuration.Identity()
    guard let table = root.table("identity") else { return identity }
    identity.name = table.string("name")
    identity.serial = table.string("serial")
    identity.place = table.string("place")
    table.finish()
    return identity
  }

  // MARK: Calls

  private func readCall() -> Configuration.Call? {
    guard let table = root.table("call") else { return nil }
    let risk = "read this call's signalling and token"
    let url = readURL("url", in: table, risk: risk)
    let whip = readURL("whip", in: table, risk: risk)
    let whep = readURL("whep", in: table, risk: risk)
    var call = Configuration.Call(target: .direct(whip: whip, whep: whep))
    if table.has("url"), table.has("whip") || table.has("whep") {
      table.fail("url", "a page call and a direct call exclude each other", accepted: ["url alone", "whip, whep or both"])
    } else if let url {
      call.target = .page(url: url)
    } else if !["url", "whip", "whep"].contains(where: table.has) {
      report.add("names nobody to call", key: "call", at: table.position, accepted: ["whip", "whep", "url"])
    }

    call.token = readSecret("token", in: table)
    call.iceServers = table.tables("ice_servers").compactMap(readICEServer)
    call.isRelayOnly = table.boolean("relay_only") ?? false
    call.codec = table.word("codec", as: Configuration.Call.Codec.self)
    readStart(of: &call, in: table)
    call.connectTimeout = table.number("connect_timeout") ?? call.connectTimeout
    readPageKeys(of: &call, in: table)
    table.finish()
    return call
  }

  private func readICEServer(_ table: TableReader) -> Configuration.Call.ICEServer? {
    defer { table.finish() }
    let urls = table.strings("urls") ?? []
    let username = table.string("username")
    let credential = readSecret("credential", in: table)
    if table.isEmptyList("urls") {
      table.fail("urls", "names no server", accepted: table.accepted("urls"))
      return nil
    }
    for url in urls {
      let scheme = url.prefix { $0 != ":" }
      if !["stun", "stuns", "turn", "turns"].contains(scheme) || url.count == scheme.count + 1 || url.contains("//") {
        table.fail(
          "urls", "\"\(url)\" is not accepted", accepted: table.accepted("urls"))
        return nil
      }
      if scheme.hasPrefix("turn"), username == nil || credential == nil {
        table.fail("urls", "a TURN server needs username and credential")
        return nil
      }
    }
    return Configuration.Call.ICEServer(urls: urls, username: username, credential: credential)
  }

  /// Grants that nobody can use.
  private func warnOfGrants(_ configuration: Configuration) {
    guard let call = configuration.call else { return }
    for table in root.tables("grants") {
      guard let origin = table.string("origin").flatMap({ Origin($0) }) else { continue }
      switch call.target {
      case .direct: table.warn("origin", "has no effect on a direct call, which needs no grant")
      case .page(let url):
        if origin != Origin(url: url), !call.allowedOrigins.contains(origin) {
          table.warn("origin", "is neither the origin of call.url nor one of call.allowed_origins: no page of it is shown")
        }
      }
    }
  }

  private func readGrants() -> Grants {
    var grants = Grants()
    for table in root.tables("grants") {
      let origin = table.value("origin") { Origin($0) }
      let (camera, microphone) = (table.boolean("camera") ?? false, table.boolean("microphone") ?? false)
      table.finish()
      guard let origin else { continue }
      if !origin.isSecure { table.fail("origin", "a grant needs an origin that cannot be impersonated", accepted: ["https://HOST[:PORT]"]) }
      if !grants.add(Grants.Grant(origin: origin, camera: camera, microphone: microphone)) {
        table.fail("origin", "\(origin) has a grant already")
      }
    }
    return grants
  }
}
