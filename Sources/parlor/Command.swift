import Appliance
import Call

/// A command line, understood.
enum Command: Equatable {
  case help(verb: String?)
  case version(isJSON: Bool)
  case run(RunOptions)
  case provision(from: String?, root: String)
  case confirm(runtime: String, patience: Int)
  case keepConnections
  case demo(DemoOptions)
  case peer(PeerOptions)
  case check(file: String, includesDevices: Bool, runtime: String, isJSON: Bool)
  case describe(ConfigurationManual)
  case manual(Manual)
  case status(runtime: String, isJSON: Bool)
  case stats(runtime: String, isWatching: Bool, isJSON: Bool)
  case screenshot(runtime: String, file: String)
  case call(runtime: String, action: String)
  case order(runtime: String, ControlRequest)
  case volume(runtime: String, change: String?, isJSON: Bool)
  case metrics(runtime: String, isJSON: Bool)
  case host(HostCommand)
}

extension Command {
  /// What is wrong with a command line: exit code 64, but for what is right and not there in this version.
  typealias Failure = VerbFailure

  /// Understands the arguments behind the program's name.
  init(_ arguments: [String], environment: [String: String]) throws(Failure) {
    guard let first = arguments.first else { throw Failure(.usage, "name a verb: " + VerbSyntax.all.map(\.name).joined(separator: ", ")) }
    if ["--help", "-h"].contains(first) {
      self = .help(verb: nil)
      return
    }
    guard let syntax = VerbSyntax.all.first(where: { $0.name == first || (first == "--version" && $0.name == "version") }) else {
      throw VerbSyntax.unknown(
        first.hasPrefix("-") ? "option" : "verb", first, among: VerbSyntax.all.map(\.name) + ["--help", "--version"])
    }
    let line = try ParsedLine(Array(arguments.dropFirst()), syntax)
    if line.flags.contains("--help") {
      self = .help(verb: syntax.name)
      return
    }
    let runtime = line.values["--runtime"] ?? environment["PARLOR_RUNTIME"].flatMap { $0.isEmpty ? nil : $0 } ?? ControlClient.defaultFolder
    let isJSON = line.flags.contains("--json")
    switch syntax.name {
    case "run": self = .run(try Command.runOptions(line, runtime: runtime))
    case "provision": self = .provision(from: line.values["--from"], root: line.values["--root"] ?? "")
    case "confirm": self = .confirm(runtime: runtime, patience: try Command.seconds("--patience", line) ?? 600)
    case "keep-connections": self = .keepConnections
    case "demo": self = .demo(try Command.demoOptions(line))
    case "peer": self = .peer(try PeerOptions(line))
    case "check":
      if let form = try line.word("--describe", ConfigurationManual.allCases) {
        self = .describe(form)
        return
      }
      let file = line.values["--config"] ?? RunOptions.defaultConfiguration
      self = .check(file: file, includesDevices: line.flags.contains("--devices"), runtime: runtime, isJSON: isJSON)
    case "status": self = .status(runtime: runtime, isJSON: isJSON)
    case "stats": self = .stats(runtime: runtime, isWatching: line.flags.contains("--watch"), isJSON: isJSON)
    case "screenshot": self = .screenshot(runtime: runtime, file: line.operands[0])
    case "call": self = .call(runtime: runtime, action: try Command.word(line.operands[0], "action", among: ["start", "hangup"]))
    case "identify":
      var arguments: [String: JSON] = [:]
      if let text = line.operands.first { arguments["seconds"] = .integer(Int64(try Command.identifySeconds(text))) }
      self = .order(runtime: runtime, ControlRequest(verb: "identify", arguments: arguments))
    case "overlay":
      let isOn = try Command.word(line.operands[0], "argument", among: ["on", "off"]) == "on"
      self = .order(runtime: runtime, ControlRequest(verb: "overlay", arguments: ["on": .boolean(isOn)]))
    case "volume":
      if let text = line.operands.first, Volume.Change(text) == nil {
        throw Failure(.usage, "volume: \"\(text)\" is not accepted; accepted: \(Volume.Change.accepted)")
      }
      self = .volume(runtime: runtime, change: line.operands.first, isJSON: isJSON)
    case "open": self = .order(runtime: runtime, ControlRequest(verb: "open", arguments: ["url": .string(line.operands[0])]))
    case "reload": self = .order(runtime: runtime, ControlRequest(verb: "reload"))
    case "metrics": self = .metrics(runtime: runtime, isJSON: isJSON)
    case "restart":
      let part = try Command.word(line.operands[0], "part", among: Services.Part.allCases.map(\.rawValue))
      // Systemd has the app and the box come back, also when the app does not answer any more.
      if part == "app" || part == "box" {
        self = .host(part == "app" ? .restartApp : .reboot)
        return
      }
      self = .order(runtime: runtime, ControlRequest(verb: "restart", arguments: ["part": .string(part)]))
    case "blank":
      let wish = try Command.word(line.operands[0], "state", among: Blanking.Wish.allCases.map(\.rawValue))
      self = .order(runtime: runtime, ControlRequest(verb: "blank", arguments: ["wish": .string(wish)]))
    case "gamma":
      let value = try Command.gamma(line.operands[0])
      self = .order(runtime: runtime, ControlRequest(verb: "gamma", arguments: value.map { ["value": .number($0)] } ?? [:]))
    case "tap":
      let (x, y) = (try Command.pixel(line.operands[0], "X"), try Command.pixel(line.operands[1], "Y"))
      self = .order(runtime: runtime, ControlRequest(verb: "tap", arguments: ["x": .number(x), "y": .number(y)]))
    case "type": self = .order(runtime: runtime, ControlRequest(verb: "type", arguments: ["text": .string(line.operands[0])]))
    case "key": self = .order(runtime: runtime, ControlRequest(verb: "key", arguments: ["name": .string(line.operands[0])]))
    case "version": self = .version(isJSON: isJSON)
    case "logs", "reboot", "config", "update", "factory-reset", "support-bundle", "install-update":
      self = .host(try HostCommand(line, syntax.name, runtime: runtime))
    case "manual": self = .manual(try line.word("--form", Manual.allCases) ?? .page)
    default:
      let verb = line.operands.first
      self = .help(verb: try verb.map { verb throws(Failure) in try Command.word(verb, "verb", among: VerbSyntax.all.map(\.name)) })
    }
  }

