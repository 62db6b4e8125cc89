import Base
import Bytes
import STUN
import TURN

/// A full ICE agent for one component (RFC 8445), with trickle (RFC 8838), consent (RFC 7675), active TCP (RFC 6544) and its own TURN
/// clients (RFC 8656).
///
/// A value without clock, socket or thread. Bytes from the network and the time go in; `pollTransmit`, `pollEvent`,
/// `pollApplicationData` and `deadline` tell what is to be done. The owner polls after each call that takes `now`.
///
/// As in libwebrtc, the controlling side selects and nominates the first pair that answers, and nominates again when one of higher priority
/// does; the controlled side takes the best pair that was nominated and still answers. Data may flow on the first valid pair before that.
public struct Agent: Sendable {
  struct LocalSocket: Sendable {
    var id: SocketIdentifier
    var address: SocketAddress
    /// Earlier sockets of the family; IPv6 and IPv4 take turns (RFC 8421).
    var slot: Int
    var isGathered = false
  }

  struct LocalCandidate: Sendable {
    var candidate: Candidate
    /// The base; nil for an active TCP candidate, which has one base for each connection.
    var path: Path?
    var base: SocketAddress
  }

  /// Credentials of both sides.
  struct Generation: Sendable {
    var number: Int
    var local: Parameters
    var remote: Parameters?
  }

  /// A check that came before the remote parameters.
  struct EarlyCheck: Sendable {
    var path: Path
    var source: SocketAddress
    var remoteFragment: String
    var priority: UInt32
    var isNominating: Bool
  }

  /// Where application data goes, kept ready for the packet path.
  struct ActiveRoute: Sendable {
    var pairIndex: Int
    var path: Path
    var socket: SocketIdentifier
    var destination: SocketAddress
    var channel: UInt16 = 0
    var isStream = false
  }

  /// Candidates, pairs and early checks are bounded, as the peer sends them.
  static let candidateLimit = 100
  static let pairLimit = 100
  static let earlyCheckLimit = 32

  /// As given, with the servers set last.
  public internal(set) var configuration: Configuration
  /// The role (RFC 8445 section 6.1.1). A role conflict may change it.
  public internal(set) var isControlling: Bool
  /// The connection's state.
  public internal(set) var connectionState = ConnectionState.new
  /// Whether candidates are still being looked for.
  public internal(set) var gatheringState = GatheringState.new
  /// Discards and errors by name, such as `ice.check.unauthenticated`.
  public internal(set) var counters = Counters()

  var random: Randomness
  let isSeeded: Bool
  let tieBreaker: UInt64
  var current: Generation
  /// The generation of the selected pair while a restart is under way.
  var previous: Generation?

  var sockets: [LocalSocket] = []
  var locals: [LocalCandidate] = []
  var remotes: [Candidate] = []
  var pendingRemotes: [Candidate] = []
  var earlyChecks: [EarlyCheck] = []
  var isRemoteComplete = false
  var checkList: [Pair] = []
  var selectedID: Int?
  var selectedSince = Instant.zero
  /// Controlled: the pair that the controlling side evidently uses.
  var favouredID: Int?
  var active: ActiveRoute?
  var queries: [ServerQuery] = []
  var relays: [Relay] = []
  var streams: [PeerStream] = []
  var foundations: [String: Int] = [:]
  var nextPairID = 1
  var nextStreamID = -1
  var nextRelayID = 1

  /// The latest time that was told.
  var now = Instant.zero
  /// When the peer last gave something to try.
  var lastProgress: Instant?
  var hasConnected = false
  var isConsentLost = false
  /// Theoretical arrival time of the next check, as in a leaky bucket.
  var checkPace = Instant(nanoseconds: .min / 2)
  /// When `handleTimeout` wants to be called next; nil when nothing is under way.
  public internal(set) var deadline: Instant?

  private var transmits = Queue<Transmit>()
  private var events = Queue<Event>()
  var applicationData = Queue<[UInt8]>()

  /// An agent at rest. With a `seed` its credentials, identifiers and times repeat, which is for tests only.
  public init(configuration: Configuration, isControlling: Bool, seed: UInt64? = nil) {
    self.configuration = configuration
    self.isControlling = isControlling
    isSeeded = seed != nil
    random = Randomness(seed: seed)
    tieBreaker = random.next()
    current = Generation(number: 0, local: Parameters(using: &random), remote: nil)
  }

  /// This side's credentials, for the description.
  public var localParameters: Parameters { current.local }
  /// The peer's credentials; nil until set, and again after `restart`.
  public var remoteParameters: Parameters? { current.remote }
  /// The candidates found so far, as they may be shown.
  public var localCandidates: [Candidate] { locals.map { shown($0.candidate) } }
  /// The peer's candidates, those learnt from its checks included.
  public var remoteCandidates: [Candidate] { remotes }
  /// All pairs with their counts.
  public var pairs: [PairStatistics] {
    checkList.map { pair in
      var statistics = pair.statistics
      statistics.priority = priority(pair)
      statistics.isSelected = pair.id == selectedID
      return statistics
    }
  }

