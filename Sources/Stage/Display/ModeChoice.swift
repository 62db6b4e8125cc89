/// The mode that one monitor is driven in, and why.
struct ModeChoice: Hashable {
  /// The mode.
  var mode: DisplayMode
  /// Why it is this one.
  var source: OutputPlan.ModeSource
  /// What the site wants and does not get.
  var problem: OutputProblem?

  /// What a monitor gets that does not say what it takes, when nobody else says it either.
  private static let last = RequestedMode(width: 1024, height: 768, rate: 60)
  /// Rates nearer than this to what was asked for are what was asked for: 59.94 is 60.
  private static let tolerance = 1.0

  /// Chooses for a monitor; nil: it has no mode that can be used.
  ///
  /// `mirrored` is the mode of the monitor whose picture this one repeats; `rejected` are timings that the driver refused.
  init?(_ connector: ConnectorSnapshot, requested: RequestedMode?, mirrored: DisplayMode?, rejected: Set<Timings>) {
    let usable = connector.modes.filter { mode in
      mode.width > 0 && mode.height > 0 && mode.refresh > 0 && mode.timings.flags.isDisjoint(with: .stereo)
        && !rejected.contains(mode.timings)
    }
    let isUnknown = !connector.hasEDID && !connector.isBuiltIn

    if let mirrored, let same = ModeChoice.nearest(usable, width: mirrored.width, height: mirrored.height, rate: mirrored.refresh) {
      self.init(mode: same, source: .mirrored)
      return
    }
    if let requested {
      let offered = ModeChoice.nearest(usable, width: requested.width, height: requested.height, rate: requested.rate)
      if let offered, requested.rate.map({ abs(offered.refresh - $0) <= ModeChoice.tolerance }) ?? true {
        self.init(mode: offered, source: .configured)
        return
      }
      if isUnknown, let made = ModeChoice.made(requested, rejected: rejected) {
        self.init(mode: made, source: .configured)
        return
      }
      if let offered {
        self.init(mode: offered, source: .configured)
        problem = .modeNotOffered(connector: connector.name, requested: requested, used: offered)
        return
      }
    }
    if let preferred = usable.first(where: \.isPreferred) {
      // Without an EDID it is the driver's guess.
      self.init(mode: preferred, source: isUnknown ? .fallback : .preferred)
    } else if let largest = usable.max(by: { ModeChoice.rank($0) < ModeChoice.rank($1) }) {
      self.init(mode: largest, source: .fallback)
    } else if isUnknown, let made = ModeChoice.made(ModeChoice.last, rejected: rejected) {
      self.init(mode: made, source: .fallback)
    } else {
      return nil
    }
    if let requested {
      problem = .modeNotOffered(connector: connector.name, requested: requested, used: mode)
    }
  }

  private init(mode: DisplayMode, source: OutputPlan.ModeSource) { (self.mode, self.source, problem) = (mode, source, nil) }

  /// The mode of this size whose rate is nearest; without a rate, the preferred one, else the nearest to 60. Progressive ones go first.
  private static func nearest(_ modes: [DisplayMode], width: Int, height: Int, rate: Double?) -> DisplayMode? {
    let sized = modes.filter { $0.width == width && $0.height == height }
    if rate == nil, let preferred = sized.first(where: \.isPreferred) { return preferred }
    let goal = rate ?? 60
    return sized.min { one, other in
      one.isInterlaced == other.isInterlaced ? abs(one.refresh - goal) < abs(other.refresh - goal) : other.isInterlaced
    }
  }

  /// A mode that nobody offered, for a monitor that does not say what it takes.
  private static func made(_ requested: RequestedMode, rejected: Set<Timings>) -> DisplayMode? {
    let timings = StandardTimings.timings(width: requested.width, height: requested.height, rate: requested.rate ?? 60)
    guard !rejected.contains(timings) else { return nil }
    return DisplayMode(name: "\(timings.horizontal.active)x\(timings.vertical.active)", timings: timings)
  }

  /// Larger is better: progressive, many pixels, about 60 a second.
  private static func rank(_ mode: DisplayMode) -> (Int, Int, Double) {
    (mode.isInterlaced ? 0 : 1, mode.width * mode.height, -abs(mode.refresh - 60))
  }
}
