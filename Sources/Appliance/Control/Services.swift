import FoundationEssentials

/// What a running box does for the operators' verbs: closures of whoever owns stage and calls.
///
/// They are called on the control socket's threads, several at once, and may wait there.
public struct Services: Sendable {
  /// Does something, or says why it does not.
  public typealias Command<Argument> = @Sendable (Argument) throws(VerbFailure) -> Void

  /// What remote hands do.
  public enum Gesture: Sendable, Equatable {
    /// Touches the screen at this pixel.
    case tap(x: Double, y: Double)
    /// Types text.
    case type(String)
    /// Presses a key, such as `Enter` or `Control+a`.
    case key(String)
  }

  /// What can be restarted.
  public enum Part: String, Sendable, CaseIterable { case page, call, app, box }

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
  /// Shows another page.
  public var open: Command<String>
  /// Loads the page anew.
  public var reload: @Sendable () throws(VerbFailure) -> Void
  /// Ends a part and starts it.
  public var restart: Command<Part>
  /// Does what a person in front of the screen would.
  public var gesture: Command<Gesture>
  /// Makes the display dark or bright, or leaves it to the configuration.
  public var blank: Command<Blanking.Wish>
  /// Makes the display's middle tones lighter or darker, as `GammaChoice.range` says; nil leaves that to the configuration.
  public var gamma: Command<Double?>

  /// A box that does these things.
  public init(
    status: @escaping @Sendable () -> Status, stats: @escaping @Sendable () -> any Encodable & Sendable,
    screenshot: @escaping @Sendable () throws(VerbFailure) -> [UInt8],
    startCall: @escaping @Sendable () throws(VerbFailure) -> Void,
    hangUp: @escaping @Sendable () throws(VerbFailure) -> Void,
    open: @escaping Command<String>, reload: @escaping @Sendable () throws(VerbFailure) -> Void, restart: @escaping Command<Part>,
    gesture: @escaping Command<Gesture>,
    blank: @escaping Command<Blanking.Wish>, gamma: @escaping Command<Double?>
  ) {
    (self.status, self.stats, self.screenshot, self.startCall, self.hangUp) = (status, stats, screenshot, startCall, hangUp)
    (self.open, self.reload, self.restart, self.gesture) = (open, reload, restart, gesture)
    (self.blank, self.gamma) = (blank, gamma)
  }
}

extension ControlSocket {
  /// Answers `status`, `stats` (`watch`, `interval` in seconds), `screenshot`, `call` (`action`: `start` or `hangup`), `open` (`url`), `reload`, `restart` (`part`),
  /// `tap` (`x`, `y` in pixels), `type` (`text`), `key` (`name`), `blank` (`wish`: `on`, `off` or `auto`) and `gamma` (`value`: a number; none: `auto`).
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
    command("call") { request throws(VerbFailure) in
      switch request.arguments["action"]?.string {
      case "start": try services.startCall()
      case "hangup": try services.hangUp()
      default: throw VerbFailure(.usage, "\"action\" must be \"start\" or \"hangup\"")
      }
    }
    command("open") { request throws(VerbFailure) in try services.open(try ControlSocket.text("url", of: request)) }
    command("reload") { _ throws(VerbFailure) in try services.reload() }
    command("restart") { request throws(VerbFailure) in
      guard let part = request.arguments["part"]?.string.flatMap(Services.Part.init) else {
        throw VerbFailure(.usage, "\"part\" must be one of " + Services.Part.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))
      }
      try services.restart(part)
    }
    command("tap") { request throws(VerbFailure) in
      guard let x = request.arguments["x"]?.number, let y = request.arguments["y"]?.number, x.isFinite, y.isFinite else {
        throw VerbFailure(.usage, "\"x\" and \"y\" must be numbers")
      }
      try services.gesture(.tap(x: x, y: y))
    }
    command("type") { request throws(VerbFailure) in try services.gesture(.type(try ControlSocket.text("text", of: request))) }
    command("blank") { request throws(VerbFailure) in
      guard let wish = request.arguments["wish"]?.string.flatMap(Blanking.Wish.init) else {
        throw VerbFailure(.usage, "\"wish\" must be one of " + Blanking.Wish.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))
      }
      try services.blank(wish)
    }
    command("gamma") { request throws(VerbFailure) in
      guard let wanted = request.arguments["value"] else { return try services.gamma(nil) }
      let range = GammaChoice.range
      guard let value = wanted.number, range.contains(value) else {
        throw VerbFailure(.usage, "\"value\" must be \(range.lowerBound) to \(range.upperBound)")
      }
      try services.gamma(value)
    }
    command("key") { request throws(VerbFailure) in try services.gesture(.key(try ControlSocket.text("name", of: request))) }
  }

  /// A verb that answers nothing when all is well.
  private func command(_ verb: String, _ body: @escaping @Sendable (ControlRequest) throws(VerbFailure) -> Void) {
    register(verb) { request throws(VerbFailure) in
      try body(request)
      return .value(JSON.null)
    }
  }

  private static func text(_ name: String, of request: ControlRequest) throws(VerbFailure) -> String {
    guard let text = request.arguments[name]?.string, !text.isEmpty else { throw VerbFailure(.usage, "\"\(name)\" must be a text") }
    return text
  }
}
