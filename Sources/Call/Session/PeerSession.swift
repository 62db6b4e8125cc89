import Base
import Bytes
import DTLS
import Frames
import ICE
import Net
import WebRTC

/// One peer connection with its sockets, its timer and its media: the I/O around the sans-IO core. Everything in it happens on the network thread.
public final class PeerSession: @unchecked Sendable {
  // Unchecked: every method checks that it runs on the network thread's loop.

  /// How a session reaches the network.
  public struct Configuration: Sendable {
    /// STUN and TURN servers, by URL.
    public var iceServers: [ICEServer] = []
    /// Only relayed candidates.
    public var isRelayOnly = false
    /// Candidates bear mDNS names in place of host addresses.
    public var concealsAddresses = false
    /// Loopback addresses are candidates too: for peers on the same machine.
    public var includesLoopback = false
    /// The names of the interfaces whose addresses are candidates; nil: all of them.
    public var interfaces: [String]?
    /// Codecs in order of preference.
    public var codecs = CodecCapability.all
    /// Who vouches for TURN servers over TLS.
    public var trust = TrustStore.system
    /// The DTLS certificate; made ahead of the call.
    public var certificate: Certificate
    /// Bits per second of video to start with, and never to exceed.
    public var bitrate: (start: Int, maximum: Int) = (1_000_000, 4_000_000)
    /// Bytes of data channel messages that wait here for an application that does not take them, before the peer has to wait. At least 1,500.
    public var receiveWindow = 5 << 20

    /// The defaults.
    public init(certificate: Certificate) { self.certificate = certificate }
  }

  let network: NetworkThread
  let configuration: Configuration
  /// The connection; changed through `withConnection`, so that what it produces goes out.
  package var connection: PeerConnection
  /// Told of every event, on the network thread.
  public var onEvent: (PeerConnectionEvent) -> Void = { _ in }
  /// Told of the first packet that a transceiver receives, and of the first after it was allowed to receive again, on the network thread.
  public var onMedia: (TransceiverIdentifier) -> Void = { _ in }
  /// Called when events were told and packets sent, before the network thread waits: the place to look at what is still to be sent.
  public var onProcessed: () -> Void = {}
  var arriving: Set<TransceiverIdentifier> = []
  var senders: [TransceiverIdentifier: Sender] = [:]
  var videoReceivers: [TransceiverIdentifier: VideoReceiver] = [:]
  var audioReceivers: [TransceiverIdentifier: AudioReceiver] = [:]
  var plan = MediaPlan()
  var encoded: [TransceiverIdentifier: EncoderFigures] = [:]
  var isMediaFlowing = false
  /// Frames given to the connection whose last packet has not left, by capture time.
  var leaving: [Instant: Ledger] = [:]
  var jitterTimer: TimerToken?
  /// When sound and pictures were last held against each other.
  var synchronized: Instant?
  /// Counts of what this layer had to drop.
  public internal(set) var counters = Counters()
  /// Where the time goes, per stage.
  public let latency = LatencyRecorder()

  private var sockets: [SocketIdentifier: UDPSocket] = [:]
  private var streams: [SocketIdentifier: TCPStream] = [:]
  private var nextSocket = 0
  private var servers: [ICE.Server] = []
  /// Server names whose look-up is under way.
  private var lookups = 0
  private var timer: TimerToken?
  private var packet = [UInt8](repeating: 0, count: 2_048)
  private var isClosed = false
  private var names: [String] = []
  let created = MonotonicClock.now()

  /// The event loop that everything happens on.
  public var loop: EventLoop { network.loop }

  /// A session with a socket on each of the machine's addresses. On the network thread only.
  public init(on network: NetworkThread, configuration: Configuration) {
    network.loop.checkIsolated()
    self.network = network
    self.configuration = configuration
    let addresses = PeerSession.addresses(configuration, among: NetworkInterfaces.addresses())
    var settings = PeerConnection.Configuration(certificate: configuration.certificate)
    settings.isRelayOnly = configuration.isRelayOnly
    settings.expectsIceServers = !configuration.iceServers.isEmpty
    settings.codecs = configuration.codecs
    (settings.startBitrate, settings.maximumBitrate) = configuration.bitrate
    settings.receiveWindow = configuration.receiveWindow
    if configuration.concealsAddresses {
      for address in addresses {
        let name = network.multicast.register(address)
        settings.concealedNames[address] = name
        names.append(name)
      }
    }
    connection = PeerConnection(configuration: settings)
    connection.setWallClock(unixNanoseconds: MonotonicClock.wallClock(), now: MonotonicClock.now())
    timer = loop.makeTimer { [weak self] in
      guard let self else { return }
      self.connection.handleTimeout(now: MonotonicClock.now())
      self.network.wake(self)
    }
    for address in addresses { bind(address) }
    addIceServers(configuration.iceServers)
  }

