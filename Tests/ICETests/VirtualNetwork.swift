import Base

/// Something with an address in the virtual network.
protocol VirtualNode: AnyObject {
  /// When `handleTimeout` is to be called.
  var deadline: Instant? { get }
  func handleTimeout(now: Instant)
  /// A datagram from `source` came for `destination`, an address of this node.
  func receive(_ bytes: [UInt8], from source: SocketAddress, to destination: SocketAddress, now: Instant)
  /// Somebody connects to `destination`. False refuses.
  func accept(_ stream: VirtualStream, to destination: SocketAddress, now: Instant) -> Bool
  /// The stream that this node asked for is open, or was refused.
  func opened(_ stream: VirtualStream, succeeded: Bool, now: Instant)
  /// The next bytes of a stream.
  func receive(_ bytes: [UInt8], on stream: VirtualStream, now: Instant)
}

extension VirtualNode {
  func accept(_ stream: VirtualStream, to destination: SocketAddress, now: Instant) -> Bool { false }
  func opened(_ stream: VirtualStream, succeeded: Bool, now: Instant) {}
  func receive(_ bytes: [UInt8], on stream: VirtualStream, now: Instant) {}
}

/// One end of a TCP connection.
final class VirtualStream {
  let tag: Int
  let local: SocketAddress, remote: SocketAddress
  unowned let owner: any VirtualNode
  fileprivate(set) weak var peer: VirtualStream?
  fileprivate var lastArrival = Instant.zero
  var isClosed = false

  init(tag: Int, local: SocketAddress, remote: SocketAddress, owner: any VirtualNode) {
    (self.tag, self.local, self.remote, self.owner) = (tag, local, remote, owner)
  }
}

/// A NAT with one public address.
final class NAT {
  enum Kind {
    /// One mapping for a socket, open to everybody.
    case fullCone
    /// One mapping for a socket, open to those who were sent something.
    case portRestricted
    /// A mapping for each destination, open to it alone.
    case symmetric
  }

  let kind: Kind
  let publicIP: IPAddress
  private var mappings: [(inner: SocketAddress, destination: SocketAddress?, port: UInt16, opened: Set<SocketAddress>)] = []
  private var nextPort: UInt16 = 20_000

  init(_ kind: Kind, publicIP: IPAddress) { (self.kind, self.publicIP) = (kind, publicIP) }

  func outbound(_ source: SocketAddress, to destination: SocketAddress) -> SocketAddress {
    let key = kind == .symmetric ? destination : nil
    let index: Int
    if let known = mappings.firstIndex(where: { $0.inner == source && $0.destination == key }) {
      index = known
    } else {
      mappings.append((source, key, nextPort, []))
      nextPort += 7
      index = mappings.count - 1
    }
    mappings[index].opened.insert(destination)
    return SocketAddress(publicIP, mappings[index].port)
  }

  func inbound(_ source: SocketAddress, to destination: SocketAddress) -> SocketAddress? {
    guard let mapping = mappings.first(where: { $0.port == destination.port }) else { return nil }
    return kind == .fullCone || mapping.opened.contains(source) ? mapping.inner : nil
  }
}

/// Hosts, NATs and lines between them in virtual time; the same seed gives the same run.
final class VirtualNetwork {
  private struct Arrival {
    var time: Instant
    var order: Int
    var action: (Instant) -> Void
  }

  private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
  var delay = Interval.milliseconds(1)
  /// Added to the delay, uniformly between zero and this: packets overtake each other.
  var jitter = Interval.zero
  var loss = 0.0
  /// Datagrams that the network swallows.
  var isBlocked: (_ source: SocketAddress, _ destination: SocketAddress) -> Bool = { _, _ in false }
  private(set) var datagramCount = 0

  private var random: RandomSource
  private var arrivals: [Arrival] = []
  private var order = 0
  private var nodes: [IPAddress: any VirtualNode] = [:]
  /// Each node once, in the order in which they came.
  private var timed: [any VirtualNode] = []
  private var nats: [IPAddress: NAT] = [:]
  private var inside: [IPAddress: NAT] = [:]

