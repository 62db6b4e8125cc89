import Appliance

/// How one verb is written.
struct VerbSyntax {
  /// An option of a verb.
  struct Option {
    /// The name, dashes included.
    var name: String
    /// What the value is called in the help text; nil: the option is a flag.
    var value: String?
    var help: String
  }

  /// Whom a verb is for.
  enum Audience {
    /// Those who look after boxes, over SSH.
    case operators
    /// Whoever has a shell on the machine: an operator's shell does not know the verb.
    case administrators
  }

  var name: String
  var audience = Audience.operators
  var summary: String
  var options: [Option] = []
  /// What the operands are called in the help text.
  var operands: [String] = []
  /// How many of them must be there.
  var requiredOperands: Int?
  /// More to know, in paragraphs.
  var details: [String] = []

  static let help = Option(name: "--help", help: "Explain the verb.")
  static let json = Option(name: "--json", help: "Write JSON.")
  static let runtime = Option(name: "--runtime", value: "DIR", help: "The folder of control.sock (else PARLOR_RUNTIME, else /run/parlor).")
  static let configuration = Option(name: "--config", value: "FILE", help: "The configuration (else /etc/parlor/parlor.toml).")

  /// Every verb, in the order of the help text.
  static let all: [VerbSyntax] = [
    VerbSyntax(
      name: "run", audience: .administrators, summary: "Be the box: show the screen, place the call, answer the other verbs.",
      options: [
        configuration,
        Option(
          name: "--stage", value: "STAGE", help: "The screen: kms (monitors), headless or headless:WIDTHxHEIGHT[@RATE]; else what there is."
        ),
        Option(name: "--state", value: "DIR", help: "The folder for what outlives a restart (else /var/lib/parlor)."), runtime,
      ]),
    VerbSyntax(
      name: "provision", audience: .administrators,
      summary: "Set the box up with what is new on its PARLOR partition and on USB sticks. For root, once at each start.",
      options: [
        Option(name: "--from", value: "DIR", help: "Take parlor.toml and what lies beside it from there instead."),
        Option(name: "--root", value: "DIR", help: "The folder that stands for /, to look at what would be written."),
      ]),
    VerbSyntax(
      name: "confirm", audience: .administrators,
      summary: "Watch the box until it is well, and mark its version good. For root, once at each start.",
      options: [
        Option(name: "--patience", value: "N", help: "Seconds for which a new version may be unwell in one start (else 600)."), runtime,
      ]),
    VerbSyntax(
      name: "keep-connections", audience: .administrators,
      summary: "Have NetworkManager try again what it gave up, and note why there is no network. For root, as parlor-connections.service."),
    VerbSyntax(
      name: "demo", audience: .administrators, summary: "Have a page call the built-in peer and print what was measured.",
      options: [
        Option(name: "--direct", help: "A direct call by WHIP and WHEP, without a page."),
        Option(name: "--seconds", value: "N", help: "How long to measure (else 10)."),
        Option(name: "--screenshot", value: "FILE", help: "Where the screen is saved as PNG (else parlor-demo.png)."), json,
      ]),
    VerbSyntax(
      name: "peer", audience: .administrators,
      summary: "Be a bare peer: descriptions and candidates as JSON lines on standard input and output.",
      options: [
        Option(name: "--offer", help: "Make the offer (the default)."), Option(name: "--answer", help: "Wait for an offer."),
        Option(name: "--codec", value: "C", help: "The only video codec: VP8 or H264 (else all)."),
        Option(name: "--packetization-mode", value: "N", help: "Of H264: 1 (else) or 0."),
        Option(name: "--audio", value: "C", help: "The only audio codec: opus, PCMU or PCMA (else all), or none."),
        Option(name: "--video", value: "on|off", help: "Whether there is video (else on)."),
        Option(name: "--data", value: "on|off", help: "Whether there is a data channel (else on)."),
        Option(name: "--direction", value: "D", help: "sendrecv (else), sendonly or recvonly."),
        Option(name: "--seconds", value: "N", help: "How long the call lasts once connected (else 5)."),
        Option(name: "--timeout", value: "N", help: "How long to wait for a connection (else 30)."),
        Option(name: "--ice-server", value: "URL[,USER,PASSWORD]", help: "A STUN or TURN server; may be given again."),
        Option(name: "--ca", value: "FILE", help: "Certificate authorities for TURN over TLS; may be given again."),
        Option(name: "--relay-only", help: "Only relayed candidates."),
        Option(name: "--conceal", help: "Candidates bear mDNS names."),
        Option(name: "--size", value: "WxH", help: "Size of the synthetic camera's pictures (else 640x360)."),
        Option(name: "--rate", value: "N", help: "Its pictures a second (else 30)."),
        Option(name: "--bitrate", value: "N", help: "Bits per second of video (else 1500000)."),
        Option(name: "--record", value: "FILE", help: "Keep the received pictures as Y4M."),
      ]),
    VerbSyntax(
      name: "check",
      summary: "Say whether a configuration is valid, and all that is wrong with it; --config - reads it from standard input.",
      options: [
        configuration,
        Option(name: "--devices", help: "Test too whether camera, sound, screen, network, servers and clock work, and files are there."),
        Option(name: "--describe", value: "FORM", help: "Write down all keys instead: schema (JSON), reference or table (Markdown)."),
        runtime, json,
      ]),
    VerbSyntax(name: "status", summary: "Say how the box is.", options: [runtime, json]),
    VerbSyntax(
      name: "stats", summary: "Write the statistics of calls and pictures.",
      options: [Option(name: "--watch", help: "Again and again, once a second."), runtime, json]),
    VerbSyntax(name: "metrics", summary: "Write figures in Prometheus' text format.", options: [runtime, json]),
    VerbSyntax(
      name: "logs", summary: "Write what the box's units have written down, the last 200 lines.",
      options: [
        Option(name: "--follow", help: "Go on with new lines as they come."),
        Option(name: "--lines", value: "N", help: "At most so many lines."),
        Option(name: "--since", value: "TIME", help: "From then on, as -1h, today or \"2026-11-30 12:00\"."), json,
      ]),
    VerbSyntax(
      name: "screenshot", summary: "Save what the screen shows as PNG; - is the standard output.", options: [runtime], operands: ["FILE"]),
    VerbSyntax(
      name: "identify", summary: "Show on the screen who the box is, for a minute or SECONDS, or end that.", options: [runtime],
      operands: ["SECONDS|off"], requiredOperands: 0),
    VerbSyntax(
      name: "overlay", summary: "Show delays and rates in a corner of the screen, or take them off.", options: [runtime],
      operands: ["on|off"]),
    VerbSyntax(
      name: "volume", summary: "Say how loud the box is, after changing it: to N percent, by +N or -N, or muted and back.",
      options: [runtime, json], operands: ["N|+N|-N|mute"], requiredOperands: 0),
    VerbSyntax(name: "call", summary: "Start the configured call, or end it.", options: [runtime], operands: ["start|hangup"]),
    VerbSyntax(
      name: "open", summary: "Show another page of the origins that navigation may lead to.", options: [runtime], operands: ["URL"]),
    VerbSyntax(name: "reload", summary: "Load the page anew.", options: [runtime]),
    VerbSyntax(
      name: "restart", summary: "End a part of the box and have it come back.", options: [runtime], operands: ["page|call|app|box"]),
    VerbSyntax(name: "reboot", summary: "Start the machine anew, as restart box does."),
    VerbSyntax(
      name: "config",
      summary:
        "Write the configuration or one key of it, secrets left out; change a key or take it out; or set the box up with another file.",
      options: [json], operands: ["get|set|unset|apply", "KEY|FILE", "VALUE"], requiredOperands: 1,
      details: [
        "get [KEY] writes the file, or the value of KEY, such as display.rotate or network.wifi[0].ssid.",
        "set KEY VALUE changes one key and leaves the rest as it is, comments too. VALUE is taken byte for byte, without quotes where a text is wanted; - is the first line of the standard input, for secrets.",
        "unset KEY takes a key out of the file, after which its default holds; or a whole table, or an entry of a list, as network.wifi[0].",
        "apply FILE sets the box up with the file; - is the standard input. Secrets that the file does not hold, as config get writes it, are kept. A wrong file changes nothing, and everything that is wrong with it is told.",
      ]),
    VerbSyntax(
      name: "update", summary: "Install an update and restart into it when no call is under way.",
      options: [Option(name: "--allow-downgrade", help: "Install it even if it is older than what runs."), json], operands: ["FILE|URL"],
      details: [
        "The update is installed beside what runs, which goes on meanwhile. The verb tells how far it is and ends when it is installed; the update goes on when the verb is ended before."
      ]),
    VerbSyntax(
      name: "factory-reset", summary: "Forget the configuration, secrets, logs and keys of the box, and start anew.",
      options: [Option(name: "--yes", help: "Really.")]),
    VerbSyntax(
      name: "support-bundle", summary: "Save state, figures, logs and configuration as a gzipped tar archive, secrets removed.",
      options: [
        Option(name: "--config", value: "FILE", help: "The configuration that the box runs with (else as it was set up)."), runtime,
      ],
      operands: ["FILE"]),
    VerbSyntax(
      name: "blank", summary: "Make the display dark or bright until the schedule's next change, or leave it to the configuration.",
      options: [runtime], operands: ["on|off|auto"]),
    VerbSyntax(
      name: "gamma", summary: "Make what lies between black and white lighter (above 1) or darker until the schedule's next change.",
      options: [runtime], operands: ["N|auto"]),
    VerbSyntax(name: "tap", summary: "Touch the screen from afar, in pixels.", options: [runtime], operands: ["X", "Y"]),
    VerbSyntax(name: "type", summary: "Type text from afar.", options: [runtime], operands: ["TEXT"]),
    VerbSyntax(name: "key", summary: "Press a key from afar, such as Enter or Control+a.", options: [runtime], operands: ["NAME"]),
    VerbSyntax(
      name: "install-update", audience: .administrators,
      summary: "Install what parlor update has asked for. For root, as parlor-update.service."),
    VerbSyntax(
      name: "manual", audience: .administrators, summary: "Write the manual page of the verbs, or completion for a shell.",
      options: [Option(name: "--form", value: "FORM", help: "page (else): parlor(1); bash: completion.")]),
    VerbSyntax(name: "version", summary: "Write the version.", options: [json]),
    VerbSyntax(name: "help", summary: "Explain the verbs, or one of them.", operands: ["VERB"], requiredOperands: 0),
  ]

