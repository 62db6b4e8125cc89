import Call
import FoundationEssentials

/// The verbs that place calls, behind one seam: the command line parses, a runner does.
///
/// Each returns when it has ended, with the process's exit code, and throws what a person should read on the terminal.
public protocol Runner: Sendable {
  /// `parlor run`: the box itself, until it is told to stop.
  func run(_ options: RunOptions) async throws(VerbFailure) -> ExitCode
  /// `parlor demo`: a call to the built-in peer, measured.
  func demo(_ options: DemoOptions) async throws(VerbFailure) -> ExitCode
  /// `parlor peer`: a bare peer on the terminal.
  func peer(_ options: PeerOptions) async throws(VerbFailure) -> ExitCode
}

/// `parlor run`.
public struct RunOptions: Sendable, Equatable {
  /// Where the configuration is when nothing else says so.
  public static let defaultConfiguration = "/etc/parlor/parlor.toml"  // which leads to what `parlor provision` took over
  /// Where state is kept when nothing else says so.
  public static let defaultState = "/var/lib/parlor"

  /// The configuration file's path.
  public var configuration = defaultConfiguration
  /// Where the picture is shown; nil: on monitors where there is a graphics card, else nowhere.
  public var output: Output?
  /// The folder for what outlives a restart.
  public var state = defaultState
  /// The folder for `control.sock`.
  public var runtime = ControlClient.defaultFolder

  /// `parlor run` without options.
  public init() {}

  /// Where a picture can be shown.
  public enum Output: Sendable, Equatable {
    /// On the monitors of a graphics card, through kernel mode setting.
    case kms
    /// Nowhere: it stays in memory, in this size; nil: as the configuration says, else 1920 by 1080 at 60.
    case headless(Configuration.Display.Mode?)

    /// The usual one: on monitors where the configuration names a `card`, which may still come, or one of the devices in `folder` is one.
    public static func usual(card: String?, folder: String = "/dev/dri") -> Output {
      if card != nil { return .kms }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.contains { $0.hasPrefix("card") } ? .kms : .headless(nil)
    }
  }
}

/// `parlor demo`.
public struct DemoOptions: Sendable, Equatable {
  /// Whether the call is a direct one (WHIP and WHEP), and not a page's.
  public var isDirect = false
  /// How long to measure.
  public var seconds = 10
  /// Whether the figures are printed as JSON.
  public var isJSON = false
  /// Where the screen is saved as PNG; `-` is the standard output.
  public var screenshot = "parlor-demo.png"

  /// `parlor demo` without options.
  public init() {}
}

/// Parlor's version.
public enum Version {
  /// The version as text.
  public static let current = "0.1.0"
}