  /// The addresses of candidates.
  static func addresses(_ configuration: Configuration, among all: [InterfaceAddress]) -> [IPAddress] {
    let usable = all.filter { address in
      !address.isLoopback && !(address.ip.family == .v6 && address.ip.isLinkLocal)
        && configuration.interfaces?.contains(address.name) ?? true
    }.map(\.ip)
    // A machine without a network can still call itself.
    return configuration.includesLoopback || usable.isEmpty ? usable + all.filter(\.isLoopback).map(\.ip) : usable
  }

  /// Follows the machine's addresses: new ones become candidates, and what went over lost ones finds another way.
  public func networkChanged() {
    loop.checkIsolated()
    guard !isClosed else { return }
    let addresses = PeerSession.addresses(configuration, among: NetworkInterfaces.addresses())
    for (identifier, socket) in sockets where !addresses.contains(socket.localAddress.ip) {
      socket.close()
      sockets[identifier] = nil
      connection.removeSocket(identifier, now: MonotonicClock.now())
    }
    let bound = Set(sockets.values.map(\.localAddress.ip))
    for address in addresses where !bound.contains(address) { bind(address) }
    connection.handleTimeout(now: MonotonicClock.now())
    network.wake(self)
  }

  private func bind(_ address: IPAddress) {
    let identifier = SocketIdentifier(rawValue: nextSocket)
    nextSocket += 1
    do throws(SystemError) {
      let socket = try UDPSocket(bindingTo: SocketAddress(address, 0), on: loop) { [unowned self] datagram, from, arrival in
        self.receive(&datagram, from: from, on: identifier, now: arrival)
      }
      sockets[identifier] = socket
      connection.addSocket(identifier, address: socket.localAddress)
    } catch {
      Log.warning("no socket on \(address): \(error)")
    }
  }

  /// Adds servers that are learnt later, as from the answer of an endpoint.
  public func addIceServers(_ servers: [ICEServer]) {
    loop.checkIsolated()
    guard !servers.isEmpty else { return }
    lookups += servers.count
    for server in servers { resolve(server) }
    // A name server that does not answer holds up no candidates of the others.
    loop.schedule(at: MonotonicClock.now() + PeerSession.lookupPatience) { [weak self] in
      guard let self, self.lookups > 0 else { return }
      self.useServers()
    }
  }

  /// Uses these servers, and no others, from now on (W3C `setConfiguration`).
  public func replaceIceServers(_ replacement: [ICEServer]) {
    loop.checkIsolated()
    servers = []
    if replacement.isEmpty { useServers() } else { addIceServers(replacement) }
  }

  private static let lookupPatience = Interval.milliseconds(500)

  private func useServers() {
    guard !isClosed else { return }
    connection.setIceServers(servers, now: MonotonicClock.now())
    network.wake(self)
  }

  private func lookupEnded() {
    lookups -= 1
    if lookups == 0 { useServers() }
  }

  /// Looks a server's name up; it joins as soon as its address is known.
  private func resolve(_ server: ICEServer) {
    let url: ServerURL
    do throws(ServerURLError) {
      url = try ServerURL(parsing: server.url)
    } catch {
      report(server, "\(error)")
      return lookupEnded()
    }
    if url.kind != .stun, server.username == nil || server.credential == nil {
      report(server, "a TURN server needs a user name and a credential")
      return lookupEnded()
    }
    network.resolver.resolve(url.host) { [weak self] result in
      guard let self, !self.isClosed else { return }
      defer { self.lookupEnded() }
      switch result {
      case .failure(let error): self.report(server, "\(error)")
      case .success(let addresses):
        // One of each family: a server may listen on one alone, and a network may carry one alone.
        for address in [addresses.first { $0.family == .v4 }, addresses.first { $0.family == .v6 }].compactMap({ $0 }) {
          self.servers.append(
            ICE.Server(
              kind: url.kind, address: SocketAddress(address, url.port), hostName: url.host, username: server.username ?? "",
              password: server.credential ?? ""))
        }
      }
    }
  }

  private func report(_ server: ICEServer, _ reason: String) {
    Log.error("ICE server \(server.url): \(reason)")
    onEvent(.iceCandidateError(url: server.url, address: nil, code: 701, text: reason))
  }

  // MARK: The connection

  /// Does something with the connection, and then sends and reports what came of it.
  public func withConnection<Result, Failure: Error>(
    _ body: (inout PeerConnection, Instant) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    loop.checkIsolated()
    defer { network.wake(self) }
    return try body(&connection, MonotonicClock.now())
  }

  private func receive(_ datagram: inout MutableRawSpan, from: SocketAddress, on socket: SocketIdentifier, now: Instant) {
    if let received = connection.receive(&datagram, from: from, on: socket, now: now) {
      take(received, in: datagram.bytes, now: now)
    }
    network.wake(self)
  }

  private func receiveStream(_ bytes: RawSpan, on stream: SocketIdentifier) {
    let now = MonotonicClock.now()
    connection.receiveStream(bytes, on: stream, now: now)
    while var frame = connection.pollStreamPacket() {
      var elements = frame.mutableSpan
      var span = elements.mutableBytes
      if let received = connection.receive(streamPacket: &span, now: now) { take(received, in: span.bytes, now: now) }
    }
    network.wake(self)
  }

