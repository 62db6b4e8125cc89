import Appliance
import Base
import Glibc

/// A command line whose verb is about the system around the box.
enum HostCommand: Equatable {
  case logs(LogQuery)
  case restartApp
  case reboot
  case get(key: String?, isJSON: Bool)
  case set(key: String, value: String, isJSON: Bool)
  case unset(key: String, isJSON: Bool)
  case apply(file: String, isJSON: Bool)
  case update(HostSystem.UpdateSource, allowsDowngrade: Bool, isJSON: Bool)
  case factoryReset
  case supportBundle(runtime: String, configuration: String?, file: String)
  case installUpdate

  /// Understands the arguments of `verb`.
  init(_ line: ParsedLine, _ verb: String, runtime: String) throws(VerbFailure) {
    let isJSON = line.flags.contains("--json")
    switch verb {
    case "logs":
      var query = LogQuery()
      query.isFollowing = line.flags.contains("--follow")
      query.lines = try line.number("--lines", in: 0...1_000_000)
      (query.since, query.isJSON) = (line.values["--since"], isJSON)
      self = .logs(query)
    case "reboot": self = .reboot
    case "config": self = try HostCommand.configuration(line.operands, isJSON: isJSON)
    case "update":
      let source = line.operands[0]
      self = .update(
        source.contains("://") ? .url(source) : .file(source), allowsDowngrade: line.flags.contains("--allow-downgrade"), isJSON: isJSON)
    case "factory-reset":
      guard line.flags.contains("--yes") else {
        throw VerbFailure(.usage, "factory-reset forgets configuration, secrets, logs and keys; --yes says that this is meant")
      }
      self = .factoryReset
    case "support-bundle":
      self = .supportBundle(runtime: runtime, configuration: line.values["--config"], file: line.operands[0])
    default: self = .installUpdate
    }
  }

  private static func configuration(_ operands: [String], isJSON: Bool) throws(VerbFailure) -> HostCommand {
    let action = try Command.word(operands[0], "action", among: ["get", "set", "unset", "apply"])
    let (accepted, usage) =
      switch action {
      case "get": (1...2, "get [KEY]")
      case "set": (3...3, "set KEY VALUE")
      case "unset": (2...2, "unset KEY")
      default: (2...2, "apply FILE")
      }
    guard accepted.contains(operands.count) else { throw VerbFailure(.usage, "config: accepted: \(usage)") }
    return switch action {
    case "get": .get(key: operands.count > 1 ? operands[1] : nil, isJSON: isJSON)
    case "set": .set(key: operands[1], value: operands[2], isJSON: isJSON)
    case "unset": .unset(key: operands[1], isJSON: isJSON)
    default: .apply(file: operands[1], isJSON: isJSON)
    }
  }

  /// Does it. Returns the verb's exit code.
  func perform(on host: HostSystem, output: @escaping Verbs.Output) async throws(VerbFailure) -> ExitCode {
    switch self {
    case .logs(let query): try host.logs(query, output: output)
    case .restartApp: try host.restartApp()
    case .reboot: try host.restartBox()
    case .get(let key, let isJSON): try host.configurationGet(key, isJSON: isJSON, output: output)
    case .set(let key, let value, let isJSON):
      let value = value == "-" ? try HostCommand.firstLine(of: HostCommand.read("-")) : value
      return try host.configurationSet(key, to: value, isJSON: isJSON, output: output)
    case .unset(let key, let isJSON): return try host.configurationUnset(key, isJSON: isJSON, output: output)
    case .apply(let file, let isJSON): return try host.configurationApply(HostCommand.read(file), isJSON: isJSON, output: output)
    case .update(let source, let allowsDowngrade, let isJSON):
      try host.update(source, allowsDowngrade: allowsDowngrade, isJSON: isJSON, output: output)
    case .factoryReset: try host.factoryReset()
    case .supportBundle(let runtime, let configuration, let file):
      try host.supportBundle(runtime: runtime, configuration: configuration, file: file, output: output)
    case .installUpdate:
      Log.install(level: .notice) { level, text in _ = output(Array("<\(level.rawValue)>\(text)\n".utf8)) }
      return await UpdateInstaller(host: host).run()
    }
    return .ok
  }

  /// A small file; `-` is the standard input.
  private static func read(_ file: String) throws(VerbFailure) -> [UInt8] {
    let descriptor = file == "-" ? dup(0) : open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw VerbFailure(.badData, "\(file): \(unsafe String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw VerbFailure(.badData, "\(file): \(unsafe String(cString: strerror(errno)))") }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= 1 << 20 else { throw VerbFailure(.badData, "\(file) is longer than any configuration") }
    }
  }

  private static func firstLine(of bytes: [UInt8]) throws(VerbFailure) -> String {
    guard let text = String(validating: bytes.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self) else {
      throw VerbFailure(.badData, "the standard input is no text in UTF-8")
    }
    return text
  }
}
