import Base

/// The way of what people do, on the stage's thread: from devices and remote hands to a panel, else to a client; what concerns the box goes
/// to the box. The cursor follows.
final class InputDesk {
  private let stage: Stage
  private let server: WaylandServer?
  private let devices: InputDevices?
  private let onInput: @Sendable (InputNews) -> Void
  private var translator: InputTranslator
  private var cursor = CursorVisibility()
  private var lastActivity: Instant?
  // Kept for their memory.
  private var events: [DeviceEvent] = []
  private var actions: [InputAction] = []

  /// Activity is told at most once in this time.
  private static let activityPause = Interval.seconds(1)

  init(stage: Stage, server: WaylandServer?, devices: InputDevices?, onInput: @escaping @Sendable (InputNews) -> Void) {
    (self.stage, self.server, self.devices, self.onInput) = (stage, server, devices, onInput)
    translator = InputTranslator(screen: InputDesk.screen(of: stage), callKeys: devices?.callKeys ?? [])
  }

  private static func screen(of stage: Stage) -> InputScreen {
    InputScreen(width: stage.width, height: stage.height, rotation: stage.rotation)
  }

  /// When to call `process` next, even when nothing is readable.
  var deadline: Instant? { [devices?.deadline, cursor.deadline].compactMap { $0 }.min() }

  /// Readable when `process` has work; nil without devices.
  var descriptor: Int32? { devices?.descriptor }

  /// Lets go of the devices while somebody else has the screen, and takes them back.
  func setSuspended(_ isSuspended: Bool) { if isSuspended { devices?.suspend() } else { devices?.resume() } }

  /// Takes what devices have reported.
  func process(now: Instant) {
    guard let devices else { return }
    devices.dispatch(now: now, into: &events)
    for event in events { take(event, now: now) }
    events.removeAll(keepingCapacity: true)
  }

  /// A device has reported this.
  func take(_ event: DeviceEvent, now: Instant) {
    translator.screen = InputDesk.screen(of: stage)
    translator.isBlanked = stage.isBlanked
    translator.take(event, into: &actions)
    for action in actions { take(action, now: now) }
    actions.removeAll(keepingCapacity: true)
  }

  private func take(_ action: InputAction, now: Instant) {
    switch action {
    case .input(let input): take(input, now: now)
    case .wake:
      // Somebody waits for light: this is not told too often.
      lastActivity = now
      onInput(.activity)
    case .callKey: onInput(.callKey)
    case .volume(let step):
      tellActivity(now: now)
      onInput(.volume(step))
    case .keyboardAttached(let isAttached): stage.setKeyboardAttached(isAttached)
    }
  }

  /// Does what people or remote hands do.
  func take(_ input: StageInput, now: Instant) {
    cursor.take(input, now: now)
    tellActivity(now: now)
    if stage.input(input) { return }
    switch input {
    case .touchDown, .pointerButton(_, true): onInput(.press)
    default: break
    }
    server?.send(input)
  }

  private func tellActivity(now: Instant) {
    guard lastActivity.map({ now - $0 >= InputDesk.activityPause }) ?? true else { return }
    lastActivity = now
    onInput(.activity)
  }

  /// Draws the cursor, or has the client under it draw it, when there is one to be seen.
  func showCursor(now: Instant) {
    cursor.advance(to: now)
    server?.setCursorVisible(cursor.isVisible)
    stage.setCursor(cursor.isVisible && server?.leavesCursorToStage != false ? cursor.place : nil)
  }
}