  /// The candidates that application data travels between; nil while there is no way.
  public var selectedPair: (local: Candidate, remote: Candidate)? {
    selectedIndex.map { (checkList[$0].statistics.local, checkList[$0].statistics.remote) }
  }

  /// Whether only relayed candidates are gathered from the next gathering on (W3C `iceTransportPolicy`).
  public mutating func setRelayOnly(_ isRelayOnly: Bool) { configuration.relayOnly = isRelayOnly }

  /// Sets the role before checks begin.
  public mutating func setControlling(_ isControlling: Bool) { self.isControlling = isControlling }

  /// Adds a datagram socket that the owner bound to `address`; may come at any time. Sockets added earlier are preferred.
  public mutating func addSocket(_ id: SocketIdentifier, address: SocketAddress) {
    guard connectionState != .closed, !sockets.contains(where: { $0.id == id }) else { return }
    // A socket that was removed leaves its place to the next one.
    let taken = sockets.filter { $0.address.ip.family == address.ip.family }.map(\.slot)
    let slot = (0...taken.count).first { !taken.contains($0) } ?? taken.count
    sockets.append(LocalSocket(id: id, address: address, slot: slot))
    if gatheringState != .new { deadline = now }
  }

  /// Looks for candidates on all sockets and servers; those that come later are used as they come.
  public mutating func gather(now: Instant) {
    guard gatheringState == .new, connectionState != .closed else { return }
    self.now = now
    setGatheringState(.gathering)
    for index in relays.indices where relays[index].client.state == .allocated { emitRelayCandidates(index) }
    finish(now)
  }

  /// Forgets what was gathered, since no description needs it any more; `gather` begins anew.
  public mutating func endGathering() {
    guard gatheringState != .new, connectionState != .closed else { return }
    (locals, queries) = ([], [])
    for index in sockets.indices { sockets[index].isGathered = false }
    setGatheringState(.new)
  }

  /// Replaces the servers, whose names were resolved meanwhile. Those in use already stay so.
  public mutating func setServers(_ servers: [Server], now: Instant) {
    configuration.servers = servers
    configuration.expectsServers = false
    guard gatheringState != .new, connectionState != .closed else { return }
    for index in sockets.indices { sockets[index].isGathered = false }
    finish(now)
  }

  /// Gives the peer's credentials: checks begin. Repeating the same ones changes nothing; others mean another peer, or the peer anew, so that what
  /// was learnt from the former is forgotten.
  public mutating func setRemoteParameters(_ parameters: Parameters, now: Instant) {
    guard connectionState != .closed, current.remote != parameters else { return }
    if let former = current.remote, former.usernameFragment != parameters.usernameFragment {
      dropPairs { [number = current.number] in $0.generation == number }
      remotes = []
      (isRemoteComplete, isConsentLost) = (false, false)
      for stream in streams { push(.closeStream(stream.id)) }
      streams = []
    }
    current.remote = parameters
    if parameters.isLite { isControlling = true }
    lastProgress = now
    let pending = pendingRemotes
    pendingRemotes = []
    for candidate in pending { insertRemote(candidate, now: now) }
    let early = earlyChecks
    earlyChecks = []
    for check in early where check.remoteFragment == parameters.usernameFragment {
      noteCheck(on: check.path, from: check.source, priority: check.priority, isNominating: check.isNominating, now: now)
    }
    finish(now)
  }

  /// Takes a candidate of the peer. One that has a name only is left out until it comes again with its address.
  public mutating func addRemoteCandidate(_ candidate: Candidate, now: Instant) {
    guard connectionState != .closed else { return }
    guard current.remote != nil else {
      guard pendingRemotes.count < Agent.candidateLimit else { return counters.count("ice.candidate.excess") }
      return pendingRemotes.append(candidate)
    }
    insertRemote(candidate, now: now)
    finish(now)
  }

  /// The peer has no more candidates.
  public mutating func endOfRemoteCandidates(now: Instant) {
    isRemoteComplete = true
    finish(now)
  }

  /// Makes credentials for a restart that an offer announces and that takes effect later.
  public mutating func makeParameters() -> Parameters { Parameters(using: &random) }

