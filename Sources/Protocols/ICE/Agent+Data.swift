import Base
import Bytes
import STUN
import TURN

extension Agent {
  /// Takes a datagram that came on one of the owner's sockets. Allocates nothing for application data.
  public mutating func receive(_ datagram: RawSpan, from source: SocketAddress, on socket: SocketIdentifier, now: Instant) -> Received {
    guard connectionState != .closed else { return .handled }
    self.now = now
    for index in relays.indices where relays[index].socket == socket && relays[index].server.address == source {
      let id = relays[index].id
      switch relays[index].client.receive(datagram, now: now) {
      case .ignored: continue
      case .handled:
        drainRelay(index, now: now)
        finish(now)
        return .handled
      case .data(let peer, let offset, let count):
        let data = datagram.extracting(offset..<offset + count)
        if receivePayload(data, from: peer, on: .relay(id), now: now) { return .application(offset: offset, count: count) }
        finish(now)
        return .handled
      }
    }
    if Message.isSTUN(datagram), let message = try? Message(datagram), receiveQueryResponse(message, on: socket, from: source, now: now) {
      finish(now)
      return .handled
    }
    if receivePayload(datagram, from: source, on: .datagram(socket), now: now) { return .application(offset: 0, count: datagram.byteCount) }
    finish(now)
    return .handled
  }

  /// Takes what came from the peer on a path. True when it is application data.
  mutating func receivePayload(_ bytes: RawSpan, from source: SocketAddress, on path: Path, now: Instant) -> Bool {
    if Message.isSTUN(bytes) {
      receiveMessage(bytes, from: source, on: path, now: now)
      return false
    }
    guard let index = receivingPair(path, source) else {
      // The peer may be through with its checks before its description is here.
      if earlyChecks.contains(where: { $0.source == source && $0.path == path }) { return true }
      counters.count("ice.data.unknown-source")
      return false
    }
    checkList[index].noteReceived(now)
    checkList[index].statistics.packetsReceived += 1
    checkList[index].statistics.bytesReceived += bytes.byteCount
    checkList[index].statistics.lastPacketReceived = now
    if connectionState == .disconnected { finish(now) }
    return true
  }

  /// The pair that data of this source belongs to. Data is taken on pairs that are not valid yet as well: the peer may be ahead.
  private func receivingPair(_ path: Path, _ source: SocketAddress) -> Int? {
    if let active, checkList[active.pairIndex].remoteAddress == source, active.path == path { return active.pairIndex }
    return checkList.firstIndex { $0.remoteAddress == source && $0.path == path }
  }

  /// Whether application data can be sent now.
  public var hasRoute: Bool {
    guard let active else { return false }
    if case .relay = active.path { return active.channel != 0 }
    return true
  }

  /// How to send `byteCount` bytes of application data now, which are counted as sent; nil while there is no way. Allocates nothing.
  public mutating func route(byteCount: Int) -> Route? {
    guard let active else { return nil }
    var route = Route(socket: active.socket, destination: active.destination, prefix: 0, prefixCount: 0, paddingCount: 0)
    switch active.path {
    case .datagram: break
    case .relay:
      guard active.channel != 0, byteCount <= 0xFFFF else { return nil }
      route.prefix = (UInt32(active.channel) << 16 | UInt32(byteCount)).bigEndian
      route.prefixCount = 4
      if active.isStream { route.paddingCount = (4 - byteCount % 4) % 4 }
    case .stream:
      guard byteCount <= 0xFFFF else { return nil }
      route.prefix = (UInt32(byteCount) << 16).bigEndian
      route.prefixCount = 2
    }
    checkList[active.pairIndex].statistics.packetsSent += 1
    checkList[active.pairIndex].statistics.bytesSent += byteCount
    checkList[active.pairIndex].statistics.lastPacketSent = now
    return route
  }

  /// Queues application data as a transmit of its own: the way for data when `route` has none because the TURN server gives no channel.
  /// False when there is no way at all.
  public mutating func send(_ data: RawSpan, now: Instant) -> Bool {
    guard let index = selectedIndex, data.byteCount <= 65_000 else { return false }
    checkList[index].statistics.packetsSent += 1
    checkList[index].statistics.bytesSent += data.byteCount
    checkList[index].statistics.lastPacketSent = now
    send(Array(bytes: data), on: checkList[index].path, to: checkList[index].remoteAddress)
    return true
  }

  /// Works the route out again, after the pairs, their paths or the selection may have changed.
  mutating func updateActiveRoute() {
    active = nil
    guard let index = selectedIndex else { return }
    let pair = checkList[index]
    switch pair.path {
    case .datagram(let socket): active = ActiveRoute(pairIndex: index, path: pair.path, socket: socket, destination: pair.remoteAddress)
    case .stream(let socket):
      active = ActiveRoute(pairIndex: index, path: pair.path, socket: socket, destination: pair.remoteAddress, isStream: true)
    case .relay(let id):
      guard let relay = relays.first(where: { $0.id == id }), let socket = relay.socket ?? relay.stream else { return }
      active = ActiveRoute(
        pairIndex: index, path: pair.path, socket: socket, destination: relay.server.address,
        channel: relay.client.channel(to: pair.remoteAddress) ?? 0, isStream: relay.stream != nil)
    }
  }

  /// Forgets a datagram socket that the owner closed: its candidates, pairs and relays go, and another pair steps in if there is one.
  public mutating func removeSocket(_ id: SocketIdentifier, now: Instant) {
    guard connectionState != .closed, sockets.contains(where: { $0.id == id }) else { return }
    self.now = now
    sockets.removeAll { $0.id == id }
    queries.removeAll { $0.socket == id }
    while let index = relays.firstIndex(where: { $0.socket == id }) { removeRelay(index) }
    locals.removeAll { $0.path == .datagram(id) }
    dropPairs { $0.path == .datagram(id) }
    finish(now)
  }
}
