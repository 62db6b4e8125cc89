import Base
import FoundationEssentials

/// What `parlor-page` is told on its command line.
public struct HostOptions: Sendable, Equatable {
  /// The folder with `bridge.sock`, as an absolute path.
  public var runtimeFolder: String
  /// The compositor's socket: a name in the runtime folder, or an absolute path.
  public var display = "wayland-0"
  /// The folder with the page extension, and nothing else that WebKit would take for one.
  public var extensionFolder: String
  /// Where the picture is written, as a PNG, at each SIGUSR2; nil: nowhere.
  public var pictureFile: String?
  /// What is written to the log.
  public var logLevel = Log.Level.notice
  /// What `host.hello` says.
  public var version = "0.1"

  /// Options with the usual display, and the extension in the folder of the program.
  public init(runtimeFolder: String) {
    self.runtimeFolder = runtimeFolder
    extensionFolder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
  }

  /// Wrong use of the command line.
  public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong.
    public var description: String
  }

  /// How the program is called.
  public static let usage =
    "usage: parlor-page --runtime DIR [--display NAME|PATH] [--extension DIR] [--log-level error|warning|notice|info|debug]"

  /// Reads the arguments behind the program's name.
  public static func parse(_ arguments: [String]) throws(UsageError) -> Self {
    var values: [String: String] = [:]
    var rest = arguments[...]
    while let name = rest.popFirst() {
      guard ["--runtime", "--display", "--extension", "--picture", "--log-level"].contains(name) else {
        throw UsageError(description: "\(name) is no option")
      }
      guard let value = rest.popFirst() else { throw UsageError(description: "\(name) needs a value") }
      guard values.updateValue(value, forKey: name) == nil else { throw UsageError(description: "\(name) is given twice") }
    }
    guard let runtime = values["--runtime"] else { throw UsageError(description: "--runtime is missing") }
    var options = Self(runtimeFolder: absolute(runtime))
    if let display = values["--display"] { options.display = display }
    if let folder = values["--extension"] { options.extensionFolder = absolute(folder) }
    options.pictureFile = values["--picture"].map(absolute)
    if let name = values["--log-level"] {
      let levels: [String: Log.Level] = ["error": .error, "warning": .warning, "notice": .notice, "info": .info, "debug": .debug]
      guard let level = levels[name] else {
        throw UsageError(description: "--log-level: \(name) is none of \(levels.keys.sorted().joined(separator: ", "))")
      }
      options.logLevel = level
    }
    return options
  }

  private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }

  /// The compositor's socket as an absolute path.
  var displayPath: String { display.hasPrefix("/") ? display : "\(runtimeFolder)/\(display)" }
  /// The bridge's socket.
  var bridgePath: String { "\(runtimeFolder)/bridge.sock" }
}
