/// A stable name of something that is wrong: its area, a dot, and what. New ones may come, none changes its meaning.
public struct HealthCode: RawRepresentable, Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name, such as `network.down`.
  public let rawValue: String

  /// The code with this name.
  public init(rawValue: String) { self.rawValue = rawValue }

  public var description: String { rawValue }
  public static func < (a: HealthCode, b: HealthCode) -> Bool { a.rawValue < b.rawValue }

  /// The configuration file cannot be used.
  public static let configurationInvalid = HealthCode(rawValue: "config.invalid")
  /// No interface has an address.
  public static let networkDown = HealthCode(rawValue: "network.down")
  /// The camera is not there.
  public static let cameraAbsent = HealthCode(rawValue: "camera.absent")
  /// The camera stopped delivering.
  public static let cameraFailed = HealthCode(rawValue: "camera.failed")
  /// The microphone is not there.
  public static let microphoneAbsent = HealthCode(rawValue: "microphone.absent")
  /// The loudspeaker is not there.
  public static let speakerAbsent = HealthCode(rawValue: "speaker.absent")
  /// The other side does not accept the token.
  public static let callUnauthorized = HealthCode(rawValue: "call.unauthorized")
  /// The other side forbids the call.
  public static let callForbidden = HealthCode(rawValue: "call.forbidden")
  /// There is no such room.
  public static let callNotFound = HealthCode(rawValue: "call.not-found")
  /// The server does not answer.
  public static let callUnreachable = HealthCode(rawValue: "call.unreachable")
  /// The server answered, but no media path was found in time.
  public static let callTimeout = HealthCode(rawValue: "call.timeout")
  /// An established call broke off.
  public static let callLost = HealthCode(rawValue: "call.lost")
  /// The other side's answer makes no sense.
  public static let callProtocol = HealthCode(rawValue: "call.protocol")
  /// The server's certificate is not trusted.
  public static let callTLS = HealthCode(rawValue: "call.tls")
  /// The clock is not set.
  public static let clockUnset = HealthCode(rawValue: "clock.unset")

  /// The part before the dot.
  public var area: String { String(rawValue.prefix { $0 != "." }) }

  /// Whether the box can do its work in spite of it.
  public var isBearable: Bool { ["camera", "microphone", "speaker", "clock"].contains(area) }

  /// A few words for whoever stands in front of the box.
  public var title: String {
    switch self {
    case .configurationInvalid: "Not set up correctly"
    case .networkDown: "No network"
    case .cameraAbsent, .cameraFailed: "No camera"
    case .microphoneAbsent: "No microphone"
    case .speakerAbsent: "No loudspeaker"
    case .callUnauthorized, .callForbidden: "Not allowed to call"
    case .callNotFound: "The room was not found"
    case .callUnreachable: "The other side cannot be reached"
    case .callTimeout, .callLost: "The connection failed"
    case .clockUnset: "The clock is not set"
    default: area == "call" ? "The call failed" : "Something is wrong"
    }
  }
}
