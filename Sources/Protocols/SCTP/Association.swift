import Base
import Bytes

/// One end of an SCTP association that carries the data channels of a WebRTC call (RFC 9260, RFC 8831, RFC 8832), over DTLS (RFC 8261).
///
/// A value without clock, socket or thread. Feed it with `receive` and `handleTimeout`; after each call, and after each call of `open`, `send`
/// or `close`, take packets with `pollTransmit` and events with `pollEvent` until both give nil, and call `handleTimeout` at `deadline`.
public struct Association: Sendable {
  /// The states of RFC 9260 section 4, and the end.
  enum Phase: Sendable {
    case closed, cookieWait, cookieEchoed, established, shutdownPending, shutdownSent, shutdownReceived, shutdownAckSent, ended
  }

  /// Whether an acknowledgment is owed.
  enum Acknowledgment: Sendable { case none, delayed, immediate }

  /// What the association was made with.
  public let configuration: Configuration
  /// Counts of what was discarded, by names that begin with `sctp.`.
  public internal(set) var counters = Counters()

  var phase = Phase.closed
  var isDTLSClient: Bool
  var random: RandomSource
  let authenticate: SipHash

  // The two ends.
  var localTag: UInt32
  var localInitialTSN: UInt32
  var peerTag: UInt32 = 0
  var peerInitialTSN: UInt32 = 0
  var peerIncomingStreams = UInt16.max
  var extensions: Initiation.Extensions = []
  var cookie: [UInt8] = []
  var isCookieEchoDue = false

  // Out.
  var messages = MessagePool()
  var outstanding: OutstandingChunks
  var congestion: CongestionControl
  var timeout: RetransmissionTimeout
  var pathMTU: PathMTU
  var scheduler = StreamScheduler()
  /// What the peer can still take, in bytes.
  var peerWindow = 0
  /// Whether the last SACK said that the peer can take no full packet.
  var isPeerWindowClosed = false
  /// Whether one packet of retransmissions may leave whatever the congestion window says (RFC 9260 section 7.2.4, rule 3).
  var isFastRetransmitDue = false
  var lastDataSent = Instant.zero
  var forwarded: (tsn: UInt32, at: Instant)?
  var isForwardTSNDue = false
  /// Whole packets to be sent first: handshake, and answers that carry other tags.
  var readyPackets = Ring<[UInt8]>()
  /// Chunks to be bundled into the next packets.
  var controlChunks = Ring<[UInt8]>()
  var isShutdownDue = false
  var maximumSendSize = 65_536
  private var scratch: [UInt8]

  // In.
  var received: ReceivedTSNs
  var reassembly: Reassembly
  var streams = IncomingStreams()
  var acknowledgment = Acknowledgment.none
  var unacknowledgedPackets = 0
  var duplicates: [UInt32] = []
  let receiveLimit: Int
  var advertisedWindow: Int
  /// Bytes of messages among the events.
  var eventBytes = 0
  var events = Ring<Event>(minimumCapacity: 16)

  // Channels.
  var channels = ChannelTable()
  /// All stream identifiers of our parity below it are in use.
  var lowestFreeStream: Int?
  var areStreamsAssigned = false
  var resets: StreamResets

  // Timers: INIT and COOKIE ECHO, DATA, SHUTDOWN, delayed acknowledgment, heartbeat.
  var initiationDeadline: Instant?
  var retransmissionDeadline: Instant?
  var shutdownDeadline: Instant?
  var acknowledgmentDeadline: Instant?
  var heartbeatDeadline: Instant?
  /// The HEARTBEAT that is not answered yet.
  var heartbeat: (nonce: UInt64, sent: Instant)?
  var initiationAttempts = 0
  /// Timeouts in a row.
  var errors = 0
  var totals = Statistics()

