import Base
import BridgeMessages
import Call
import Frames
import Net
import PageSession
import Stage
import Synchronization

/// A call page, kept on the screen: the program that runs it, the bridge that it speaks over, and the supervisor that says what to do, joined.
final class PageCall: Sendable {
  /// What a page call is made of.
  struct Configuration: Sendable {
    /// The bridge: where it listens, what the page host is told, who is granted what.
    var service: PageService.Configuration
    /// The page, and how long it may take.
    var supervisor: PageSupervisor.Configuration
    /// What the panels' buttons are labelled in.
    var language = Language.english
    /// How the page program is run; nil: a service manager does that.
    var process: PageProcess.Settings?
  }

  /// What the owner may want to know beyond how far the page is.
  enum News: Sendable, Equatable {
    /// A navigation, download, window or scheme was refused.
    case refused(url: String, reason: String)
    /// A page wanted a device without a grant.
    case denied(origin: String, device: PageEvent.CaptureDevice)
    /// The connections' W3C states.
    case connections([String])
  }

  private let configuration: Configuration
  private let network: NetworkThread
  private let stage: Stage
  private let onChange: @Sendable (PageSupervisor) -> Void
  private let onNews: @Sendable (News) -> Void
  private let supervisor: Mutex<PageSupervisor>
  private let parts = Mutex(Parts())
  private let timer = Timer()

  private struct Parts {
    var service: PageService?
    var process: PageProcess?
    var host: Int32?
    var isStopping = false
  }

  /// Keeps the timer, which belongs to the loop.
  private final class Timer: @unchecked Sendable {
    // Unchecked: touched on the network thread only.
    var token: TimerToken?
  }

  /// A call that is not yet started. `onChange` is told after each event, from any thread.
  init(
    _ configuration: Configuration, network: NetworkThread, stage: Stage, onChange: @escaping @Sendable (PageSupervisor) -> Void,
    onNews: @escaping @Sendable (News) -> Void
  ) {
    (self.configuration, self.network, self.stage) = (configuration, network, stage)
    (self.onChange, self.onNews) = (onChange, onNews)
    supervisor = Mutex(PageSupervisor(configuration.supervisor, now: MonotonicClock.now()))
  }

  /// Opens the bridge and starts the page program.
  func start(media: PageService.Media) async throws(PageServiceError) {
    let service = try await PageService(configuration: configuration.service, network: network, stage: stage, media: media) { [weak self] in
      self?.take($0)
    }
    let process = configuration.process.map { settings in PageProcess(settings) { [weak self] in self?.take($0) } }
    parts.withLock { ($0.service, $0.process) = (service, process) }
    process?.start()
    setTimer()
  }

  /// How far the page is.
  var state: PageSupervisor { supervisor.withLock { $0 } }

  /// The page host's process number; nil while there is none.
  var host: Int32? { parts.withLock { $0.host ?? $0.process?.process } }

  /// The connections' figures, and what was refused; nil before the start.
  func statistics() async -> PageStatistics? { await parts.withLock { $0.service }?.statistics() }

  /// Tells what the screen shows now. From the stage's thread.
  func flipped(_ flip: Flip) { parts.withLock { $0.service }?.flipped(flip) }

  /// Has the connections follow the machine's addresses.
  func networkChanged() { parts.withLock { $0.service }?.networkChanged() }

  /// Has the supervisor know of something, and does what it then wants.
  func tell(_ event: PageSupervisor.Event) {
    let now = MonotonicClock.now()
    change { $0.handle(event, now: now) }
  }

  /// Ends the page, its connections and its program.
  func stop() async {
    let parts = parts.withLock { parts in
      parts.isStopping = true
      return parts
    }
    parts.service?.exitHost()
    parts.process?.stop()
    await parts.service?.stop()
    stage.setPanel(nil)
    let timer = timer
    await network.loop.perform { [network] in
      if let token = timer.token { network.loop.cancel(token) }
      timer.token = nil
    }
  }

  // MARK: What comes in

