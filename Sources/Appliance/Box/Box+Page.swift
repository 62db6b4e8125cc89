import Base
import BridgeMessages
import CLinux
import Call
import FoundationEssentials
import Glibc
import Net
import PageSession
import Stage
import WebRTC

// A call that a web page makes.
extension Box {
  /// The socket that the page program draws through.
  static func waylandServer(_ options: RunOptions, _ stage: Stage) throws(VerbFailure) -> WaylandServer {
    let user = getuid()
    do throws(WaylandServerError) {
      return try WaylandServer(
        path: "\(options.runtime)/wayland-0", width: stage.width, height: stage.height, refreshRate: stage.refreshRate,
        isAdmitted: { $0.user == user })
    } catch {
      throw VerbFailure(.unavailable, "\(error)")
    }
  }

  /// Starts the page program and has it load the call's page.
  func startPage(_ url: String, _ settings: Configuration.Call) throws(VerbFailure) {
    let page = PageCall(
      pageConfiguration(url, settings), network: network, stage: stage, onChange: { [weak self] _ in self?.pageChanged() },
      onNews: { [weak self] in self?.take($0) })
    let isNew = call.withLock { call in
      guard call.page == nil else { return false }
      (call.page, call.connections) = (page, [])
      return true
    }
    guard isNew else { throw VerbFailure(.unavailable, "a call is under way already") }
    let devices = media.devices
    let failure = Box.wait { () -> PageServiceError? in
      do throws(PageServiceError) {
        try await page.start(media: devices)
        return nil
      } catch {
        return error
      }
    }
    if let failure {
      call.withLock { $0.page = nil }
      throw VerbFailure(.unavailable, "\(failure)")
    }
    pageChanged()
    watchClock(of: page)
  }

  private func pageConfiguration(_ url: String, _ settings: Configuration.Call) -> PageCall.Configuration {
    var page = PageSettings(url: url)
    page.allowedOrigins = settings.allowedOrigins.map(\.description)
    page.userAgent = configuration.page.userAgent
    page.loadDeadline = settings.loadDeadline
    page.dataFolder = dataFolder
    page.certificateFiles = configuration.tls.certificateFiles
    page.clientCertificate = configuration.tls.clientCertificate
    page.clientKey = configuration.tls.clientKey
    page.pins = configuration.tls.pins.map { String($0.dropFirst("sha256/".count)) }
    page.memoryLimit = configuration.page.memoryLimit
    page.dialogTimeout = configuration.page.dialogTimeout
    if let proxy = configuration.network.httpProxy {
      var pageProxy = PageProxy(url: proxy.url)
      (pageProxy.username, pageProxy.password, pageProxy.exceptions) = (proxy.username, proxy.password, proxy.exceptions)
      page.proxy = pageProxy
    }

    var session = PeerSession.Configuration(certificate: certificate)
    session.iceServers = Box.iceServers(of: settings)
    session.interfaces = configuration.network.callInterfaces
    session.includesLoopback = Origin(url: url)?.isLocal ?? false
    session.trust = media.trust
    let grants = configuration.grants
    let service = PageService.Configuration(
      runtimeFolder: options.runtime, page: page, session: session,
      grants: { origin in
        guard let caller = Origin(origin).map(Grants.Caller.page) else { return PageService.Grant() }
        return PageService.Grant(camera: grants.allow(.camera, for: caller), microphone: grants.allow(.microphone, for: caller))
      }, deviceSalt: deviceSalt)

    var supervisor = PageSupervisor.Configuration(url: url)
    supervisor.loadDeadline = .seconds(settings.loadDeadline)
    supervisor.reloadAt = settings.reloadAt
    supervisor.seed = UInt64.random(in: 0...UInt64.max)
    return PageCall.Configuration(
      service: service, supervisor: supervisor,
      language: configuration.notices.language,
      process: PageProgram.isManagedElsewhere() ? nil : PageProcess.Settings.here(runtime: options.runtime, seed: supervisor.seed))
  }

  // MARK: What outlives a restart

  /// Where the page's own data lies; nil, and said, when nothing can be kept.
  private var dataFolder: String? {
    let folder = "\(options.state)/page"
    do throws(StoredFile.Failure) {
      try StoredFile.makeFolder(folder, mode: 0o700)
      return folder
    } catch {
      Log.warning("pages keep nothing: \(error)")
      return nil
    }
  }

  /// What makes this box's device identifiers its own; made once. nil when it cannot be kept.
  private var deviceSalt: [UInt8]? {
    let file = "\(options.state)/device-salt"
    if let data = FileManager.default.contents(atPath: file), data.count == 16 { return Array(data) }
    let salt = (0..<16).map { _ in UInt8.random(in: 0...255) }
    do throws(StoredFile.Failure) {
      try StoredFile.write(salt, to: file, mode: 0o600)
      return salt
    } catch {
      Log.warning("pages see other device identifiers after each start: \(error)")
      return nil
    }
  }