  /// Begins a new generation: new local credentials, candidates told anew, remote ones forgotten. Data stays on the old pair until a new one
  /// is selected (RFC 8445 section 9). The credentials may have been made, and told to the peer, before.
  public mutating func restart(with parameters: Parameters? = nil, now: Instant) {
    guard connectionState != .closed else { return }
    if let index = selectedIndex {
      if checkList[index].generation == current.number { previous = current }
      checkList = [checkList[index]]
    } else {
      previous = nil
      checkList = []
    }
    current = Generation(number: current.number + 1, local: parameters ?? Parameters(using: &random), remote: nil)
    (remotes, pendingRemotes, earlyChecks, locals) = ([], [], [], [])
    (isRemoteComplete, isConsentLost, lastProgress) = (false, false, nil)
    active = nil
    let kept = checkList.first?.path
    for stream in streams where kept != .stream(stream.id) { push(.closeStream(stream.id)) }
    streams.removeAll { kept != .stream($0.id) }
    if gatheringState != .new { regather(now: now) }
    finish(now)
  }

  /// Takes a restart back whose offer came to nothing: `earlier` is the agent as it was just before. What has happened since to the selected
  /// pair, to sockets and to relays stays.
  public mutating func rollBackRestart(to earlier: Agent, now: Instant) {
    guard connectionState != .closed else { return }
    var restored = earlier
    (restored.transmits, restored.events, restored.applicationData) = (transmits, events, applicationData)
    (restored.counters, restored.random, restored.nextStreamID, restored.nextRelayID) = (counters, random, nextStreamID, nextRelayID)
    (restored.sockets, restored.relays, restored.queries, restored.configuration) = (sockets, relays, queries, configuration)
    (restored.connectionState, restored.gatheringState, restored.selectedSince) = (connectionState, gatheringState, selectedSince)
    if let index = selectedIndex, let old = restored.checkList.firstIndex(where: { $0.id == checkList[index].id }) {
      restored.checkList[old] = checkList[index]
    }
    let open = Set(streams.map(\.id))
    restored.streams.removeAll { !open.contains($0.id) }
    let (bound, allocated) = (Set(sockets.map(\.id)), Set(relays.map(\.id)))
    func isGone(_ path: Path) -> Bool {
      switch path {
      case .datagram(let socket): !bound.contains(socket)
      case .relay(let relay): !allocated.contains(relay)
      case .stream(let stream): !open.contains(stream)
      }
    }
    restored.locals.removeAll { $0.path.map(isGone) ?? false }
    restored.active = nil
    self = restored
    dropPairs { isGone($0.path) }
    finish(now)
  }

  /// The latest round trip on the selected pair; nil while there is none.
  public var roundTripTime: Interval? { selectedIndex.flatMap { checkList[$0].statistics.currentRoundTripTime } }

  /// Does what time asks for.
  public mutating func handleTimeout(now: Instant) {
    guard connectionState != .closed else { return }
    finish(now)
  }

  /// The next bytes to send.
  public mutating func pollTransmit() -> Transmit? { transmits.popFirst() }

  /// The next event.
  public mutating func pollEvent() -> Event? { events.popFirst() }

  /// The next application data that came on a stream.
  public mutating func pollApplicationData() -> [UInt8]? { applicationData.popFirst() }

  /// Ends everything: allocations are given back, streams closed. What is queued can still be polled.
  public mutating func close(now: Instant) {
    guard connectionState != .closed else { return }
    self.now = now
    for index in relays.indices {
      relays[index].client.close(now: now)
      drainRelay(index, now: now)
      if let stream = relays[index].stream { push(.closeStream(stream)) }
    }
    for stream in streams { push(.closeStream(stream.id)) }
    (relays, streams, queries, sockets) = ([], [], [], [])
    for index in checkList.indices { checkList[index].fail() }
    (selectedID, active, deadline) = (nil, nil, nil)
    setConnectionState(.closed)
  }

  mutating func push(_ transmit: Transmit) { transmits.append(transmit) }
  mutating func push(_ event: Event) { events.append(event) }

  mutating func setGatheringState(_ state: GatheringState) {
    guard gatheringState != state else { return }
    gatheringState = state
    push(.gatheringState(state))
  }

  mutating func setConnectionState(_ state: ConnectionState) {
    guard connectionState != state else { return }
    connectionState = state
    push(.connectionState(state))
  }

  /// What follows every change: due work, selection, state, the next deadline.
  mutating func finish(_ now: Instant) {
    guard connectionState != .closed else { return }
    self.now = now
    runGathering(now)
    updateSelection(now)
    sendDueChecks(now)
    updateState(now)
    updateActiveRoute()
    deadline = nextDeadline(now)
  }

  private func nextDeadline(_ now: Instant) -> Instant? {
    var earliest: Instant?
    func consider(_ instant: Instant?) {
      if let instant { earliest = min(earliest ?? instant, instant) }
    }
    consider(gatheringDeadline)
    consider(checkDeadline)
    consider(stateDeadline(now))
    return earliest
  }
}
