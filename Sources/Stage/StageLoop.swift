import Base
import CLinux
import Synchronization

/// What the stage's thread does, over and over: hears clients, monitors and other threads, and shows what changed.
final class StageLoop: @unchecked Sendable {
  // Unchecked: what is not a constant or atomic is touched by the stage's thread alone, once it runs.

  let stage: Stage
  let isStopping = Atomic(false)
  private let onFlip: @Sendable (Flip) -> Void
  private let onDisplay: @Sendable (DisplayStatus) -> Void
  private let server: WaylandServer?
  private let display: KMSDisplay?
  private let input: InputDesk
  private let terminal: OwnedTerminal?
  private let waiting: DescriptorWait?
  private let commands = Mutex<[Command]>([])

  private var start = Instant.zero
  /// Before this time nothing is shown, so that nobody is shown more often than once a refresh.
  private var earliest = Instant.zero
  private var geometry: KMSDisplay.Geometry?
  private var rotation = DisplayStatus().rotation
  /// Since when clients have had something that is not shown yet.
  private var contentTime: Instant?
  /// When something was shown last, or a client waited for a refresh.
  private var lastMotion = Instant.zero

  /// How long nothing moves until the stage no longer looks once a refresh.
  private static let stillness = Interval.seconds(1)
  /// How often a stage on which nothing moves looks at what follows the clock alone: countdowns, and notices that end. All else wakes it.
  private static let pause = Interval.milliseconds(100)

  /// What other threads ask for.
  enum Command {
    case input(StageInput)
    case close(UInt64)
    case answer(@Sendable () -> Void)
  }

  init(
    stage: Stage, server: WaylandServer?, display: KMSDisplay?, input: InputDesk, terminal: OwnedTerminal?,
    onDisplay: @escaping @Sendable (DisplayStatus) -> Void, onFlip: @escaping @Sendable (Flip) -> Void
  ) {
    (self.stage, self.server, self.display, self.input, self.terminal) = (stage, server, display, input, terminal)
    (self.onDisplay, self.onFlip) = (onDisplay, onFlip)
    let descriptors = (server?.descriptors ?? []) + [display?.descriptor, input.descriptor].compactMap { $0 }
    waiting = descriptors.isEmpty ? nil : DescriptorWait(descriptors)
  }

  func command(_ command: Command) {
    commands.withLock { $0.append(command) }
    stage.wake.signal()
  }

  func run() {
    if let waiting { stage.wake.notify(descriptor: waiting.signal) }
    defer { stage.wake.notify(descriptor: -1) }
    takeTerminal()
    defer { if let terminal, !terminal.staysDark { terminal.terminal.restore() } }
    start = StageThread.now()
    (earliest, lastMotion) = (start, start)
    while !isStopping.load(ordering: .acquiring) {
      let isBusy = serve()
      let deadline = display.map(stepOnDisplay) ?? stepHeadless()
      if !isBusy { sleep(until: min(deadline, input.deadline ?? deadline)) }
    }
  }

  /// Keeps the console off the display. Where that is not possible, the display is driven all the same.
  private func takeTerminal() {
    guard let terminal = terminal?.terminal, let waiting else { return }
    do throws(TerminalError) {
      try terminal.take()
      waiting.add(terminal.descriptor)
      if !terminal.isActive { display?.suspend() }
    } catch {
      Log.warning("the console is not kept off the display: \(error)")
    }
  }

  /// Does what people, clients and other threads want. Returns whether clients want more.
  private func serve() -> Bool {
    let now = StageThread.now()
    let new = commands.withLock { commands in
      defer { commands.removeAll() }
      return commands
    }
    for command in new {
      switch command {
      case .answer(let body): body()
      case .input(let event): input.take(event, now: now)
      case .close(let identifier): server?.close(toplevel: identifier)
      }
    }
    input.process(now: now)
    for action in stage.takeKeyboardActions() { server?.perform(action) }
    let isBusy = server?.process() ?? false
    if let server {
      stage.setFocusedField(server.focusedField)
      if contentTime == nil && server.isContentNew { contentTime = StageThread.now() }
    }
    input.showCursor(now: now)
    return isBusy
  }