  init(seed: UInt64 = 1) { random = RandomSource(seed: seed) }

  func add(_ node: any VirtualNode, at ip: IPAddress, behind nat: NAT? = nil) {
    nodes[ip] = node
    if !timed.contains(where: { $0 === node }) { timed.append(node) }
    inside[ip] = nat
    if let nat { nats[nat.publicIP] = nat }
  }

  func send(_ bytes: [UInt8], from source: SocketAddress, to destination: SocketAddress) {
    datagramCount += 1
    guard !isBlocked(source, destination), Double.random(in: 0..<1, using: &random) >= loss else { return }
    var source = source
    if let nat = inside[source.ip], inside[destination.ip] !== nat { source = nat.outbound(source, to: destination) }
    let wait = delay + Interval(nanoseconds: Int64.random(in: 0...max(jitter.nanoseconds, 1), using: &random))
    at(now + wait) { [weak self] now in self?.deliver(bytes, from: source, to: destination, now: now) }
  }

  private func deliver(_ bytes: [UInt8], from source: SocketAddress, to destination: SocketAddress, now: Instant) {
    var target = destination
    if let nat = nats[destination.ip] {
      guard let inner = nat.inbound(source, to: destination) else { return }
      target = inner
    } else if let nat = inside[destination.ip], inside[source.ip] !== nat {
      return  // Private addresses are not routed.
    }
    nodes[target.ip]?.receive(bytes, from: source, to: target, now: now)
  }

  func connect(_ node: any VirtualNode, tag: Int, from ip: IPAddress, to destination: SocketAddress) {
    let near = VirtualStream(
      tag: tag, local: SocketAddress(ip, UInt16.random(in: 40_000...60_000, using: &random)), remote: destination, owner: node)
    at(now + delay) { [weak self] now in
      guard let self else { return }
      let far = nodes[destination.ip].map { VirtualStream(tag: tag, local: destination, remote: near.local, owner: $0) }
      let isAccepted = far.map { $0.owner.accept($0, to: destination, now: now) } ?? false
      if isAccepted, let far {
        near.peer = far
        far.peer = near
        streams.append(far)
      }
      at(now + delay) { now in node.opened(near, succeeded: isAccepted, now: now) }
    }
    streams.append(near)
  }

  private var streams: [VirtualStream] = []

  /// Bytes arrive in order, cut where it pleases the network.
  func send(_ bytes: [UInt8], on stream: VirtualStream) {
    guard let peer = stream.peer, !stream.isClosed else { return }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(Int.random(in: 1...rest.count, using: &random)))
      rest = rest.dropFirst(piece.count)
      peer.lastArrival = max(peer.lastArrival, now + delay)
      at(peer.lastArrival) { now in
        if !peer.isClosed { peer.owner.receive(piece, on: peer, now: now) }
      }
    }
  }

  func at(_ time: Instant, _ action: @escaping (Instant) -> Void) {
    order += 1
    let arrival = Arrival(time: time, order: order, action: action)
    let index = arrivals.firstIndex { $0.time > time } ?? arrivals.count
    arrivals.insert(arrival, at: index)
  }

  /// Runs until `condition` holds, at most for `limit`. True when it did.
  @discardableResult
  func run(for limit: Interval, until condition: () -> Bool = { false }) -> Bool {
    let end = now + limit
    var idle = 0
    while !condition() {
      let timer = timed.compactMap(\.deadline).min()
      let next = min(arrivals.first?.time ?? end, timer ?? end)
      guard next < end else {
        now = max(now, end)
        return condition()
      }
      idle = next > now ? 0 : idle + 1
      precondition(idle < 10_000, "time stands still: a deadline does not move on")
      now = max(now, next)
      if let first = arrivals.first, first.time <= now {
        arrivals.removeFirst()
        first.action(now)
      } else {
        for node in timed.sorted(by: { ($0.deadline ?? end) < ($1.deadline ?? end) }) {
          if let due = node.deadline, due <= now { node.handleTimeout(now: now) }
        }
      }
    }
    return true
  }
}
