import Appliance
import Glibc

/// The login shell of the user `operator`: `parlor` under the name `parlor-shell`. It knows the verbs for operators, and nothing else.
///
/// No verb reads or writes a file of the box by name here: files come by standard input and go by standard output.
enum OperatorShell {
  /// The program's name when it is the shell.
  static let name = "parlor-shell"

  /// Whether a program that was called by this name is the shell. Login shells have a dash in front.
  static func isCalled(_ program: String) -> Bool {
    let file = program.split(separator: "/").last ?? ""
    return file == name || file == "-\(name)"
  }

  /// Understands a line. Exit code 77 for what is not for operators.
  static func command(_ line: String, environment: [String: String]) throws(VerbFailure) -> Command {
    var words = try ShellWords.split(line)
    if words.first == "parlor", words.count > 1 { words.removeFirst() }
    guard let first = words.first else { throw VerbFailure(.usage, "name a verb; help lists them") }
    if !["--help", "-h", "--version"].contains(first) {
      guard let syntax = VerbSyntax.all.first(where: { $0.name == first }) else {
        let nearest = NearestName.find(first, among: VerbSyntax.forOperators.map(\.name)).map { "did you mean \($0)?" }
        throw VerbFailure(.notPermitted, "\"\(first)\" is no verb, and only verbs are run here; \(nearest ?? "help lists them")")
      }
      guard syntax.audience == .operators else { throw VerbFailure(.notPermitted, "\(first) is not for operators") }
      try refuseFiles(in: try ParsedLine(Array(words.dropFirst()), syntax), of: syntax)
    }
    return try Command(words, environment: environment)
  }

  private static func refuseFiles(in line: ParsedLine, of syntax: VerbSyntax) throws(VerbFailure) {
    for option in syntax.options {
      guard let value = line.values[option.name] else { continue }
      if option.value == "DIR" { throw VerbFailure(.notPermitted, "\(option.name) is not for operators") }
      if option.value == "FILE" { try refuse(value) }
    }
    if syntax.name == "config" {
      if line.operands.first == "apply", line.operands.count > 1 { try refuse(line.operands[1]) }
      return
    }
    for (name, operand) in zip(syntax.operands, line.operands) {
      switch name {
      case "FILE": try refuse(operand)
      case "FILE|URL": if !operand.contains("://") { try refuse(operand) }
      default: break
      }
    }
  }

  private static func refuse(_ file: String) throws(VerbFailure) {
    if file == "-" { return }
    throw VerbFailure(.notPermitted, "\(file): no file of the box is used by name; - is the standard input or output")
  }

  // MARK: The prompt

  /// Reads lines until there are no more, or `exit`, and has each done by a process of its own, so that an interrupt ends a verb and not the session.
  /// Returns the last one's exit code.
  static func prompt(write: (String) -> Void) -> ExitCode {
    let isTerminal = isatty(0) != 0
    if isTerminal {
      write("Parlor \(Version.current). help lists the verbs, exit ends.\n")
      signal(SIGINT, SIG_IGN)
      signal(SIGQUIT, SIG_IGN)
    }
    var code: Int32 = 0
    while true {
      if isTerminal { write("parlor> ") }
      guard let line = readLine() else {
        if isTerminal { write("\n") }
        break
      }
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.isEmpty { continue }
      if words.count == 1, ["exit", "quit", "logout"].contains(words[0]) { break }
      code = run(line)
    }
    return ExitCode(rawValue: code) ?? .internalError
  }

  /// A line of the standard input, of which not one byte more is taken: the rest belongs to the verb.
  private static func readLine() -> String? {
    var bytes: [UInt8] = []
    while bytes.count < ControlRequest.maximumLength {
      var byte: UInt8 = 0
      let count = unsafe read(0, &byte, 1)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
      if byte == 10 { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
    return nil
  }

  /// Does one line in a child, and returns its exit code.
  private static func run(_ line: String) -> Int32 {
    var attributes = posix_spawnattr_t()
    var signals = sigset_t()
    unsafe posix_spawnattr_init(&attributes)
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigaddset(&signals, SIGQUIT)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup(name), strdup("-c"), strdup(line), nil]
    defer { for argument in unsafe arguments { unsafe free(argument) } }
    var process: pid_t = 0
    let failure = unsafe posix_spawn(&process, "/proc/self/exe", nil, &attributes, &arguments, environ)
    unsafe posix_spawnattr_destroy(&attributes)
    guard failure == 0 else { return ExitCode.internalError.rawValue }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    // Ended by a signal: an interrupt is how a verb that watches ends.
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 0
  }
}
