import Base
import Bytes
import STUN
import TURN

/// A Binding request of one socket to one STUN server, repeated to keep the NAT's mapping while it may be needed.
struct ServerQuery: Sendable {
  var socket: SocketIdentifier
  var server: Server
  /// The request that is under way; nil between two.
  var transaction: (id: TransactionID, bytes: [UInt8], timer: RetransmissionTimer)?
  /// The first request was answered or given up.
  var isSettled = false
  var repeatAt: Instant?
}

extension Agent {
  /// How often a mapping is renewed while the peer may still come (RFC 8445 section 5.1.1.4).
  static let mappingInterval: Interval = .seconds(15 as Int64)

  /// Gathers on new sockets and servers, and serves the timers of all server transactions.
  mutating func runGathering(_ now: Instant) {
    guard gatheringState != .new else { return }
    if sockets.contains(where: { !$0.isGathered }) {
      setGatheringState(.gathering)
      for index in sockets.indices where !sockets[index].isGathered {
        sockets[index].isGathered = true
        gather(sockets[index], now: now)
      }
      openServerStreams(now: now)
    }
    runQueries(now)
    runRelays(now)
    let isSettled = queries.allSatisfy(\.isSettled) && relays.allSatisfy(\.isSettled)
    if gatheringState == .gathering, isSettled, !configuration.expectsServers { setGatheringState(.complete) }
  }

  /// After a restart: everything is told anew, and asked anew where it may have changed.
  mutating func regather(now: Instant) {
    setGatheringState(.gathering)
    queries = []
    for index in relays.indices where relays[index].client.state == .allocated { emitRelayCandidates(index) }
    if let selected = selectedIndex.map({ checkList[$0] }), case .relay(let id) = selected.path {
      if let index = relays.firstIndex(where: { $0.id == id }) {
        relays[index].client.forgetPeers { $0 == selected.remoteAddress }
      }
    }
    relays.removeAll { $0.client.state == .failed }
    for index in sockets.indices { sockets[index].isGathered = false }
  }

  private mutating func gather(_ socket: LocalSocket, now: Instant) {
    let path = Path.datagram(socket.id)
    if !configuration.relayOnly, !locals.contains(where: { $0.path == path && $0.candidate.kind == .host }) {
      addLocal(
        Candidate(
          foundation: foundation(.host, base: socket.address.ip), priority: priority(.host, socket), address: socket.address, kind: .host),
        path: path, base: socket.address, now: now)
      let isKnown = locals.contains { $0.candidate.transport == .tcp && $0.base.ip == socket.address.ip }
      if configuration.usesTCP, !isKnown {
        // Nothing listens behind an active candidate; port 9 stands for that (RFC 6544 section 4.5).
        let address = SocketAddress(socket.address.ip, 9)
        addLocal(
          Candidate(
            foundation: foundation(.host, base: socket.address.ip, transport: .tcp), transport: .tcp,
            priority: Agent.priority(type: 90, preference: Agent.activeTCPPreference - UInt32(min(socket.slot, 255))), address: address,
            kind: .host, tcpType: .active), path: nil, base: address, now: now)
      }
    }
    for server in configuration.servers where canReach(server.address, from: socket.address) {
      switch server.kind {
      case .stun:
        guard !configuration.relayOnly, !queries.contains(where: { $0.socket == socket.id && $0.server.address == server.address }) else {
          continue
        }
        queries.append(ServerQuery(socket: socket.id, server: server))
        startQuery(queries.count - 1, now: now)
      case .turnUDP: addRelay(server, on: socket, now: now)
      case .turnTCP, .turnTLS: break
      }
    }
  }

  private func canReach(_ server: SocketAddress, from local: SocketAddress) -> Bool {
    server.ip.family == local.ip.family && (!local.ip.isLoopback || server.ip.isLoopback)
      && (!local.ip.isLinkLocal || server.ip.isLinkLocal)
  }

  private mutating func startQuery(_ index: Int, now: Instant) {
    let id = TransactionID(using: &random)
    var builder = MessageBuilder(.request, .binding, transactionID: id)
    builder.appendFingerprint()
    let timer = RetransmissionTimer(now: now, timeout: configuration.serverTimeout, attempts: configuration.serverAttempts)
    queries[index].transaction = (id, builder.bytes, timer)
    queries[index].repeatAt = nil
    push(Transmit(socket: queries[index].socket, destination: queries[index].server.address, bytes: builder.bytes))
  }

  private mutating func runQueries(_ now: Instant) {
    for index in queries.indices {
      if let due = queries[index].repeatAt, due <= now {
        // A working connection keeps its own mapping open.
        if connectionState == .completed { queries[index].repeatAt = now + Agent.mappingInterval } else { startQuery(index, now: now) }
      }
      guard var transaction = queries[index].transaction else { continue }
      switch transaction.timer.fire(now: now) {
      case .wait: break
      case .retransmit:
        queries[index].transaction = transaction
        push(Transmit(socket: queries[index].socket, destination: queries[index].server.address, bytes: transaction.bytes))
      case .giveUp: settleQuery(index, error: ErrorCode(701, "STUN server did not answer"), now: now)
      }
    }
  }

  private mutating func settleQuery(_ index: Int, error: ErrorCode?, now: Instant) {
    let query = queries[index]
    if let error, !query.isSettled { pushError(query.server, socket: query.socket, code: error.code, text: error.reason) }
    queries[index].transaction = nil
    queries[index].isSettled = true
    queries[index].repeatAt = now + Agent.mappingInterval
  }

