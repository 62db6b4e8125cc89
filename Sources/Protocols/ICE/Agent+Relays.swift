import Base
import Bytes
import STUN
import TURN

/// A TURN client with the way to its server.
struct Relay: Sendable {
  /// A server may send a client on so often (RFC 8489 section 10 leaves the bound open; loops must end).
  static let redirectLimit = 3

  let id: Int
  /// Where the owner said that the server is.
  let origin: SocketAddress
  /// Where the client is now, which a redirection may have changed.
  var server: Server
  /// The datagram socket that it uses; nil when it has a stream.
  var socket: SocketIdentifier?
  /// The stream that it uses.
  var stream: SocketIdentifier?
  var reassembler = StreamReassembler(.turn)
  var client: TURN.Client
  /// The stream has to be open by then.
  var openBy: Instant?
  var redirects = 0

  /// Allocated or given up.
  var isSettled: Bool { client.state != .idle && client.state != .allocating }
}

extension Agent {
  /// Starts a client over a datagram socket.
  mutating func addRelay(_ server: Server, on socket: LocalSocket, now: Instant) {
    guard !relays.contains(where: { $0.socket == socket.id && $0.origin == server.address }) else { return }
    relays.append(Relay(id: nextRelayID, origin: server.address, server: server, socket: socket.id, client: makeClient(server)))
    nextRelayID += 1
    relays[relays.count - 1].client.start(now: now)
    drainRelay(relays.count - 1, now: now)
  }

  /// Asks the owner for streams to the servers that are reached by TCP or TLS.
  mutating func openServerStreams(now: Instant) {
    for server in configuration.servers where server.kind == .turnTCP || server.kind == .turnTLS {
      guard !relays.contains(where: { $0.origin == server.address && $0.server.kind == server.kind }) else { continue }
      relays.append(Relay(id: nextRelayID, origin: server.address, server: server, client: makeClient(server)))
      nextRelayID += 1
      openStream(ofRelay: relays.count - 1, now: now)
    }
  }

  private mutating func openStream(ofRelay index: Int, now: Instant) {
    let (id, server) = (makeStreamID(), relays[index].server)
    relays[index].stream = id
    relays[index].reassembler = StreamReassembler(.turn)
    relays[index].openBy = now + configuration.streamTimeout
    let name = server.hostName.isEmpty ? server.address.ip.description : server.hostName
    push(.openStream(id, to: server.address, tlsName: server.kind == .turnTLS ? name : nil))
  }

  mutating func makeStreamID() -> SocketIdentifier {
    defer { nextStreamID -= 1 }
    return SocketIdentifier(rawValue: nextStreamID)
  }

  private mutating func makeClient(_ server: Server) -> TURN.Client {
    var configuration = TURN.Client.Configuration(
      username: server.username, password: server.password, transport: server.kind == .turnUDP ? .datagram : .stream)
    configuration.retransmissionTimeout = self.configuration.serverTimeout
    configuration.attempts = self.configuration.serverAttempts
    configuration.streamTimeout = self.configuration.streamTimeout
    // A relayed IPv6 address is of use when this machine has IPv6, since then the peer may have nothing else.
    if sockets.contains(where: { $0.address.ip.family == .v6 && !$0.address.ip.isLinkLocal }) {
      configuration.addressFamilies = [.v4, .v6]
    }
    return TURN.Client(configuration, random: Randomness(seed: isSeeded ? random.next() : nil))
  }

  /// Serves the clients' timers.
  mutating func runRelays(_ now: Instant) {
    for id in relays.map(\.id) {
      guard let index = relays.firstIndex(where: { $0.id == id }) else { continue }
      if let openBy = relays[index].openBy, openBy <= now {
        failRelay(index, code: 701, text: "connection timed out", now: now)
      } else if let due = relays[index].client.deadline, due <= now {
        relays[index].client.handleTimeout(now: now)
        drainRelay(index, now: now)
      }
    }
    for id in streams.filter({ $0.openBy.map { $0 <= now } ?? false }).map(\.id) {
      push(.closeStream(id))
      streamFailed(id, reason: "connection timed out", now: now)
    }
  }

