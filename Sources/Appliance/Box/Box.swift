import Base
import CLinux
import Call
import Codecs
import DTLS
import Dispatch
import FoundationEssentials
import Frames
import Glibc
import Net
import PageSession
import Stage
import Synchronization
import WebRTC

/// `parlor run`: the screen, the call, and the answers to operators, joined by the box's health.
///
/// The screen comes up first and never waits: whatever is missing is said there, and tried again.
final class Box: Sendable {
  let configuration: Configuration
  /// Where the configuration came from; nil: somebody named another file.
  let provisioning: ProvisioningStore?
  let options: RunOptions
  let stage: Stage
  let stageThread: StageThread
  /// What pages draw through; nil without one.
  let server: WaylandServer?
  let network: NetworkThread
  let certificate: Certificate
  let media: BoxMedia
  let power: DisplayPower
  let health: Mutex<Health>
  let call = Mutex<CallState>(CallState())
  /// Where hands start and end calls, one change at a time.
  let callChanges = DispatchQueue(label: "call by hand")
  let isCallChanging = Atomic(false)
  let devices: InputDevices?
  let notices = Mutex(NoticeState())
  let deviceStates: Mutex<DeviceStates>
  let name: String
  let socket: ControlSocket
  let started = Date()
  let isAnnounced = Atomic(false)
  let latency = LatencyRecorder()
  let flips = Mutex<[Instant]>([])
  let metrics = Mutex<MetricsServer?>(nil)
  let monitor = Mutex<NetworkWatch?>(nil)
  private let screen = Mutex(Screen())
  private let heartbeat = Mutex<Heartbeat?>(nil)

  /// The call that runs, and how its two directions or its connections stand.
  struct CallState {
    var direct: DirectCall?
    var legs: [Leg.Kind: (state: Leg.State, since: Date)] = [:]
    var page: PageCall?
    var connections: [(state: String, since: Date)] = []
  }

  /// What the screen says beside the call.
  private struct Screen {
    /// When what failed is tried again.
    var retryAt: Instant?
    /// Something worth a moment, and when that is over.
    var note: (notice: Notice, end: Instant)?
    /// Whether the interfaces will be looked at again.
    var isRefreshing = false
  }

  /// Starts everything. Throws when the configuration cannot be used or another box runs here.
  init(_ options: RunOptions) async throws(VerbFailure) {
    self.options = options
    provisioning = options.configuration == RunOptions.defaultConfiguration ? ProvisioningStore() : nil
    do throws(ConfigurationError) {
      // A box that nobody has set up yet says so on its screen, and why.
      let isSetUp = provisioning == nil || access(options.configuration, F_OK) == 0
      configuration = isSetUp ? try Configuration.load(path: options.configuration) : Configuration()
    } catch {
      throw VerbFailure(.badConfiguration, "\(error)")
    }
    Log.setLevel(configuration.logs.level)
    for warning in configuration.warnings { Log.warning("\(warning)") }
    do throws(ControlSocket.Failure) {
      socket = try ControlSocket(folder: options.runtime)
    } catch {
      throw VerbFailure(.unavailable, "\(error)")
    }
    name = configuration.identity.name ?? Box.hostName
    do throws(StoredFile.Failure) {
      try StoredFile.makeFolder(options.state, mode: 0o700)
    } catch {
      Log.warning("nothing is kept from one start to the next: \(error)")
    }
    let output = Box.output(options, configuration.display)
    let mode = Box.mode(output, configuration.display)
    stage = Stage(
      width: mode.width, height: mode.height, refreshRate: mode.rate ?? 60,
      rotation: VideoFrame.Rotation(rawValue: configuration.display.rotation.rawValue) ?? .none, fit: configuration.display.fit,
      corner: configuration.display.corner ?? .bottomRight, isMirrored: configuration.display.mirrorsSelfView,
      theme: configuration.notices.theme)
    stage.setIdlePicture(configuration.notices.idle)
    stage.setGamma(configuration.display.gamma)
    stage.setKeyboardLanguage(configuration.notices.language.keyboardLanguage)
    health = Mutex(Health(now: Date()))
    stage.setNotice(health.withLock { $0 }.notice(name: name, language: configuration.notices.language))
    let observer = StageObserver()
    if case .page = configuration.call?.target { server = try Box.waylandServer(options, stage) } else { server = nil }
    let display = Box.settings(output, configuration.display)
    devices = display == nil ? nil : Box.inputDevices(configuration)
    stageThread = StageThread(
      stage: stage, server: server, display: display, devices: devices,
      terminal: display == nil ? nil : Box.terminal(configuration.display.terminal), onFlip: { observer.take($0) },
      onDisplay: { observer.take($0) }, onInput: { observer.take($0) })
    stageThread.start()
    HardwareCodecs.shared.startProbe()
    do {
      certificate = try Certificate.generate()
      media = try BoxMedia(configuration)
      deviceStates = Mutex(DeviceStates(cameraCount: media.cameras.count))
    } catch {
      stageThread.stop()
      throw VerbFailure(.badConfiguration, "\(options.configuration): \(error)")
    }
    network = await NetworkThread()
    power = DisplayPower(
      configuration.power, usualGamma: configuration.display.gamma, loop: network.loop,
      display: .init(setBlanked: { [stage] in stage.setBlanked($0) }, setGamma: { [stage] in stage.setGamma($0) }))
    power.start()
    followRestartSchedule()
    observer.box = self
    lookAtDisplay()
    media.showSelfView(on: configuration.display.corner == nil || server != nil ? nil : stage)
    startNotices()
    watchDevices()
    serve()
    await watchNetwork()
    let outcome = provisioning?.outcome
    health.withLock { health in
      health.start(isProvisioned: configuration.call != nil, now: Date())
      if let outcome, outcome.result == .refused { health.raise(.provisioningRefused, outcome.lines.first ?? "", now: Date()) }
    }
    startHeartbeat()
    Log.notice("\(name) is up: \(stage.width)x\(stage.height), control socket \(socket.path)")
    showHealth()
    if let outcome, outcome.result == .applied, (0..<60).contains(Date().timeIntervalSince(outcome.time)) {
      showNote(Notice(kind: .information, title: Wording.settingsApplied.text(in: configuration.notices.language), text: name))
    }
    if configuration.call?.start == .boot {
      do throws(VerbFailure) { try startCall() } catch { Log.error("\(error)") }
    }
  }

