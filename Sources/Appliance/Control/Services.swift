import FoundationEssentials

/// What a running box does for the operators' verbs: closures of whoever owns stage and calls.
///
/// They are called on the control socket's threads, several at once, and may wait there.
public struct Services: Sendable {
  /// The box as it is now.
  public var status: @Sendable () -> Status
  /// The statistics now, as `parlor stats --json` prints them.
  public var stats: @Sendable () -> any Encodable & Sendable
  /// What the screen shows, as a PNG file's bytes.
  public var screenshot: @Sendable () throws(VerbFailure) -> [UInt8]
  /// Starts the configured call; fails when there is none, or one is under way.
  public var startCall: @Sendable () throws(VerbFailure) -> Void
  /// Ends the call; fails when there is none.
  public var hangUp: @Sendable () throws(VerbFailure) -> Void

  /// A box that does these things.
  public init(
    status: @escaping @Sendable () -> Status, stats: @escaping @Sendable () -> any Encodable & Sendable,
    screenshot: @escaping @Sendable () throws(VerbFailure) -> [UInt8],
    startCall: @escaping @Sendable () throws(VerbFailure) -> Void,
    hangUp: @escaping @Sendable () throws(VerbFailure) -> Void
  ) {
    (self.status, self.stats, self.screenshot, self.startCall, self.hangUp) = (status, stats, screenshot, startCall, hangUp)
  }
}

extension ControlSocket {
  /// Answers `status`, `stats` (`watch`, `interval` in seconds), `screenshot` and `call` (`action`: `start` or `hangup`).
  public func register(_ services: Services) {
    register("status") { _ throws(VerbFailure) in .value(services.status()) }
    register("stats") { request throws(VerbFailure) in
      guard request.arguments["watch"]?.boolean == true else { return .value(services.stats()) }
      let interval = min(60, max(0.01, request.arguments["interval"]?.number ?? 1))
      return .stream(interval: interval, next: services.stats)
    }
    register("screenshot") { _ throws(VerbFailure) in
      let png = try services.screenshot()
      return .value(["png": .string(Data(png).base64EncodedString())] as JSON)
    }
    register("call") { request throws(VerbFailure) in
      switch request.arguments["action"]?.string {
      case "start": try services.startCall()
      case "hangup": try services.hangUp()
      default: throw VerbFailure(.usage, "\"action\" must be \"start\" or \"hangup\"")
      }
      return .value(JSON.null)
    }
  }
}
