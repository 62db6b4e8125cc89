import Base
import Bytes

@testable import ICE

/// An agent on a host of the virtual network, with its sockets.
final class Peer: VirtualNode {
  var agent: Agent
  let network: VirtualNetwork
  /// Candidates go to this peer as soon as they are there, when set.
  weak var partner: Peer?
  /// How long signalling takes.
  var signallingDelay = Interval.zero
  private(set) var states: [ConnectionState] = []
  private(set) var candidates: [Candidate] = []
  private(set) var errors: [(url: String, code: Int, text: String)] = []
  private(set) var selections: [(local: Candidate, remote: Candidate)] = []
  private(set) var gatheringStates: [GatheringState] = []
  private(set) var tlsNames: [String?] = []
  private(set) var received: [[UInt8]] = []
  private(set) var connectedAt: Instant?
  private var sockets: [SocketIdentifier: SocketAddress] = [:]
  private var streams: [Int: VirtualStream] = [:]
  /// False: the peer's datagrams are not even read.
  var isDead = false

  init(_ network: VirtualNetwork, controlling: Bool, seed: UInt64, configuration: Agent.Configuration = Agent.Configuration()) {
    self.network = network
    agent = Agent(configuration: configuration, isControlling: controlling, seed: seed)
  }

  @discardableResult
  func addSocket(_ text: String, behind nat: NAT? = nil) -> SocketIdentifier {
    let (id, address) = (SocketIdentifier(rawValue: sockets.count), SocketAddress(text)!)
    sockets[id] = address
    network.add(self, at: address.ip, behind: nat)
    agent.addSocket(id, address: address)
    return id
  }

  func removeSocket(_ id: SocketIdentifier) { act { $0.removeSocket(id, now: $1) } }

  /// Calls the agent and passes on what comes of it.
  func act(_ body: (inout Agent, Instant) -> Void) {
    body(&agent, network.now)
    drain()
  }

  /// Sends application data the way that an owner does; false when there is no route.
  func send(_ bytes: [UInt8]) -> Bool {
    guard let route = agent.route(byteCount: bytes.count) else { return false }
    let prefix = withUnsafeBytes(of: route.prefix) { Array($0.prefix(route.prefixCount)) }
    emit(
      Transmit(
        socket: route.socket, destination: route.destination, bytes: prefix + bytes + [UInt8](repeating: 0, count: route.paddingCount)))
    return true
  }

  /// The agent's route. (The macros of Swift Testing take no mutating calls.)
  func route(byteCount: Int) -> Route? { agent.route(byteCount: byteCount) }

  var deadline: Instant? { isDead ? nil : agent.deadline }
  func handleTimeout(now: Instant) { act { $0.handleTimeout(now: $1) } }

  func receive(_ bytes: [UInt8], from source: SocketAddress, to destination: SocketAddress, now: Instant) {
    guard !isDead, let id = sockets.first(where: { $0.value == destination })?.key else { return }
    if case .application(let offset, let count) = agent.receive(bytes.span.bytes, from: source, on: id, now: now) {
      received.append(Array(bytes[offset..<offset + count]))
    }
    drain()
  }

  func opened(_ stream: VirtualStream, succeeded: Bool, now: Instant) {
    let id = SocketIdentifier(rawValue: stream.tag)
    if succeeded { streams[stream.tag] = stream }
    act { agent, now in
      succeeded ? agent.streamOpened(id, local: stream.local, now: now) : agent.streamFailed(id, reason: "connection refused", now: now)
    }
  }

  func receive(_ bytes: [UInt8], on stream: VirtualStream, now: Instant) {
    guard !isDead else { return }
    act { $0.receiveStream(bytes.span.bytes, on: SocketIdentifier(rawValue: stream.tag), now: $1) }
  }

  private func emit(_ transmit: Transmit) {
    if let source = sockets[transmit.socket] {
      network.send(transmit.bytes, from: source, to: transmit.destination)
    } else if let stream = streams[transmit.socket.rawValue] {
      network.send(transmit.bytes, on: stream)
    }
  }

  private func drain() {
    while let transmit = agent.pollTransmit() { emit(transmit) }
    while let data = agent.pollApplicationData() { received.append(data) }
    while let event = agent.pollEvent() {
      switch event {
      case .localCandidate(let candidate):
        candidates.append(candidate)
        signal { $0.addRemoteCandidate(candidate, now: $1) }
      case .gatheringState(let state):
        gatheringStates.append(state)
        if state == .complete { signal { $0.endOfRemoteCandidates(now: $1) } }
      case .connectionState(let state):
        states.append(state)
        if state == .connected, connectedAt == nil { connectedAt = network.now }
      case .selectedPair(let local, let remote): selections.append((local, remote))
      case .openStream(let id, let address, let tlsName):
        tlsNames.append(tlsName)
        let source = sockets.values.first { $0.ip.family == address.ip.family }?.ip ?? .loopback4
        network.connect(self, tag: id.rawValue, from: source, to: address)
      case .closeStream(let id): streams.removeValue(forKey: id.rawValue)?.isClosed = true
      case .candidateError(let url, _, let code, let text): errors.append((url, code, text))
      }
    }
  }

  private func signal(_ body: @escaping (inout Agent, Instant) -> Void) {
    guard let partner else { return }
    network.at(network.now + signallingDelay) { _ in partner.act(body) }
  }
}

/// Two peers that are to find each other.
struct Call {
  let network: VirtualNetwork
  let a: Peer, b: Peer

  init(
    _ network: VirtualNetwork, seed: UInt64 = 7, a first: Agent.Configuration = Agent.Configuration(),
    b second: Agent.Configuration = Agent.Configuration(), bothControlling: Bool = false
  ) {
    self.network = network
    a = Peer(network, controlling: true, seed: seed, configuration: first)
    b = Peer(network, controlling: bothControlling, seed: seed + 1, configuration: second)
    (a.partner, b.partner) = (b, a)
  }

  /// Exchanges credentials and lets both gather, the offerer first, as far as `signalling` takes.
  func start(signalling: Interval = .zero) {
    (a.signallingDelay, b.signallingDelay) = (signalling, signalling)
    let (first, second) = (a.agent.localParameters, b.agent.localParameters)
    a.act { $0.gather(now: $1) }
    network.at(network.now + signalling) { [network, a, b] _ in
      b.act { $0.setRemoteParameters(first, now: $1) }
      b.act { $0.gather(now: $1) }
      network.at(network.now + signalling) { _ in a.act { $0.setRemoteParameters(second, now: $1) } }
    }
  }

  var isConnected: Bool { [a, b].allSatisfy { $0.agent.connectionState == .connected || $0.agent.connectionState == .completed } }
  var isCompleted: Bool { [a, b].allSatisfy { $0.agent.connectionState == .completed } }

  /// Whether data gets across both ways right now.
  func carriesData() -> Bool {
    let (ping, pong): ([UInt8], [UInt8]) = ([0x80, 1, 2, 3, UInt8(truncatingIfNeeded: a.received.count)], [0x16, 9, 8])
    guard a.send(ping), b.send(pong) else { return false }
    return network.run(for: .seconds(2 as Int64)) { b.received.last == ping && a.received.last == pong }
  }
}