  /// Reports events, sends packets, sets the timer: called before the loop waits.
  func process() {
    guard !isClosed else { return }
    while let event = connection.pollEvent() {
      handle(event)
      if isClosed { return }
    }
    let now = MonotonicClock.now()
    transmit(now: now)
    if let timer { loop.set(timer, to: connection.deadline) }
    onProcessed()
  }

  private func transmit(now: Instant) {
    var elements = packet.mutableSpan
    var span = elements.mutableBytes
    while let outgoing = connection.pollTransmit(into: &span, now: now) {
      let payload = span.bytes.extracting(0..<outgoing.count)
      let prefix: [4 of UInt8] = [
        UInt8(truncatingIfNeeded: outgoing.prefix >> 24), UInt8(truncatingIfNeeded: outgoing.prefix >> 16),
        UInt8(truncatingIfNeeded: outgoing.prefix >> 8), UInt8(truncatingIfNeeded: outgoing.prefix),
      ]
      let head = prefix.span.bytes.extracting(0..<outgoing.prefixCount)
      if let socket = sockets[outgoing.socket] {
        socket.send(prefix: head, payload, padding: outgoing.paddingCount, to: outgoing.destination)
      } else if let stream = streams[outgoing.socket] {
        stream.send(framing(head, payload, padding: outgoing.paddingCount).span.bytes)
      } else {
        counters.count("socket.gone")
      }
    }
    for socket in sockets.values { socket.flush() }
  }

  private func framing(_ prefix: RawSpan, _ payload: RawSpan, padding: Int) -> [UInt8] {
    Array(bytes: prefix) + Array(bytes: payload) + Array(repeating: 0, count: padding)
  }

  private func handle(_ event: PeerConnectionEvent) {
    switch event {
    case .openStream(let identifier, let address, let name): openStream(identifier, to: address, tlsName: name)
    case .closeStream(let identifier): streams.removeValue(forKey: identifier)?.close()
    case .candidateNameUnresolved(let candidate): resolve(candidate)
    case .keyFrameRequested(let identifier): senders[identifier]?.requestKeyFrame()
    case .frameSent(_, let captured, let first, let last): return frameSent(captured: captured, first: first, last: last)
    case .packetLoss(let identifier, let fraction): senders[identifier]?.setPacketLoss(fraction)
    case .targetBitrate(let bitrate): for sender in senders.values { sender.setBitrate(bitrate) }
    default: break
    }
    followNegotiation(event)
    onEvent(event)
  }

  private func resolve(_ candidate: ICE.Candidate) {
    guard let name = candidate.hostName else { return }
    network.resolver.resolve(name) { [weak self] result in
      guard let self, !self.isClosed else { return }
      guard case .success(let addresses) = result, let address = addresses.first else {
        self.counters.count("ice.nameUnresolved")
        return
      }
      var resolved = candidate
      resolved.address = SocketAddress(address, candidate.address.port)
      self.connection.addResolvedCandidate(resolved, now: MonotonicClock.now())
      self.network.wake(self)
    }
  }

  private func openStream(_ identifier: SocketIdentifier, to address: SocketAddress, tlsName: String?) {
    let handlers = TCPStream.Handlers(
      opened: { [unowned self] local in
        self.connection.streamOpened(identifier, local: local, now: MonotonicClock.now())
        self.network.wake(self)
      },
      received: { [unowned self] bytes in self.receiveStream(bytes, on: identifier) },
      closed: { [unowned self] error in
        self.streams[identifier] = nil
        self.connection.streamFailed(identifier, reason: error?.description ?? "the connection was closed", now: MonotonicClock.now())
        self.network.wake(self)
      })
    streams[identifier] = TCPStream(
      connectingTo: address, security: tlsName.map { .tls(name: $0, trust: configuration.trust) } ?? .plain, on: loop, handlers: handlers)
  }

  /// Ends an attempt that did not connect in time.
  func giveUp() {
    guard !isClosed, connection.connectionState != .connected else { return }
    onEvent(.connectionStateChange(.failed))
  }

  /// Whether `close` was called.
  public var isEnded: Bool { isClosed }

  /// Says goodbye to the peer, stops the media, closes the sockets. May be called again.
  public func close() {
    loop.checkIsolated()
    guard !isClosed else { return }
    connection.close(now: MonotonicClock.now())
    transmit(now: MonotonicClock.now())
    isClosed = true
    stopMedia()
    (plan, onEvent, onMedia, onProcessed) = (MediaPlan(), { _ in }, { _ in }, {})
    for socket in sockets.values { socket.close() }
    for stream in streams.values { stream.close() }
    (sockets, streams) = ([:], [:])
    if let timer { loop.cancel(timer) }
    timer = nil
    for name in names { network.multicast.unregister(name) }
  }
}