  /// An association at rest.
  ///
  /// - Parameters:
  ///   - isDTLSClient: our DTLS role. The client opens even streams, the server odd ones (RFC 8832 section 6).
  ///   - seed: secret randomness; tags, TSNs and the cookie key are made from it.
  public init(configuration: Configuration = Configuration(), isDTLSClient: Bool, seed: UInt64) {
    precondition(configuration.mtu >= 512 && configuration.maximumMTU <= 1_400, "the MTU must lie between 512 and 1,400 bytes")
    precondition(configuration.receiveWindow >= 1_500, "SCTP needs a receive window of at least 1,500 bytes")
    self.configuration = configuration
    self.isDTLSClient = isDTLSClient
    random = RandomSource(seed: seed)
    authenticate = SipHash(key: (random.next(), random.next()))
    localTag = UInt32.random(in: 1...UInt32.max, using: &random)
    localInitialTSN = UInt32(truncatingIfNeeded: random.next())
    outstanding = OutstandingChunks(initialTSN: localInitialTSN)
    congestion = CongestionControl(mtu: configuration.mtu)
    timeout = RetransmissionTimeout(
      initial: configuration.initialTimeout, minimum: configuration.minimumTimeout, maximum: configuration.maximumTimeout)
    pathMTU = PathMTU(base: configuration.mtu, maximum: max(configuration.mtu, configuration.maximumMTU))
    scratch = [UInt8](repeating: 0, count: max(configuration.mtu, configuration.maximumMTU))
    received = ReceivedTSNs(initialTSN: 0)
    // A message that we accept must fit, or it would never be complete.
    receiveLimit = max(configuration.receiveWindow, configuration.maximumMessageSize + 65_536)
    let accepted = configuration.maximumMessageSize > 0 ? configuration.maximumMessageSize : max(1, configuration.receiveWindow - 65_536)
    reassembly = Reassembly(maximumMessageSize: accepted)
    advertisedWindow = receiveLimit
    resets = StreamResets(initialTSN: localInitialTSN)
  }

  /// Where the association stands.
  public var state: State {
    switch phase {
    case .closed, .ended: .closed
    case .cookieWait, .cookieEchoed: .connecting
    case .established: .connected
    case .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent: .shutdown
    }
  }

  /// Gives channels their streams from now on, ahead of `start`: the DTLS role is final.
  public mutating func assignStreams() {
    areStreamsAssigned = true
    for slot in channels.used where channels[slot].stream == nil { assignStream(slot) }
  }

  /// How many channels there can be at once, as both ends agreed; nil until the association is up.
  public var maximumChannels: Int? {
    guard phase != .closed, phase != .cookieWait, phase != .cookieEchoed, phase != .ended else { return nil }
    return Int(min(configuration.streams, peerIncomingStreams))
  }

  /// Sets our DTLS role when it was not known at the beginning. Only before `start`.
  public mutating func setRole(isDTLSClient: Bool) {
    precondition((phase == .closed || phase == .ended) && !areStreamsAssigned, "streams have been numbered by the role that was given")
    self.isDTLSClient = isDTLSClient
  }

  /// The largest message that the peer accepts: its description's `a=max-message-size`. 0 means that it has no limit; then ours holds.
  public mutating func setRemoteMaximumMessageSize(_ size: Int) {
    maximumSendSize = size <= 0 ? configuration.maximumBufferedAmount : min(size, configuration.maximumBufferedAmount)
  }

  /// The largest message that `send` takes, in bytes: W3C `maxMessageSize`.
  public var remoteMaximumMessageSize: Int { maximumSendSize }

  /// Sends INIT. Both ends do it with WebRTC.
  public mutating func start(now: Instant) {
    guard phase == .closed else { return }
    phase = .cookieWait
    assignStreams()
    sendInitiation(now: now)
  }