  // MARK: What happens

  private func pageChanged() {
    guard let call = call.withLock({ $0.page }) else { return }
    // Asked for under the lock: news from several threads must not overtake each other.
    let page = health.withLock { health in
      let page = call.state
      let now = Date()
      health.set(page.code.map { ($0, page.reason ?? "") }, area: "page", now: now)
      health.set(page.isClockToBlame ? (.clockUnset, "nothing has set the clock") : nil, area: "clock", now: now)
      health.setCall(page.state == .inCall ? .connected : page.isDrawn ? .idle : .connecting, now: now)
      return page
    }
    showHealth(retryAt: page.retryAt ?? page.hostRetry)
  }

  /// The page was ended on purpose.
  func pageEnded() {
    health.withLock { health in
      let now = Date()
      for area in ["page", "clock"] { health.clear(area: area, now: now) }
      health.setCall(.idle, now: now)
    }
    showHealth(retryAt: nil)
  }

  private func take(_ news: PageCall.News) {
    switch news {
    case .refused(let url, let reason):
      let place = Origin(url: url)?.host ?? String(url.prefix { $0 != ":" }.prefix(40))
      let language = configuration.notices.language
      showNote(
        Notice(
          kind: .information, title: Wording.notOpened(place: place).text(in: language),
          text: Wording.systemReason(reason).text(in: language)))
    case .denied: break
    case .connections(let states):
      let now = Date()
      call.withLock { call in
        let before = call.connections
        call.connections = states.enumerated().map { index, state in
          (state, before.indices.contains(index) && before[index].state == state ? before[index].since : now)
        }
      }
    }
  }

  /// Tells the page the time, again and again while it is there.
  private func watchClock(of page: PageCall) {
    network.loop.run { [weak self, weak page, network] in
      guard let self, let page, self.call.withLock({ $0.page === page }) else { return }
      var now = time(nil)
      var parts = tm()
      unsafe localtime_r(&now, &parts)
      page.tell(
        .clock(
          secondOfDay: Int(parts.tm_hour) * 3_600 + Int(parts.tm_min) * 60 + min(59, Int(parts.tm_sec)),
          isSet: linux_clock_is_synchronised()))
      network.loop.schedule(at: MonotonicClock.now() + .seconds(15)) { self.watchClock(of: page) }
    }
  }

  // MARK: Operators

  /// The page; throws when there is none.
  func page() throws(VerbFailure) -> PageCall {
    if let page = call.withLock({ $0.page }) { return page }
    guard case .page = configuration.call?.target else { throw VerbFailure(.unavailable, "this box calls without a page") }
    throw VerbFailure(.unavailable, "no page is open; parlor call start opens it")
  }

  /// Shows another page, if navigation may lead there.
  func open(_ url: String) throws(VerbFailure) {
    let page = try page()
    guard let origin = Origin(url: url), !url.utf8.contains(where: { $0 <= 32 || $0 == 127 }) else {
      throw VerbFailure(.badData, "\"\(url)\" is no URL; accepted: https://HOST[:PORT]/PATH, http://HOST[:PORT]/PATH")
    }
    guard case .page(let own) = configuration.call?.target, let settings = configuration.call else { return }
    guard origin == Origin(url: own) || settings.allowedOrigins.contains(origin) else {
      throw VerbFailure(.notPermitted, "\(origin) is neither the call's origin nor one of call.allowed_origins")
    }
    page.tell(.openRequested(url: url))
  }

  /// Does what a person in front of the screen would.
  func perform(_ gesture: Services.Gesture) throws(VerbFailure) {
    guard configuration.access.allowsRemoteInput else {
      throw VerbFailure(.notPermitted, "remote input is switched off; access.remote_input = true in the configuration allows it")
    }
    switch gesture {
    case .tap(let x, let y):
      guard (0..<Double(stage.width)).contains(x), (0..<Double(stage.height)).contains(y) else {
        throw VerbFailure(.badData, "\(x),\(y) is not on the screen of \(stage.width)x\(stage.height)")
      }
      let left: UInt32 = 0x110
      send([.pointerMotion(x: x, y: y), .pointerButton(code: left, isPressed: true), .pointerButton(code: left, isPressed: false)])
    case .type(let text): send([.text(text)])
    case .key(let name): send(try KeyStroke(name).steps.map { .key(code: $0.code, isPressed: $0.isPressed) })
    }
  }

  private func send(_ events: [StageInput]) {
    power.touch()
    for event in events { stageThread.send(event) }
  }
}

extension Status.Page {
  /// The page as its supervisor sees it.
  init(_ page: PageSupervisor) {
    self.init(state: page.state.rawValue, title: page.title, url: page.url, restarts: page.restarts)
  }
}