  /// The verbs that an operator's shell knows.
  static var forOperators: [VerbSyntax] { all.filter { $0.audience == .operators } }

  /// The error for a name that is not known, with the one that comes nearest.
  static func unknown(_ what: String, _ name: String, among names: [String]) -> VerbFailure {
    let nearest = NearestName.find(name, among: names)
    let hint = nearest.map { "did you mean \($0)?" } ?? "accepted: " + names.joined(separator: ", ")
    return VerbFailure(.usage, "unknown \(what) \"\(name)\"; \(hint)")
  }

  var usage: String {
    let words = operands.enumerated().map { $0 < requiredOperands ?? operands.count ? " \($1)" : " [\($1)]" }.joined()
    return "parlor \(name)\(options.isEmpty ? "" : " [OPTIONS]")\(words)"
  }

  /// The verb's help text.
  var text: String {
    var lines = ["usage: \(usage)", "", summary] + details.flatMap { ["", $0] }
    if !options.isEmpty { lines += ["", "options:"] }
    for option in options + (options.isEmpty ? [] : [VerbSyntax.help]) {
      let left = option.name + (option.value.map { " \($0)" } ?? "")
      lines.append("  " + left + String(repeating: " ", count: max(1, 28 - left.count)) + option.help)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The help text of all verbs.
  static var overview: String { overview(of: all, usage: "parlor VERB [OPTIONS]", help: "parlor help VERB") }

  /// The help text of an operator's shell.
  static var shellOverview: String { overview(of: forOperators, usage: "VERB [OPTIONS]", help: "help VERB") }

  private static func overview(of syntaxes: [VerbSyntax], usage: String, help: String) -> String {
    let width = syntaxes.map(\.name.count).max() ?? 0
    let verbs = syntaxes.map { "  " + $0.name + String(repeating: " ", count: width - $0.name.count + 2) + $0.summary }
    let lines =
      ["usage: \(usage)", ""] + verbs + [
        "", "\(help) explains a verb.",
        "Exit codes: 0 fine, 64 usage, 65 bad data, 69 unavailable, 70 internal, 73 cannot write, 77 not permitted, 78 bad configuration.",
      ]
    return lines.joined(separator: "\n") + "\n"
  }
}

/// The arguments behind a verb, sorted.
struct ParsedLine {
  var flags: Set<String> = []
  var values: [String: String] = [:]
  /// Every value of the options that may be given again.
  var lists: [String: [String]] = [:]
  var operands: [String] = []

  /// Sorts `arguments` as `syntax` says. `--name VALUE` and `--name=VALUE` are the same, `--` ends the options, `-` is an operand.
  init(_ arguments: [String], _ syntax: VerbSyntax) throws(VerbFailure) {
    var rest = arguments[...]
    var isPastOptions = false
    while let argument = rest.popFirst() {
      // A negative number is no option.
      let isNumber = argument.dropFirst().first?.isNumber ?? false
      if isPastOptions || !argument.hasPrefix("-") || argument == "-" || isNumber {
        operands.append(argument)
      } else if argument == "--" {
        isPastOptions = true
      } else if argument == "-h" {
        flags.insert("--help")
      } else {
        try take(argument, &rest, syntax)
      }
    }
    if flags.contains("--help") { return }
    let required = syntax.requiredOperands ?? syntax.operands.count
    if operands.count < required { throw VerbFailure(.usage, "\(syntax.name): \(syntax.operands[operands.count]) is missing") }
    if operands.count > syntax.operands.count {
      throw VerbFailure(.usage, "\(syntax.name): \"\(operands[syntax.operands.count])\" is one argument too many")
    }
  }

  private mutating func take(_ argument: String, _ rest: inout ArraySlice<String>, _ syntax: VerbSyntax) throws(VerbFailure) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let options = syntax.options + [VerbSyntax.help]
    guard let option = options.first(where: { $0.name == parts[0] }) else {
      throw VerbSyntax.unknown("option", parts[0], among: options.map(\.name))
    }
    let isRepeatable = option.help.hasSuffix("may be given again.")
    guard flags.insert(option.name).inserted || isRepeatable else { throw VerbFailure(.usage, "\(option.name) is given twice") }
    guard let name = option.value else {
      if parts.count == 2 { throw VerbFailure(.usage, "\(option.name) takes no value") }
      return
    }
    let value = parts.count == 2 ? parts[1] : rest.popFirst()
    guard let value, !value.isEmpty else { throw VerbFailure(.usage, "\(option.name) needs a value: \(name)") }
    values[option.name] = value
    lists[option.name, default: []].append(value)
  }
}
