import Synchronization

/// The process's log sink. Silent until the program installs a sink.
public enum Log {
  /// How much a line matters, with syslog's numbers.
  public enum Level: Int, Sendable, Comparable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7
    public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
  }

  /// Where lines go.
  public typealias Sink = @Sendable (Level, String) -> Void

  private struct State {
    var sink: Sink?
    var level = Level.notice
  }

  private static let state = Mutex(State())

  /// Sends all lines of at least `level` to `sink`, from now on.
  public static func install(level: Level, sink: @escaping Sink) {
    state.withLock { $0 = State(sink: sink, level: level) }
  }

  /// Changes which lines are wanted.
  public static func setLevel(_ level: Level) { state.withLock { $0.level = level } }

  /// Writes one line; `text` is only made when the level is wanted.
  public static func write(_ level: Level, _ text: @autoclosure () -> String) {
    let sink = state.withLock { level <= $0.level ? $0.sink : nil }
    sink?(level, text())
  }

  /// Something failed and a person may have to know.
  public static func error(_ text: @autoclosure () -> String) { write(.error, text()) }
  /// Something is wrong but goes on.
  public static func warning(_ text: @autoclosure () -> String) { write(.warning, text()) }
  /// A normal event worth keeping.
  public static func notice(_ text: @autoclosure () -> String) { write(.notice, text()) }
  /// Detail for somebody who looks.
  public static func info(_ text: @autoclosure () -> String) { write(.info, text()) }
  /// Detail for somebody who develops.
  public static func debug(_ text: @autoclosure () -> String) { write(.debug, text()) }
}