  private func take(_ event: PageEvent) {
    switch event {
    case .hostConnected(let version, let process):
      Log.info("\(PageProgram.name) \(version) is there, process \(process)")
      parts.withLock { $0.host = process }
      tell(.hostConnected)
    case .hostLost:
      parts.withLock { $0.host = nil }
      stage.setPanel(nil)
      tell(.hostLost(reason: "The page program ended", nextStart: nil))
    case .committed(let url): tell(.committed(url: url))
    case .drawn(let url):
      Log.info("page: \(url) is on the screen")
      tell(.drawn(url: url))
    case .title(let title): tell(.title(title))
    case .failed(let code, let reason, let url):
      Log.error("page: \(url): \(reason) (\(code))")
      stage.setPanel(nil)
      tell(.failed(code: HealthCode(rawValue: code), reason: reason.prefix(1).uppercased() + reason.dropFirst()))
    case .refused(let url, let reason):
      Log.warning("page: \(url) is refused: \(reason)")
      onNews(.refused(url: url, reason: reason))
    case .dialog(let identifier, let kind, let origin, let text, let value):
      ask(identifier, kind, origin: origin, text: text, value: value)
    case .dialogCancelled: stage.setPanel(nil)
    case .callStateChanged(let states):
      onNews(.connections(states))
      tell(.call(isConnected: states.contains("connected")))
    case .mediaDenied(let origin, let device):
      Log.warning("page: \(origin) has no grant for the \(device.rawValue)")
      onNews(.denied(origin: origin, device: device))
    case .loading(let url): Log.info("page: loading \(url)")
    case .finished: break
    }
  }

  private func take(_ event: PageProcess.Event) {
    switch event {
    case .started(let process): Log.info("\(PageProgram.name) is process \(process)")
    case .ended(_, nil): break
    case .ended(let reason, let nextStart?): tell(.hostLost(reason: "\(PageProgram.name): \(reason)", nextStart: nextStart))
    }
  }

  private func ask(_ identifier: UInt32, _ kind: PageEvent.DialogKind, origin: String, text: String, value: String?) {
    var panel = PageCall.panel(kind, origin: origin, text: text, value: value, language: configuration.language)
    panel.countdown = Int(configuration.service.page.dialogTimeout.rounded(.up))
    stage.setPanel(panel) { [weak self] answer in
      guard let service = self?.parts.withLock({ $0.service }) else { return }
      switch answer {
      case .accepted(let text): service.answer(dialog: identifier, isAccepted: true, value: text)
      case .cancelled, .dismissed: service.answer(dialog: identifier, isAccepted: false)
      }
    }
  }

  /// A page's question as it stands on the screen.
  static func panel(_ kind: PageEvent.DialogKind, origin: String, text: String, value: String?, language: Language) -> Panel {
    let form: Panel.Kind =
      switch kind {
      case .alert: .alert
      case .confirm: .confirm
      case .prompt: .prompt(defaultText: value ?? "")
      }
    var panel = Panel(kind: form, title: Origin(origin)?.host ?? origin, text: text)
    panel.acceptLabel = Wording.accept.text(in: language)
    panel.cancelLabel = Wording.cancel.text(in: language)
    return panel
  }

  // MARK: What goes out

  private func change(_ body: (inout PageSupervisor) -> Void) {
    guard !parts.withLock({ $0.isStopping }) else { return }
    let (state, hostFailure, actions) = supervisor.withLock { supervisor in
      let before = supervisor.code
      body(&supervisor)
      // What the page host says of a page has its line already.
      let hostFailure = supervisor.code == .pageHost && before != .pageHost ? supervisor.reason : nil
      var actions: [PageSupervisor.Action] = []
      while let action = supervisor.pollAction() { actions.append(action) }
      return (supervisor, hostFailure, actions)
    }
    if let hostFailure { Log.error("page: \(hostFailure) (\(HealthCode.pageHost))") }
    for action in actions { act(action) }
    setTimer()
    onChange(state)
  }

  private func act(_ action: PageSupervisor.Action) {
    let parts = parts.withLock { $0 }
    switch action {
    case .load(let url): parts.service?.load(url)
    case .reload: parts.service?.reload()
    case .restartHost:
      parts.service?.exitHost()
      parts.process?.restart()
    }
  }

  /// Sets the timer to what is due next.
  private func setTimer() {
    network.loop.run { [weak self, timer, network] in
      guard let self, !self.parts.withLock({ $0.isStopping }) else { return }
      let token =
        timer.token
        ?? network.loop.makeTimer { [weak self] in
          let now = MonotonicClock.now()
          self?.change { $0.handleTimeout(now: now) }
        }
      timer.token = token
      network.loop.set(token, to: self.state.deadline)
    }
  }
}