  private static func runOptions(_ line: ParsedLine, runtime: String) throws(Failure) -> RunOptions {
    var options = RunOptions()
    options.runtime = runtime
    options.configuration = line.values["--config"] ?? options.configuration
    options.state = line.values["--state"] ?? options.state
    guard let stage = line.values["--stage"] else { return options }
    if stage == "kms" {
      options.output = .kms
      return options
    }
    let parts = stage.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let mode = parts.count == 2 ? Configuration.Display.Mode(String(parts[1])) : nil
    guard parts[0] == "headless", parts.count == 1 || mode != nil else {
      throw Failure(.usage, "--stage: \"\(stage)\" is not accepted; accepted: kms, headless, headless:WIDTHxHEIGHT[@RATE]")
    }
    options.output = .headless(mode)
    return options
  }

  private static func demoOptions(_ line: ParsedLine) throws(Failure) -> DemoOptions {
    var options = DemoOptions()
    options.isJSON = line.flags.contains("--json")
    options.isDirect = line.flags.contains("--direct")
    options.screenshot = line.values["--screenshot"] ?? options.screenshot
    if options.isJSON, options.screenshot == "-" { throw Failure(.usage, "--json and --screenshot - both want the standard output") }
    options.seconds = try seconds("--seconds", line) ?? options.seconds
    return options
  }

  private static func seconds(_ option: String, _ line: ParsedLine) throws(Failure) -> Int? {
    guard let text = line.values[option] else { return nil }
    guard let seconds = Int(text), (1...86_400).contains(seconds) else {
      throw Failure(.usage, "\(option): \"\(text)\" is not accepted; accepted: 1 to 86400")
    }
    return seconds
  }

  /// 0 is `off`.
  private static func identifySeconds(_ text: String) throws(Failure) -> Int {
    if text == "off" { return 0 }
    let range = NoticeServices.identifySeconds
    guard let seconds = Int(text), range.contains(seconds) else {
      throw Failure(.usage, "identify: \"\(text)\" is not accepted; accepted: \(range.lowerBound) to \(range.upperBound), off")
    }
    return seconds
  }

  /// nil is `auto`.
  private static func gamma(_ text: String) throws(Failure) -> Double? {
    if text == "auto" { return nil }
    let range = GammaChoice.range
    guard let value = Double(text), range.contains(value) else {
      throw Failure(.usage, "gamma: \"\(text)\" is not accepted; accepted: \(range.lowerBound) to \(range.upperBound), auto")
    }
    return value
  }

  private static func pixel(_ text: String, _ name: String) throws(Failure) -> Double {
    guard let value = Double(text), (0...16_384).contains(value) else {
      throw Failure(.usage, "\(name): \"\(text)\" is not accepted; accepted: pixels from the screen's upper left corner")
    }
    return value
  }

  static func word(_ text: String, _ what: String, among words: [String]) throws(Failure) -> String {
    guard words.contains(text) else { throw VerbSyntax.unknown(what, text, among: words) }
    return text
  }
}
