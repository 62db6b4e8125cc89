import Base
import Bytes
import Glibc
import MDNS

/// Multicast DNS on the machine's links (RFC 6762): a `MDNS.Agent` on port 5353, which other programs may use too. The port is open as long as there is a
/// name to answer for or to ask for, and closed otherwise. Belongs to the loop's thread.
public final class MDNSSocket {
  private static let port: UInt16 = 5353
  private static let groups: [IPAddress.Family: IPAddress] = [
    .v4: IPAddress(v4: 0xE000_00FB), .v6: IPAddress(v6: 0xFF02_0000_0000_0000, 0xFB),
  ]

  private struct Link: Hashable {
    let index: UInt32
    let family: IPAddress.Family
  }

  /// What was not heeded or could not be sent, by reason.
  public var counters: Counters {
    var all = agent.counters
    for socket in sockets.values { all.add(socket.counters) }
    all.add(closed)
    return all
  }

  private let loop: EventLoop
  private var agent: Agent
  private var generator: any RandomNumberGenerator
  private var links: Set<Link> = []
  private var sockets: [Link: UDPSocket] = [:]
  /// The counters of sockets that are closed.
  private var closed = Counters()
  private var waiting: [String: [([IPAddress]) -> Void]] = [:]
  private var timer: TimerToken?

  /// Serves the links of `interfaces`: by default all that can multicast, and the loopback where there is no other. Links on which the port cannot be
  /// shared are left out and logged.
  public init(
    loop: EventLoop, interfaces: [InterfaceAddress] = NetworkInterfaces.addresses(), configuration: Agent.Configuration = .init(),
    generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    loop.checkIsolated()
    self.loop = loop
    self.generator = generator
    agent = Agent(configuration: configuration)
    timer = loop.makeTimer { [weak self] in
      guard let self else { return }
      self.agent.handleTimeout(now: MonotonicClock.now())
      if self.agent.isIdle { self.closeSockets(besides: []) }
      self.carryOut()
    }
    update(interfaces: interfaces)
  }

  /// How many links are served at the moment.
  public var linkCount: Int { sockets.count }

  /// Serves these interfaces from now on: to be called when the network changes.
  public func update(interfaces: [InterfaceAddress]) {
    let multicast = interfaces.filter { $0.isMulticast && !$0.isLoopback }
    let chosen = multicast.isEmpty ? interfaces : multicast
    links = Set(chosen.map { Link(index: $0.index, family: $0.ip.family) })
    closeSockets(besides: links)
    if !agent.isIdle { openSockets() }
  }

  /// Stops all; look-ups end without an address.
  public func close() {
    closeSockets(besides: [])
    if let timer { loop.cancel(timer) }
    timer = nil
    for completion in waiting.values.joined() { completion([]) }
    waiting = [:]
  }

  /// Looks a `.local` name up. `completion` is called once, with no address when nobody answers in time.
  public func resolve(_ name: String, timeout: Interval = .seconds(5), completion: @escaping ([IPAddress]) -> Void) {
    guard timer != nil else { return completion([]) }
    waiting[key(name), default: []].append(completion)
    openSockets()
    agent.resolve(name, timeout: timeout, now: MonotonicClock.now())
    carryOut()
  }

  /// Answers from now on for a new random `.local` name that stands for `address`, and gives it back.
  public func register(_ address: IPAddress) -> String {
    openSockets()
    let name = agent.register(address, using: &generator, now: MonotonicClock.now())
    carryOut()
    return name
  }

  /// Stops answering for `name`.
  public func unregister(_ name: String) {
    agent.unregister(name)
    carryOut()
  }

  private func key(_ name: String) -> String {
    let lower = name.lowercased()
    return lower.hasSuffix(".") ? String(lower.dropLast()) : lower
  }

  private func openSockets() {
    for link in links where sockets[link] == nil {
      do throws(SystemError) {
        sockets[link] = try open(link)
      } catch {
        Log.info("no multicast DNS on interface \(link.index): \(error)")
      }
    }
  }

  private func closeSockets(besides kept: Set<Link>) {
    for (link, socket) in sockets where !kept.contains(link) {
      closed.add(socket.counters)
      socket.close()
      sockets[link] = nil
    }
  }

  private func open(_ link: Link) throws(SystemError) -> UDPSocket {
    let any = link.family == .v4 ? IPAddress(v4: 0) : IPAddress(v6: 0, 0)
    var options = UDPSocket.Options()
    options.sharesPort = true
    options.bufferSize = 256 << 10
    let socket = try UDPSocket(bindingTo: SocketAddress(any, Self.port), on: loop, options: options) { [weak self] datagram, from, _ in
      self?.agent.receive(datagram.bytes, from: from, now: MonotonicClock.now())
      self?.carryOut()
    }
    do {
      try socket.join(Self.groups[link.family]!, interface: link.index)
    } catch {
      socket.close()
      throw error
    }
    return socket
  }

  private func carryOut() {
    agent.handleTimeout(now: MonotonicClock.now())
    while let transmit = agent.pollTransmit() {
      switch transmit.destination {
      case .multicast:
        for (link, socket) in sockets {
          var group = Self.groups[link.family]!
          if link.family == .v6 { group.scope = link.index }
          socket.send(transmit.bytes.span.bytes, to: SocketAddress(group, Self.port))
        }
      case .unicast(let address):
        sockets.first { $0.key.family == address.ip.family && (address.ip.scope == 0 || $0.key.index == address.ip.scope) }?
          .value.send(transmit.bytes.span.bytes, to: address)
      }
    }
    for socket in sockets.values { socket.flush() }
    var outcomes: [(String, [IPAddress])] = []
    while let event = agent.pollEvent() {
      switch event {
      case .resolved(let name, let addresses): outcomes.append((name, addresses))
      case .failed(let name): outcomes.append((name, []))
      }
    }
    // Sockets are closed by the timer: here, one of them may be the caller.
    if let timer { loop.set(timer, to: agent.isIdle && !sockets.isEmpty ? MonotonicClock.now() : agent.deadline) }
    for (name, addresses) in outcomes { for completion in waiting.removeValue(forKey: key(name)) ?? [] { completion(addresses) } }
  }
}
