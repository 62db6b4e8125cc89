/// What a running box does for the verbs that are about what it shows and plays by itself.
///
/// The closures are called on the control socket's threads, several at once, and may wait there.
public struct NoticeServices: Sendable {
  /// Shows who the box is for so many seconds; nil takes that off.
  public var identify: Services.Command<Int?>
  /// Shows the latency overlay, or takes it off.
  public var showOverlay: Services.Command<Bool>
  /// Changes the volume if a change is given, and says what it is then.
  public var volume: @Sendable (Volume.Change?) throws(VerbFailure) -> Volume

  /// A box that does these things.
  public init(
    identify: @escaping Services.Command<Int?>, showOverlay: @escaping Services.Command<Bool>,
    volume: @escaping @Sendable (Volume.Change?) throws(VerbFailure) -> Volume
  ) { (self.identify, self.showOverlay, self.volume) = (identify, showOverlay, volume) }

  /// For how many seconds a box may show who it is.
  public static let identifySeconds = 1...3_600
  /// For how many seconds it does when nothing else is said.
  public static let defaultIdentifySeconds = 60
}

extension ControlSocket {
  /// Answers `identify` (`seconds`; 0 takes it off), `overlay` (`on`) and `volume` (`change`: `N`, `+N`, `-N` or `mute`; none: nothing is changed).
  public func register(_ services: NoticeServices) {
    register("identify") { request throws(VerbFailure) in
      var seconds = NoticeServices.defaultIdentifySeconds
      if let wanted = request.arguments["seconds"] {
        guard case .integer(let number) = wanted, number == 0 || NoticeServices.identifySeconds.contains(Int(clamping: number)) else {
          let range = NoticeServices.identifySeconds
          throw VerbFailure(.usage, "\"seconds\" must be 0 or \(range.lowerBound) to \(range.upperBound)")
        }
        seconds = Int(number)
      }
      try services.identify(seconds == 0 ? nil : seconds)
      return .value(JSON.null)
    }
    register("overlay") { request throws(VerbFailure) in
      guard let isOn = request.arguments["on"]?.boolean else { throw VerbFailure(.usage, "\"on\" must be true or false") }
      try services.showOverlay(isOn)
      return .value(JSON.null)
    }
    register("volume") { request throws(VerbFailure) in
      guard let text = request.arguments["change"] else { return .value(try services.volume(nil)) }
      guard let change = text.string.flatMap({ Volume.Change($0) }) else {
        throw VerbFailure(.usage, "\"change\" must be one of \(Volume.Change.accepted)")
      }
      return .value(try services.volume(change))
    }
  }
}
