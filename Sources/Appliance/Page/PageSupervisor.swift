import Base
import Call

/// Keeps the call page on the screen: what happens and the time go in, what to do comes out. It reads no clock and touches nothing, and it never gives up.
///
/// ```
///             drawn             connected
///  loading ──────────▶ ready ◀───────────▶ in-call
///   ▲  │ failed          │ failed            │ failed
///   │  ▼                 ▼                   ▼
///   └─ error ◀───────────┴───────────────────┘
///      after a pause that grows, or at once when the network or the clock comes right
/// ```
public struct PageSupervisor: Sendable {
  /// What the page is, and how long it may take.
  public struct Configuration: Sendable {
    /// The call's URL: every failure ends in it being loaded again.
    public var url: String
    /// How long the page host gives a page until it has drawn; the host itself is given up somewhat later.
    public var loadDeadline = Interval.seconds(15)
    /// When the page is loaded anew each day; nil: never.
    public var reloadAt: DailyTime?
    /// Where the jitter of the pauses comes from: the same seed gives the same pauses.
    public var seed: UInt64 = 0

    /// A page at `url`, everything else as when the configuration file does not name it.
    public init(url: String) { self.url = url }
  }

  /// How far the page is; the names are those of `parlor status`.
  public enum State: String, Sendable {
    /// It is being loaded and nothing of it stands on the screen yet.
    case loading
    /// It stands on the screen.
    case ready
    /// It stands on the screen, and one of its connections is connected.
    case inCall = "in-call"
    /// It is not on the screen; `code` says why, and `retryAt` when it is tried again.
    case error
  }

  /// What the owner tells.
  public enum Event: Sendable, Equatable {
    /// The page host has connected, and begins to load the call's URL.
    case hostConnected
    /// The page host's connection or process has ended, or it could not be started; it is started again at `nextStart`, or at some time when that is nil.
    case hostLost(reason: String, nextStart: Instant?)
    /// A page took the place of the one before.
    case committed(url: String)
    /// The page's first picture is on the screen.
    case drawn(url: String)
    /// The page's title.
    case title(String)
    /// The page cannot be shown, or not any more; `code` is one of area `page`.
    case failed(code: HealthCode, reason: String)
    /// Whether any of the page's connections is connected.
    case call(isConnected: Bool)
    /// Whether the network is there.
    case network(isUp: Bool)
    /// The wall's clock, told every few seconds: seconds since midnight, and whether it is set.
    case clock(secondOfDay: Int, isSet: Bool)
    /// An operator wants this URL on the screen; nil: the call's.
    case openRequested(url: String?)
    /// An operator wants the page loaded anew.
    case reloadRequested
    /// An operator wants the page host ended and started.
    case restartRequested
  }

  /// What the owner is to do.
  public enum Action: Sendable, Equatable {
    /// Have the page host load this URL.
    case load(String)
    /// Have the page host load the page anew; the old picture stays until the new page has drawn.
    case reload
    /// End the page host, by force when it does not go by itself; it comes back and loads the call's URL.
    case restartHost
  }

  /// How far the page is.
  public private(set) var state = State.loading
  /// Why it is not on the screen; nil when it is, or when nothing went wrong yet.
  public private(set) var code: HealthCode?
  /// The same in words.
  public private(set) var reason: String?
  /// When it is tried again by itself; nil while it is tried, or when that waits for the page host.
  public private(set) var retryAt: Instant?
  /// What the page calls itself.
  public private(set) var title: String?
  /// Where the page is now; the call's URL until it has led elsewhere.
  public private(set) var url: String
  /// How often the page or its host broke down and came back.
  public private(set) var restarts = 0

  private let configuration: Configuration
  private var actions: [Action] = []
  private var backoff: Backoff
  private var isHostThere = false
  /// Whether the page host is to end because it was asked to.
  private var isRestarting = false
  /// When a page host that says nothing counts as broken.
  private var patience: Instant?
  private var isConnected = false
  private var isNetworkUp = true
  private var isClockSet = true
  private var secondOfDay: Int?
  private var isDailyReloadDue = false

  /// How long after its own deadline the page host must have said how a page's loading went.
  static let hostGrace = Interval.seconds(10)
  /// How long the page host may take to start and connect.
  static let startLimit = Interval.seconds(30)
  /// The longest pause between two attempts, jitter left out.
  static let longestPause = Interval.seconds(60)

  /// A supervisor that waits, from `now` on, for the page host to connect.
  public init(_ configuration: Configuration, now: Instant) {
    (self.configuration, url) = (configuration, configuration.url)
    backoff = Backoff(
      seed: configuration.seed, shortest: .seconds(1), longest: PageSupervisor.longestPause, stableAfter: .seconds(120))
    patience = now + PageSupervisor.startLimit
  }

  /// Whether a picture of the page stands on the screen.
  public var isDrawn: Bool { state == .ready || state == .inCall }

  /// Whether the page cannot be shown because nothing has set the clock.
  public private(set) var isClockToBlame = false