  /// Passes on what a client has to send and to say. May remove the relay.
  mutating func drainRelay(_ index: Int, now: Instant) {
    flushRelay(index)
    while let event = relays[index].client.pollEvent() {
      let id = relays[index].id
      switch event {
      case .allocated:
        emitRelayCandidates(index)
        if let socket = relays[index].socket, let mapped = relays[index].client.mappedAddress {
          addServerReflexive(mapped, socket: socket, server: relays[index].server, now: now)
        }
      case .permitted(let ip):
        for pair in checkList.indices where checkList[pair].path == .relay(id) && checkList[pair].remoteAddress.ip == ip {
          checkList[pair].isBlocked = false
        }
      case .refused(let ip, _):
        counters.count("ice.relay.refused")
        for pair in checkList.indices where checkList[pair].path == .relay(id) && checkList[pair].remoteAddress.ip == ip { failPair(pair) }
      case .channelBound: break
      case .redirected(let address, let domain): return redirect(index, to: address, domain: domain, now: now)
      case .failed(.timeout): return failRelay(index, code: 701, text: "TURN server did not answer", now: now)
      case .failed(.malformedResponse): return failRelay(index, code: 701, text: "TURN server gave no address", now: now)
      case .failed(.refused(let error)): return failRelay(index, code: error.code, text: error.reason, now: now)
      }
    }
  }

  /// Passes on what a client has to send.
  mutating func flushRelay(_ index: Int) {
    guard let socket = relays[index].socket ?? relays[index].stream else { return }
    while let bytes = relays[index].client.pollTransmit() {
      push(Transmit(socket: socket, destination: relays[index].server.address, bytes: bytes))
    }
  }

  mutating func emitRelayCandidates(_ index: Int) {
    let relay = relays[index]
    let server = relay.server.address.ip
    let order: UInt32 =
      switch relay.server.kind {
      case .turnTLS: 0
      case .turnTCP: 1
      default: 2
      }
    let slot = sockets.first { $0.id == relay.socket }?.slot ?? 0
    for address in relay.client.relayedAddresses {
      let rank = locals.count { $0.candidate.kind == .relayed && $0.candidate.address.ip.family == address.ip.family }
      let candidate = Candidate(
        foundation: foundation(.relayed, base: address.ip, server: server, transport: relay.server.kind == .turnUDP ? .udp : .tcp),
        priority: Agent.priority(type: order, preference: Agent.preference(address.ip, slot: slot, rank: rank)), address: address,
        kind: .relayed, relatedAddress: relay.client.mappedAddress, url: relay.server.url, relayProtocol: relay.server.kind.relayProtocol)
      addLocal(candidate, path: .relay(relay.id), base: address, now: now)
    }
  }

  private mutating func redirect(_ index: Int, to address: SocketAddress, domain: String?, now: Instant) {
    let relay = relays[index]
    guard relay.redirects < Relay.redirectLimit, address != relay.server.address, address.ip.family == relay.server.address.ip.family else {
      return failRelay(index, code: ErrorCode.tryAlternate, text: "redirected to \(address), which cannot be used", now: now)
    }
    if let stream = relay.stream { push(.closeStream(stream)) }
    relays[index].redirects += 1
    relays[index].server.address = address
    if let domain { relays[index].server.hostName = domain }
    relays[index].client = makeClient(relays[index].server)
    if relay.socket == nil { return openStream(ofRelay: index, now: now) }
    relays[index].client.start(now: now)
    drainRelay(index, now: now)
  }

  /// Ends a relay for good, with all its pairs; the owner is told when it had never worked.
  mutating func failRelay(_ index: Int, code: Int, text: String, now: Instant) {
    let relay = relays[index]
    counters.count("ice.relay.failed")
    if relay.client.relayedAddresses.isEmpty { pushError(relay.server, socket: relay.socket, code: code, text: text) }
    if let stream = relay.stream { push(.closeStream(stream)) }
    removeRelay(index)
  }

  mutating func removeRelay(_ index: Int) {
    let id = relays[index].id
    relays.remove(at: index)
    locals.removeAll { $0.path == .relay(id) }
    dropPairs { $0.path == .relay(id) }
  }
}
