/// Which monitors show the picture, each on which CRTC and in which mode.
struct OutputPlan: Hashable, Sendable {
  /// A monitor that shows the picture.
  struct Output: Hashable, Sendable {
    /// The connector's number.
    var connector: UInt32
    /// The connector's name, such as `HDMI-A-1`.
    var name: String
    /// The CRTC that drives it.
    var crtc: CRTCSnapshot
    /// How it is driven.
    var mode: DisplayMode
    /// Why in this mode.
    var source: ModeSource
  }

  /// Why a monitor is driven in a mode.
  enum ModeSource: String, Hashable, Sendable {
    /// The configuration says so.
    case configured
    /// The monitor prefers it.
    case preferred
    /// Nobody said anything: the largest one, or the one that the driver guessed.
    case fallback
    /// It has the size of the first monitor's mode, whose picture it repeats.
    case mirrored
  }

  /// The monitors that show the picture. The first one's mode decides the picture's size; the others repeat it.
  var outputs: [Output] = []
  /// What stands in the way of what the site wants.
  var problems: [OutputProblem] = []

  /// The monitor that decides the picture's size; nil: there is none, and the picture waits for one.
  var primary: Output? { outputs.first }
}

/// Why a monitor is not used, or not as the site wants it.
enum OutputProblem: Error, Hashable, Sendable {
  /// The named connector does not exist on this card; `present` are those that do, with whether they are connected.
  case absent(connector: String, connected: [String], present: [String])
  /// The named connector has no monitor: it is waited for.
  case disconnected(connector: String)
  /// There is no monitor at all: one is waited for.
  case nothingConnected
  /// The monitor offers no mode that can be used.
  case noMode(connector: String)
  /// Other monitors have all the CRTCs that could drive it.
  case noCRTC(connector: String)
  /// The monitor does not offer the configured mode; `used` is driven instead.
  case modeNotOffered(connector: String, requested: RequestedMode, used: DisplayMode)
}

extension OutputProblem: CustomStringConvertible {
  /// Whether nothing that could still be plugged in solves it: the configuration or the machine is wrong.
  var isMistake: Bool {
    switch self {
    case .absent, .noMode, .noCRTC, .modeNotOffered: true
    case .disconnected, .nothingConnected: false
    }
  }

  var description: String {
    switch self {
    case .absent(let connector, let connected, let present):
      "connector \(connector) is not there; connected: \(OutputProblem.list(connected)); present: \(OutputProblem.list(present))"
    case .disconnected(let connector): "connector \(connector) has no monitor; the picture waits for one"
    case .nothingConnected: "no monitor is connected; the picture waits for one"
    case .noMode(let connector): "the monitor at \(connector) offers no mode that can be used"
    case .noCRTC(let connector): "the card has no display controller left for the monitor at \(connector)"
    case .modeNotOffered(let connector, let requested, let used):
      "the monitor at \(connector) does not offer \(requested); \(used) is used"
    }
  }

  private static func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
}

extension OutputPlan {
  /// Decides from what is plugged in and what the site wants.
  ///
  /// `rejected` are timings that the driver refused on a connector (by its number): they are not tried again. A plan made anew with one more of
  /// them goes down to the next best mode, so that trying ends.
  init(_ card: CardSnapshot, preferences: DisplayPreferences, rejected: [UInt32: Set<Timings>] = [:]) {
    let monitors = OutputPlan.monitors(card, preferences: preferences, problems: &problems)
    var chosen: [(connector: ConnectorSnapshot, choice: ModeChoice)] = []
    for connector in monitors {
      guard card.crtcs.contains(where: { $0.mask & connector.possibleCRTCs != 0 }) else {
        problems.append(.noCRTC(connector: connector.name))
        continue
      }
      let choice = ModeChoice(
        connector, requested: preferences.mode, mirrored: chosen.first?.choice.mode, rejected: rejected[connector.id] ?? [])
      if let choice {
        chosen.append((connector, choice))
      } else {
        problems.append(.noMode(connector: connector.name))
      }
    }
    if preferences.outputs == .one { chosen = Array(chosen.prefix(1)) }
    let matching = CRTCMatching(chosen.map(\.connector), crtcs: card.crtcs)
    for (entry, crtc) in zip(chosen, matching.assignment) {
      guard let crtc else {
        problems.append(.noCRTC(connector: entry.connector.name))
        continue
      }
      if let problem = entry.choice.problem { problems.append(problem) }
      outputs.append(
        Output(
          connector: entry.connector.id, name: entry.connector.name, crtc: crtc, mode: entry.choice.mode, source: entry.choice.source))
    }
  }

  /// The connectors that are to show the picture, in the kernel's order.
  private static func monitors(
    _ card: CardSnapshot, preferences: DisplayPreferences, problems: inout [OutputProblem]
  ) -> [ConnectorSnapshot] {
    let sockets = card.connectors.filter { !$0.isWriteback }
    let connected = sockets.filter { $0.status == .connected }
    if let name = preferences.connector {
      guard let named = sockets.first(where: { $0.name == name }) else {
        problems.append(.absent(connector: name, connected: connected.map(\.name), present: sockets.map(\.name)))
        return []
      }
      guard named.status != .disconnected else {
        problems.append(.disconnected(connector: name))
        return []
      }
      return [named]
    }
    let monitors = connected.isEmpty ? sockets.filter { $0.status == .unknown } : connected
    if monitors.isEmpty { problems.append(.nothingConnected) }
    return monitors
  }
}