  /// The service manager hears that the box is alive while the picture, the network and the operators' answers go on.
  private func startHeartbeat() {
    guard let manager = ServiceManager(), let patience = ServiceManager.patience() else { return }
    let organs = [
      Heartbeat.Organ(name: "stage") { [stageThread] in stageThread.answer($0) },
      Heartbeat.Organ(name: "network") { [network] in network.loop.run($0) },
    ]
    let new = Heartbeat(patience: .nanoseconds(patience * 1_000), organs: organs) { manager.announceLife() }
    heartbeat.withLock { $0 = new }
  }

  /// Hands the stage's news to the box, which is made after the stage's thread.
  private final class StageObserver: @unchecked Sendable {
    // Unchecked: `box` is written once, by the one who starts everything; until then flips are of notices only, and the display is asked later.
    weak var box: Box?
    func take(_ flip: Flip) { box?.flipped(flip) }
    func take(_ news: InputNews) { box?.take(news) }
    func take(_ status: DisplayStatus) { box?.displayChanged(status) }
  }

  private static var hostName: String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, 255) == 0 else { return "parlor" }
    return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private func flipped(_ flip: Flip) {
    announceReadiness()
    flips.withLock { flips in
      flips.append(flip.time)
      if flips.count > 256 { flips.removeFirst(128) }
    }
    if let remote = flip.remote { latency.record(remote.ledger, steps: [.present, .received], now: flip.time) }
    if let selfView = flip.selfView { latency.record(selfView.ledger, steps: [.preview], now: flip.time) }
    for video in flip.videos {
      let isReceived = video.ledger[.receive] != nil
      latency.record(video.ledger, steps: isReceived ? [.present, .received] : [.preview], now: flip.time)
    }
    call.withLock { $0.page }?.flipped(flip)
  }

  // MARK: The call

  /// Starts the configured call.
  func startCall() throws(VerbFailure) {
    power.startCall()
    guard let settings = configuration.call else { throw VerbFailure(.unavailable, "the configuration names nobody to call") }
    if case .page(let url) = settings.target { return try startPage(url, settings) }
    guard case .direct(let whip, let whep) = settings.target else { return }
    let direct: DirectCall
    do throws(SignallingError) {
      direct = try makeCall(settings, whip: whip, whep: whep)
    } catch {
      throw VerbFailure(.badConfiguration, "\(error)")
    }
    let isNew = call.withLock { call in
      guard call.direct == nil else { return false }
      call = CallState(direct: direct)
      return true
    }
    guard isNew else { throw VerbFailure(.unavailable, "a call is under way already") }
    direct.start()
  }

  private func makeCall(_ settings: Configuration.Call, whip: String?, whep: String?) throws(SignallingError) -> DirectCall {
    var session = PeerSession.Configuration(certificate: certificate)
    session.iceServers = Box.iceServers(of: settings)
    session.isRelayOnly = settings.isRelayOnly
    session.includesLoopback = true
    session.interfaces = configuration.network.callInterfaces
    session.trust = media.trust
    if let codec = settings.codec {
      session.codecs = session.codecs.filter { $0.name == codec.rawValue } + session.codecs.filter { $0.name != codec.rawValue }
    }
    var direct = DirectCall.Configuration(session: session)
    direct.proxy = configuration.network.httpProxy
    direct.connectTimeout = .seconds(settings.connectTimeout)
    let token = try Box.token(settings)
    if let whip { direct.whip = try SignallingEndpoint(url: whip, token: token) }
    if let whep { direct.whep = try SignallingEndpoint(url: whep, token: token) }
    let parts = DirectCall.Media(camera: media.camera, microphone: media.microphone, playout: media.playout) { [stage] in
      stage.show(remote: $0)
    }
    return DirectCall(configuration: direct, media: parts, network: network) { [weak self] kind, state in self?.changed(kind, state) }
  }

  /// Ends the call.
  func hangUp() throws(VerbFailure) {
    let (direct, page) = call.withLock { call in
      defer { (call.direct, call.page, call.connections) = (nil, nil, []) }
      return (call.direct, call.page)
    }
    guard direct != nil || page != nil else { throw VerbFailure(.unavailable, "there is no call") }
    Box.wait {
      await direct?.hangUp()
      await page?.stop()
    }
    if page != nil { pageEnded() } else { showHealth() }
  }

  /// Waits for something asynchronous; on a thread that may.
  static func wait<Result: Sendable>(for body: @escaping @Sendable () async -> Result) -> Result {
    let (done, slot) = (DispatchSemaphore(value: 0), Slot<Result>())
    Task.detached {
      let made = await body()
      slot.value.withLock { $0 = made }
      done.signal()
    }
    done.wait()
    guard let made = slot.value.withLock({ $0 }) else { preconditionFailure("the task made its result before it signalled") }
    return made
  }

  private func changed(_ kind: Leg.Kind, _ state: Leg.State) {
    let states = call.withLock { call in
      call.legs[kind] = state == .ended ? nil : (state, Date())
      return call.legs.values.map(\.state)
    }
    var retryAt: Instant?
    let isClockSet = linux_clock_is_synchronised()
    health.withLock { health in
      let now = Date()
      if state == .connected || state == .ended { health.clear(.clockUnset, now: now) }
      if states.isEmpty {
        health.setCall(.idle, now: now)
        health.clear(area: "call", now: now)
      } else {
        health.setCall(states.allSatisfy { $0 == .connected } ? .connected : .connecting, now: now)
      }
      if case .waiting(let code, let reason, let pause) = state {
        health.raiseCall(HealthCode(rawValue: code), reason, isClockSet: isClockSet, now: now)
        retryAt = MonotonicClock.now() + pause
      }
    }
    // The other side's last picture does not stay: a frozen face looks like a call.
    if kind == .whep, state != .connected { stage.removeRemote() }
    showHealth(retryAt: retryAt)
  }

  /// Shows what there is to say. `retryAt` is when what failed is tried again.
  func showHealth(retryAt: Instant?) {
    screen.withLock { $0.retryAt = retryAt }
    showHealth()
  }

  /// Shows something for a few seconds, unless there is more important news.
  func showNote(_ notice: Notice) {
    let pause = Interval.seconds(6)
    screen.withLock { $0.note = (notice, MonotonicClock.now() + pause) }
    showHealth()
    network.loop.run { [weak self, network] in
      network.loop.schedule(at: MonotonicClock.now() + pause) { self?.showHealth() }
    }
  }

  /// Shows what there is to say now.
  func showHealth() {
    let now = MonotonicClock.now()
    // Under the lock: news from several threads must not overtake each other.
    health.withLock { power.setInCall($0.isInCall) }
    let screen = screen.withLock { $0 }
    let retry = screen.retryAt.map { max(0, Int(($0 - now).seconds.rounded(.up))) }
    let note = screen.note.flatMap { $0.end > now ? $0.notice : nil }
    let health = health.withLock { $0 }
    let notice = health.notice(
      name: name, language: configuration.notices.language, interfaces: NetworkInterfaces.all, retry: retry)
    stage.setNotice(notice ?? note)
    stage.setCautions(health.cautions(language: configuration.notices.language))
    stage.setInvitation(
      note == nil
        ? health.invitation(start: configuration.call?.start, isCallOpen: isCallOpen, language: configuration.notices.language) : nil)
    if health.state == .offline { refreshSoon() }
  }

  /// Looks again soon: a cable that is plugged in changes what is said long before there is an address.
  private func refreshSoon() {
    let isNew = screen.withLock { screen in
      defer { screen.isRefreshing = true }
      return !screen.isRefreshing
    }
    guard isNew else { return }
    network.loop.run { [weak self, network] in
      network.loop.schedule(at: MonotonicClock.now() + .seconds(2)) {
        self?.screen.withLock { $0.isRefreshing = false }
        self?.showHealth()
      }
    }
  }

  // MARK: The end

  /// Hangs up, and ends all threads.
  func stop() async {
    heartbeat.withLock { $0 = nil }
    socket.stop()
    metrics.withLock { $0 }?.stop()
    stopNotices()
    let (direct, page) = call.withLock { ($0.direct, $0.page) }
    await direct?.hangUp()
    await page?.stop()
    let watch = monitor.withLock { $0 }
    await network.loop.perform { watch?.monitor?.stop() }
    media.stop(on: stage)
    stageThread.stop()
    network.stop()
  }
}

/// Carries a result from a task to the thread that waits for it.
private final class Slot<Value: Sendable>: Sendable {
  let value = Mutex<Value?>(nil)
}

extension Leg.State {
  /// The W3C connection state that says the same.
  var name: String {
    switch self {
    case .connecting: "connecting"
    case .connected: "connected"
    case .waiting: "failed"
    case .ended: "closed"
    }
  }
}