  /// Takes a message from a STUN server; false when no query waits for it.
  mutating func receiveQueryResponse(_ message: borrowing Message, on socket: SocketIdentifier, from source: SocketAddress, now: Instant)
    -> Bool
  {
    let id = message.transactionID
    guard let index = queries.firstIndex(where: { $0.socket == socket && $0.server.address == source && $0.transaction?.id == id })
    else { return false }
    if let mapped = message.xorAddress(.xorMappedAddress) ?? message.address(.mappedAddress), message.messageClass == .success {
      let server = queries[index].server
      settleQuery(index, error: nil, now: now)
      addServerReflexive(mapped, socket: socket, server: server, now: now)
    } else {
      settleQuery(index, error: message.errorCode ?? ErrorCode(701, "STUN server gave no address"), now: now)
    }
    return true
  }

  /// Adds the address that a server saw, unless it is that of the socket itself.
  mutating func addServerReflexive(_ mapped: SocketAddress, socket id: SocketIdentifier, server: Server, now: Instant) {
    guard !configuration.relayOnly, let socket = sockets.first(where: { $0.id == id }), mapped != socket.address else { return }
    let others = locals.filter { $0.path == .datagram(id) && $0.candidate.kind == .serverReflexive }
    guard !others.contains(where: { $0.candidate.address == mapped }) else { return }
    addLocal(
      Candidate(
        foundation: foundation(.serverReflexive, base: socket.address.ip, server: server.address.ip),
        priority: priority(.serverReflexive, socket, rank: others.count), address: mapped, kind: .serverReflexive,
        relatedAddress: socket.address, url: server.url), path: .datagram(id), base: socket.address, now: now)
  }

  /// Adds a local candidate, tells the owner, and pairs it when it is a base.
  mutating func addLocal(_ candidate: Candidate, path: Path?, base: SocketAddress, now: Instant) {
    var candidate = candidate
    candidate.usernameFragment = current.local.usernameFragment
    // What was learnt from a check is replaced by what was gathered.
    locals.removeAll { $0.path == path && $0.candidate.address == candidate.address && $0.candidate.kind == .peerReflexive }
    locals.append(LocalCandidate(candidate: candidate, path: path, base: base))
    push(.localCandidate(shown(candidate)))
    if let path, candidate.kind == .host || candidate.kind == .relayed { pairLocal(candidate, path: path, now: now) }
  }

  /// A candidate as the peer may see it: addresses of the machine may have names, and a relay tells nothing of them.
  func shown(_ candidate: Candidate) -> Candidate {
    var result = candidate
    if candidate.kind == .host, let name = configuration.concealedNames[candidate.address.ip] {
      result.hostName = name
      result.address.ip = IPAddress(v4: 0)
    }
    if let related = candidate.relatedAddress {
      let isConcealed = configuration.concealedNames[related.ip] != nil || (configuration.relayOnly && candidate.kind == .relayed)
      if isConcealed { result.relatedAddress = SocketAddress(related.ip.family == .v4 ? IPAddress(v4: 0) : IPAddress(v6: 0, 0), 0) }
    }
    return result
  }

  mutating func pushError(_ server: Server, socket: SocketIdentifier?, code: Int, text: String) {
    let address = sockets.first { $0.id == socket }?.address
    let isConcealed = address.map { configuration.concealedNames[$0.ip] != nil } ?? false
    push(.candidateError(url: server.url, address: isConcealed ? nil : address, code: code, text: text))
  }

  /// The same text for candidates of equal kind, base, server and transport (RFC 8445 section 5.1.1.3).
  mutating func foundation(_ kind: Candidate.Kind, base: IPAddress, server: IPAddress? = nil, transport: TransportProtocol = .udp) -> String
  {
    let key = "\(kind.rawValue) \(base) \(server?.description ?? "") \(transport)"
    let number = foundations[key] ?? foundations.count + 1
    foundations[key] = number
    return String(number)
  }

  /// Local preference of active TCP candidates (RFC 6544 section 4.2): direction 6, then the rest.
  static let activeTCPPreference: UInt32 = 6 << 13 | 0x1FFF

  /// RFC 8445 section 5.1.2.1, for component 1.
  static func priority(type: UInt32, preference: UInt32) -> UInt32 { type << 24 | (preference & 0xFFFF) << 8 | 255 }

  /// The priority of a datagram candidate on `socket`; `rank` tells candidates of one kind on one socket apart.
  func priority(_ kind: Candidate.Kind, _ socket: LocalSocket, rank: Int = 0) -> UInt32 {
    let type: UInt32 =
      switch kind {
      case .host: 126
      case .peerReflexive: 110
      case .serverReflexive: 100
      case .relayed: 2
      }
    return Agent.priority(type: type, preference: Agent.preference(socket.address.ip, slot: socket.slot, rank: rank))
  }

  /// 65535 for the first IPv6 address, then IPv4 and IPv6 in turn (RFC 8421 section 4); loopback and link-local come last.
  static func preference(_ ip: IPAddress, slot: Int, rank: Int) -> UInt32 {
    let turn = min(slot, 50) * 2 + (ip.family == .v6 ? 0 : 1) + (ip.isLoopback || ip.isLinkLocal ? 102 : 0)
    return UInt32(65_535 - turn * 256 - min(rank, 255))
  }

  /// When gathering wants to act next.
  var gatheringDeadline: Instant? {
    guard gatheringState != .new else { return nil }
    var earliest: Instant?
    func consider(_ instant: Instant?) {
      if let instant { earliest = min(earliest ?? instant, instant) }
    }
    for query in queries {
      consider(query.transaction?.timer.deadline)
      consider(query.repeatAt)
    }
    for relay in relays {
      consider(relay.client.deadline)
      consider(relay.openBy)
    }
    for stream in streams { consider(stream.openBy) }
    return earliest
  }
}