  /// When `handleTimeout` has to be called; nil when nothing is pending.
  public var deadline: Instant? {
    var earliest: Instant?
    func consider(_ instant: Instant?) {
      guard let instant else { return }
      earliest = earliest.map { min($0, instant) } ?? instant
    }
    consider(initiationDeadline)
    consider(retransmissionDeadline)
    consider(shutdownDeadline)
    consider(acknowledgmentDeadline)
    consider(heartbeatDeadline)
    consider(resets.deadline)
    consider(pathMTU.deadline)
    return earliest
  }

  /// The next event; nil when there is none.
  public mutating func pollEvent() -> Event? {
    guard let event = events.popFirst() else { return nil }
    if case .message(_, let bytes, _) = event {
      eventBytes -= bytes.count
      // Tell the peer of room that opened after the window was nearly closed (RFC 9260 section 6.2).
      if advertisedWindow < receiveLimit / 4, availableWindow > receiveLimit / 2 { acknowledgment = .immediate }
    }
    return event
  }

  /// The next packet, one DTLS record; nil when there is nothing to send now.
  public mutating func pollTransmit(now: Instant) -> [UInt8]? {
    var buffer: [UInt8] = []
    swap(&buffer, &scratch)
    defer { swap(&buffer, &scratch) }
    let count: Int? = {
      var span = buffer.mutableSpan
      var bytes = span.mutableBytes
      return pollTransmit(into: &bytes, now: now)
    }()
    guard let count else { return nil }
    return Array(bytes: buffer.span.bytes.extracting(0..<count))
  }

  /// Ends the association at once; the peer is told.
  public mutating func abort(now: Instant) {
    end(reason: nil, cause: .userInitiatedAbort)
  }

  /// Ends the association when all that was sent is acknowledged (RFC 9260 section 9.2).
  public mutating func shutdown(now: Instant) {
    switch phase {
    case .established:
      phase = .shutdownPending
      continueShutdown(now: now)
    case .closed, .cookieWait, .cookieEchoed: end(reason: nil, cause: phase == .cookieEchoed ? .userInitiatedAbort : nil)
    default: break
    }
  }

  /// Tells that packets take another way now: measures afresh, and sends what is outstanding again without waiting for the timeout.
  public mutating func handlePathChange(now: Instant) {
    timeout.reset()
    pathMTU.reset(now: now)
    congestion.mtu = pathMTU.current
    errors = 0
    if phase == .established { pathMTU.start() }
    if retransmissionDeadline != nil { retransmissionDeadline = now }
    if initiationDeadline != nil { initiationDeadline = now }
  }

  /// Figures of the whole association.
  public var statistics: Statistics {
    var result = totals
    result.smoothedRoundTripTime = timeout.smoothedRoundTrip
    result.congestionWindow = congestion.window
    result.receiverWindow = max(0, peerWindow)
    result.mtu = pathMTU.current
    result.unackData = outstanding.count
    return result
  }

  /// Figures of a channel; nil when it does not exist any more.
  public func statistics(of identifier: ChannelIdentifier) -> ChannelStatistics? {
    channels.slot(of: identifier).map { channels[$0].statistics }
  }

  /// How many bytes we can still take.
  var availableWindow: Int { max(0, receiveLimit - reassembly.byteCount - streams.byteCount - eventBytes) }

  /// Closes everything. With `cause` the peer is sent ABORT.
  mutating func end(reason: String?, cause: ErrorCause?) {
    guard phase != .ended else { return }
    if let cause, peerTag != 0 {
      let text = cause == .userInitiatedAbort ? [] : Array((reason ?? "").utf8.prefix(200))
      readyPackets.append(packet(tag: peerTag, encodedChunk(.abort, cause.encoded(text))))
    }
    phase = .ended
    closeAllChannels()
    events.append(.closed(reason: reason))
    (initiationDeadline, retransmissionDeadline, shutdownDeadline, acknowledgmentDeadline, heartbeatDeadline) = (nil, nil, nil, nil, nil)
    resets = StreamResets(initialTSN: 0)
    pathMTU = PathMTU(base: pathMTU.current, maximum: pathMTU.current)
  }
}
