import Appliance
import Base
import Glibc

@main struct Main {
  static func main() async {
    // A reader that goes away is an error of that one write.
    signal(SIGPIPE, SIG_IGN)
    let isShell = OperatorShell.isCalled(CommandLine.arguments.first ?? "")
    var code = ExitCode.ok
    do throws(VerbFailure) {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if isShell, arguments.isEmpty { exit(OperatorShell.prompt { write($0, to: 1) }.rawValue) }
      code = try await perform(try isShell ? shellCommand(arguments) : Command(arguments, environment: environment()), isShell: isShell)
    } catch {
      write("parlor: \(error)\n", to: 2)
      if error.exitCode == .usage { write(isShell ? "help explains the verbs.\n" : "parlor help explains the verbs.\n", to: 2) }
      code = error.exitCode
    }
    exit(code.rawValue)
  }

  /// What a login shell is asked to do: `-c LINE`.
  private static func shellCommand(_ arguments: [String]) throws(VerbFailure) -> Command {
    guard arguments.count == 2, arguments[0] == "-c" else { throw VerbFailure(.notPermitted, "the shell takes -c and a line, or nothing") }
    return try OperatorShell.command(arguments[1], environment: environment())
  }

  /// The verb's exit code.
  private static func perform(_ command: Command, isShell: Bool) async throws(VerbFailure) -> ExitCode {
    switch command {
    case .help(let verb):
      write(VerbSyntax.all.first { $0.name == verb }?.text ?? (isShell ? VerbSyntax.shellOverview : VerbSyntax.overview), to: 1)
    case .version(let isJSON): write(isJSON ? "{\"version\":\"\(Version.current)\"}\n" : "parlor \(Version.current)\n", to: 1)
    case .run(let options): return try await runner.run(options)
    case .provision(let folder, let root):
      logToStandardError()
      return try Provision(root: root).run(from: folder)
    case .confirm(let runtime, let patience):
      logToStandardError()
      return Confirmation(runtime: runtime, patience: .seconds(Int64(patience))).run()
    case .keepConnections: return try ConnectionKeeper().run()
    case .demo(let options): return try await runner.demo(options)
    case .peer(let options): return try await runner.peer(options)
    case .check(let file, let includesDevices, let runtime, let isJSON):
      return try await Verbs.check(file: file, includesDevices: includesDevices, runtime: runtime, isJSON: isJSON, output: output)
    case .manual(let form): write(form.text, to: 1)
    case .describe(let form): write(try form.text, to: 1)
    case .status(let runtime, let isJSON): try Verbs(runtime: runtime, isJSON: isJSON, asker: asker, output: output).status()
    case .stats(let runtime, let isWatching, let isJSON):
      try Verbs(runtime: runtime, isJSON: isJSON, asker: asker, output: output).stats(isWatching: isWatching)
    case .screenshot(let runtime, let file): try Verbs(runtime: runtime, asker: asker, output: output).screenshot(file: file)
    case .call(let runtime, let action): try Verbs(runtime: runtime, asker: asker, output: output).call(action: action)
    case .volume(let runtime, let change, let isJSON):
      try Verbs(runtime: runtime, isJSON: isJSON, asker: asker, output: output).volume(change: change)
    case .metrics(let runtime, let isJSON): try Verbs(runtime: runtime, isJSON: isJSON, asker: asker, output: output).metrics()
    case .host(let command): return try await command.perform(on: HostSystem(asker: asker), output: output)
    case .order(let runtime, let request): try Verbs(runtime: runtime, asker: asker, output: output).order(request)
    }
    return .ok
  }

  /// Lines as systemd's journal takes them, with their levels.
  private static func logToStandardError() { Log.install(level: .notice) { write("<\($0.rawValue)>\($1)\n", to: 2) } }

  /// Who places calls.
  private static let runner = LocalRunner(output: output, progress: { write($0 + "\n", to: 2) })

  /// On whose behalf.
  private static let asker = Asker.current(environment: environment())

  private static let output: Verbs.Output = { write($0, to: 1) }

  private static func write(_ text: String, to descriptor: Int32) { _ = write(Array(text.utf8), to: descriptor) }

  /// Writes all bytes; false when nobody reads them.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func environment() -> [String: String] {
    var result: [String: String] = [:]
    for name in ["PARLOR_RUNTIME", "SSH_CONNECTION", "SSH_USER_AUTH"] {
      if let value = unsafe getenv(name) { result[name] = unsafe String(cString: value) }
    }
    return result
  }
}
