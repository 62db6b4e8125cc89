import Base
import Foundation
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
  @Sendable static func report(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
