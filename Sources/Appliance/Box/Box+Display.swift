import Base
import FoundationEssentials
import Frames
import Stage

// The display: what is wrong with it, what operators see of it, when the box is up.
extension Box {
  /// The mode that the picture is made for until a monitor says its own.
  static func mode(_ output: RunOptions.Output, _ display: Configuration.Display) -> RequestedMode {
    if case .headless(let mode?) = output { return mode }
    return display.mode ?? RequestedMode(width: 1_920, height: 1_080)
  }

  /// The monitors that the configuration wants; nil: the picture stays in memory.
  static func settings(_ output: RunOptions.Output, _ display: Configuration.Display) -> DisplaySettings? {
    guard output == .kms else { return nil }
    let preferences = DisplayPreferences(
      connector: display.connector, mode: display.mode, rotation: VideoFrame.Rotation(rawValue: display.rotation.rawValue) ?? .none,
      outputs: display.outputs)
    return DisplaySettings(card: display.card, preferences: preferences, gamma: display.gamma)
  }

  /// Follows what the display says of itself.
  func watchDisplay() {
    stage.observeDisplay { [weak self] in self?.displayChanged($0) }
    // What flipped before anybody listened counts, too.
    if stage.statistics.flips > 0 { announceReadiness() }
  }

  private func displayChanged(_ status: DisplayStatus) {
    let screen = Status.Screen(status, flipsPerSecond: 0)
    if let problem = screen.problem { Log.warning("display: \(problem)") } else { Log.notice("display: \(screen.summary)") }
    health.withLock { $0.set(status.problem.map { (HealthCode($0), $0.reason) }, area: "display", now: Date()) }
    showHealth()
    // Nobody sees a first picture where there is no monitor: a boot splash is not kept for it.
    if status.problem != nil { announceReadiness() }
  }

  /// The picture is on the display, or cannot get there: whoever waits for the box may go on.
  func announceReadiness() {
    if !isAnnounced.exchange(true, ordering: .relaxed) { ServiceManager.announceReadiness() }
  }
}

extension DisplayStatus.Problem {
  /// What is wrong, in words.
  var reason: String {
    switch self {
    case .nothingConnected: "no monitor is connected; the picture waits for one"
    case .busy: "another program has the display; it is taken over as soon as it is free"
    case .connectorAbsent(let text), .unusable(let text), .denied(let text), .noCard(let text): text
    }
  }
}

extension HealthCode {
  /// The code of what is wrong with the display.
  init(_ problem: DisplayStatus.Problem) {
    self =
      switch problem {
      case .nothingConnected: .displayAbsent
      case .connectorAbsent: .displayConnector
      case .unusable: .displayMode
      case .busy: .displayBusy
      case .denied: .displayDenied
      case .noCard: .displayFailed
      }
  }
}

extension Status.Screen {
  /// The screen as the display describes it.
  init(_ status: DisplayStatus, flipsPerSecond: Double) {
    self.init(
      output: status.outputs.joined(separator: ", "), mode: status.mode, rotation: status.rotation.rawValue, planes: status.planes,
      flipsPerSecond: flipsPerSecond)
    (missedFlips, isBlanked, problem) = (status.missedFlips, status.isBlanked, status.problem?.reason)
    modeSource = status.modeSource.isEmpty ? nil : status.modeSource
  }
}