  /// When `handleTimeout` is to be called next; nil: not before the next event.
  public var deadline: Instant? { [retryAt, patience].compactMap { $0 }.min() }

  /// The next thing to do; nil when there is nothing.
  public mutating func pollAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

  /// Takes what happened at `now`.
  public mutating func handle(_ event: Event, now: Instant) {
    switch event {
    case .hostConnected:
      (isHostThere, isRestarting) = (true, false)
      begin(now)
    case .hostLost(let reason, let nextStart):
      if isHostThere { restarts += 1 }
      (isHostThere, isConnected) = (false, false)
      // Asked for, it is no failure; a pause before the next start says that something failed all the same.
      if isRestarting, (nextStart ?? now) <= now { (state, code) = (.loading, nil) } else { fail(.pageHost, reason) }
      (retryAt, patience) = (nil, (nextStart ?? now) + PageSupervisor.startLimit)
      hostRetry = nextStart
    case .committed(let url): self.url = url
    case .drawn(let url):
      self.url = url
      (state, code, reason, retryAt, patience) = (isConnected ? .inCall : .ready, nil, nil, nil, nil)
      isClockToBlame = false
      backoff.succeeded(at: now)
    case .title(let title): self.title = title.isEmpty ? nil : title
    case .failed(let code, let reason):
      if code.isBreakdown { restarts += 1 }
      isConnected = false
      let isClockToBlame = code == .pageTLS && !isClockSet && reason.contains("not valid yet")
      fail(code, isClockToBlame ? Health.clockReason : reason)
      self.isClockToBlame = isClockToBlame
      patience = nil
      retryAt = backoff.failed(at: now)
    case .call(let isConnected):
      self.isConnected = isConnected
      if isDrawn { state = isConnected ? .inCall : .ready }
      if !isConnected { reloadDaily(now) }
    case .network(let isUp):
      let isBack = isUp && !isNetworkUp
      isNetworkUp = isUp
      if isBack { retryNow(now) }
    case .clock(let second, let isSet):
      let isBack = isSet && !isClockSet
      isClockSet = isSet
      if isBack, code == .pageTLS { retryNow(now) }
      passTime(to: second, now)
    case .openRequested(let url): load(url ?? configuration.url, now)
    case .reloadRequested:
      // A page that is not on the screen has nothing to be loaded anew.
      if isDrawn { reload(now) } else { load(configuration.url, now) }
    case .restartRequested:
      isRestarting = isHostThere
      patience = now + PageSupervisor.startLimit
      (state, code, reason, retryAt) = (.loading, nil, nil, nil)
      actions.append(.restartHost)
    }
  }

  /// Does what is due at `now`.
  public mutating func handleTimeout(now: Instant) {
    if let retryAt, retryAt <= now { retryNow(now) }
    guard let patience, patience <= now else { return }
    if isHostThere {
      fail(.pageHost, "The page program does not answer")
      actions.append(.restartHost)
    } else {
      isRestarting = false
      fail(.pageHost, "The page program does not start")
    }
    self.patience = now + PageSupervisor.startLimit
    retryAt = nil
  }

  /// When the page host is started again, if that is known: what a countdown on the screen runs to while there is no `retryAt`.
  public private(set) var hostRetry: Instant?

  // MARK: Steps

  /// An attempt to load a page begins.
  private mutating func begin(_ now: Instant) {
    (retryAt, hostRetry) = (nil, nil)
    patience = now + configuration.loadDeadline + PageSupervisor.hostGrace
    // A failure stays on the screen until a page has drawn; a page stays on the screen until it is replaced.
    if state == .error, code == .pageHost { (code, reason) = (nil, nil) }
    if state == .error, code == nil { state = .loading }
  }

  private mutating func load(_ url: String, _ now: Instant) {
    guard isHostThere else { return }
    actions.append(.load(url))
    begin(now)
  }

  private mutating func reload(_ now: Instant) {
    isDailyReloadDue = false
    actions.append(.reload)
    begin(now)
  }

  private mutating func retryNow(_ now: Instant) {
    guard retryAt != nil else { return }
    load(configuration.url, now)
  }

  private mutating func fail(_ code: HealthCode, _ reason: String) {
    (state, self.code, self.reason, title, url) = (.error, code, reason, nil, configuration.url)
    isClockToBlame = false
  }

  // MARK: The daily reload

  private mutating func passTime(to second: Int, _ now: Instant) {
    defer { secondOfDay = second }
    guard let at = configuration.reloadAt, let before = secondOfDay else { return }
    let day = 86_400
    let step = (second - before + day) % day
    // A clock that was set leaps; only a few minutes that really passed can have led past the time.
    if step > 0, step <= 600, (at.seconds - before + day) % day <= step, at.seconds != before { isDailyReloadDue = true }
    reloadDaily(now)
  }

  private mutating func reloadDaily(_ now: Instant) {
    guard isDailyReloadDue else { return }
    if isDrawn {
      if !isConnected { reload(now) }
    } else {
      // What is being loaded is new anyway.
      isDailyReloadDue = false
    }
  }
}
