import Base
import FoundationEssentials
import Frames
import Stage

// The display: what is wrong with it, what operators see of it, when the box is up.
extension Box {
  /// Where the picture is shown.
  static func output(_ options: RunOptions, _ display: Configuration.Display) -> RunOptions.Output {
    if let output = options.output { return output }
    let output = RunOptions.Output.usual(card: display.card)
    if output != .kms { Log.notice("there is no graphics card: the picture stays in memory") }
    return output
  }

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
    return DisplaySettings(card: display.card, preferences: preferences)
  }

  /// The console's terminal that the display belongs to; nil, and said, when there is none to be had.
  static func terminal(_ path: String?) -> OwnedTerminal? {
    do throws(TerminalError) {
      // A service is started again: no text shows through meanwhile.
      return OwnedTerminal(try VirtualTerminal(path: path), staysDark: PageProgram.isManagedElsewhere())
    } catch {
      Log.warning("the console is not kept off the display: \(error)")
      return nil
    }
  }

  /// Takes in what the stage showed, and the display said, before anybody listened.
  func lookAtDisplay() {
    let status = stage.displayStatus
    if status.problem != nil { displayChanged(status) }
    if stage.statistics.flips > 0 { announceReadiness() }
  }

  /// The display says something new of itself.
  func displayChanged(_ status: DisplayStatus) {
    let screen = Status.Screen(stage, flipsPerSecond: 0)
    if let problem = status.problem?.reason { Log.warning("display: \(problem)") } else { Log.notice("display: \(screen.summary)") }
    health.withLock { $0.set(status.problem.map { (HealthCode($0), $0.reason) }, area: "display", now: Date()) }
    showHealth()
    // Nobody sees a first picture where there is no monitor: a boot splash is not kept for it.
    if status.problem != nil { announceReadiness() }
  }

  /// The picture is on the display, or cannot get there: whoever waits for the box may go on.
  func announceReadiness() {
    if !isAnnounced.exchange(true, ordering: .relaxed) { ServiceManager()?.announceReadiness() }
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
  /// The screen as the stage describes it.
  init(_ stage: Stage, flipsPerSecond: Double) {
    self.init(stage.displayStatus, flipsPerSecond: flipsPerSecond)
    guard output == "headless" else { return }
    let isSideways = stage.rotation == .quarter || stage.rotation == .threeQuarters
    let (width, height) = isSideways ? (stage.height, stage.width) : (stage.width, stage.height)
    mode = "\(width)x\(height)@\(Int(stage.refreshRate.rounded()))"
    (rotation, isBlanked) = (stage.rotation.rawValue, stage.isBlanked)
  }

  /// The screen as its display describes it.
  init(_ status: DisplayStatus, flipsPerSecond: Double) {
    self.init(
      output: status.outputs.joined(separator: ", "), mode: status.mode, rotation: status.rotation.rawValue, planes: status.planes,
      flipsPerSecond: flipsPerSecond)
    (missedFlips, isBlanked, gamma, problem) = (status.missedFlips, status.isBlanked, status.gamma, status.problem?.reason)
    modeSource = status.modeSource.isEmpty ? nil : status.modeSource
  }
}