  /// Takes over what clients drew, and what else is new.
  private func prepare(now: Instant) -> Stage.News? {
    if let layers = server?.takeLayers() { stage.update(layers: layers) }
    defer { contentTime = nil }
    return stage.prepare(now: now, contentTime: contentTime)
  }

  /// When to look again, where nothing is to be shown now.
  private func nextLook(now: Instant, hasMoved: Bool) -> Instant {
    if hasMoved { lastMotion = now }
    let period = stage.refreshPeriod
    return now + (now - lastMotion < StageLoop.stillness ? period : max(period, StageLoop.pause))
  }

  private func sleep(until deadline: Instant) {
    if let waiting { waiting.wait(until: deadline) } else { stage.wake.wait(until: deadline) }
  }

  private func tellClients(_ time: Instant) {
    let period = stage.refreshPeriod
    server?.presented(at: time, refresh: period, sequence: Int((time - start).nanoseconds / max(1, period.nanoseconds)))
  }

  // MARK: Without a display

  /// Shows what changed, at most once a period. Returns until when there is nothing to do.
  private func stepHeadless() -> Instant {
    let now = StageThread.now()
    guard now >= earliest else { return earliest }
    if let layers = server?.takeLayers() { stage.update(layers: layers) }
    let flip = stage.present(now: now, contentTime: contentTime, flipTime: StageThread.now)
    contentTime = nil
    let hasMoved = flip != nil || server?.isRefreshWanted == true
    if hasMoved {
      tellClients(flip?.time ?? now)
      earliest = now + stage.refreshPeriod
    }
    if let flip { onFlip(flip) }
    return nextLook(now: now, hasMoved: hasMoved)
  }

  // MARK: On monitors

  /// Takes in what the monitors did, and shows what changed. Returns until when there is nothing to do.
  private func stepOnDisplay(_ display: KMSDisplay) -> Instant {
    let now = StageThread.now()
    terminal?.terminal.process(lost: display.suspend, regained: display.resume)
    let wishes = stage.takeDisplayWishes()
    if let preferences = wishes.preferences { display.setPreferences(preferences, now: now) }
    display.setBlanked(wishes.isBlanked, now: now)
    display.setGamma(wishes.gamma)
    display.dispatch(now: now)
    report(display)
    follow(display)

    var deadline = now + stage.refreshPeriod
    if display.isReady {
      if let start = display.start(now: now) {
        deadline = start
      } else {
        deadline = nextLook(now: now, hasMoved: compose(display, now: now))
      }
    } else if !display.isShowing, now >= earliest {
      // Nobody sees anything: clients go on, and newer frames take the place of older ones.
      let isRefreshWanted = server?.isRefreshWanted == true
      let news = prepare(now: now)
      stage.withComposer { display.skip($0) }
      tellClients(now)
      earliest = deadline
      deadline = nextLook(now: now, hasMoved: news != nil || isRefreshWanted)
    }
    if stage.setDisplayStatus(display.status) { onDisplay(display.status) }
    return min(display.deadline ?? deadline, deadline)
  }

  /// Shows what is new, if anything is. Returns whether something moves: a picture, or clients.
  private func compose(_ display: KMSDisplay, now: Instant) -> Bool {
    let news = prepare(now: now)
    if news != nil || display.isStale {
      stage.withComposer { display.show($0, news, now: now) }
      let end = StageThread.now()
      stage.composed(in: end - now, at: end)
      report(display)
      return true
    }
    display.skip(nil)
    guard server?.isRefreshWanted == true else { return false }
    if now >= earliest {
      tellClients(now)
      earliest = now + stage.refreshPeriod
    }
    return true
  }

  /// Tells who waits for it what the monitors have shown.
  private func report(_ display: KMSDisplay) {
    for (news, time) in display.takeCompleted() {
      for news in news { onFlip(stage.complete(news, at: time)) }
      tellClients(time)
    }
  }

  /// Follows the monitors' size, and has clients do so.
  private func follow(_ display: KMSDisplay) {
    let (new, turn) = (display.geometry, display.preferences.rotation)
    guard new != geometry || turn != rotation else { return }
    (geometry, rotation) = (new, turn)
    stage.resize(monitorWidth: new.width, monitorHeight: new.height, refreshRate: new.refreshRate, rotation: turn)
    server?.setOutput(width: stage.width, height: stage.height, refreshRate: new.refreshRate)
  }
}
