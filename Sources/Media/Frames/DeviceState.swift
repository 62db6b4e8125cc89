/// How a camera, a microphone or a loudspeaker stands. A device that does not run is tried again without end.
public enum DeviceState: Sendable, Equatable, CustomStringConvertible {
  /// It is being looked for or opened.
  case starting
  /// It gives or takes media. `name` is what people call it.
  case running(name: String)
  /// It is not there. `reason` names what was looked for.
  case absent(reason: String)
  /// Another program holds it.
  case busy(reason: String)
  /// It is there and does not work; `reason` is the system's, or says what it failed to do in time.
  case failed(reason: String)

  /// Whether media flows.
  public var isRunning: Bool { if case .running = self { true } else { false } }

  /// One word for status reports.
  public var word: String {
    switch self {
    case .starting: "starting"
    case .running: "running"
    case .absent: "absent"
    case .busy: "busy"
    case .failed: "failed"
    }
  }

  /// What there is to know beside the word; nil while all is well.
  public var reason: String? {
    switch self {
    case .starting, .running: nil
    case .absent(let reason), .busy(let reason), .failed(let reason): reason
    }
  }

  public var description: String { reason.map { "\(word): \($0)" } ?? word }
}
