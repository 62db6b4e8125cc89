import Base
import Glibc
import PageHost

@main
struct Main {
  static func main() {
    let options: HostOptions
    do { options = try HostOptions.parse(Array(CommandLine.arguments.dropFirst())) } catch {
      report("\(error)\n\(HostOptions.usage)")
      exit(64)
    }
    Log.install(level: options.logLevel) { level, text in report("<\(level.rawValue)>\(text)") }
    do {
      try PageHost(options: options).run()
    } catch {
      Log.error("\(error)")
      exit(69)
    }
  }

  /// One line on the error stream.
  @Sendable static func report(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
