import Base
import DTLS

/// Two endpoints joined by a seeded link that delays, loses, doubles and reorders datagrams, in virtual time.
struct Link: ~Copyable {
  private struct Datagram {
    var due: Instant
    var toServer: Bool
    var bytes: [UInt8]
  }

  var client: Endpoint
  var server: Endpoint
  var now = Instant.zero
  var loss = 0.0
  var duplication = 0.0
  /// Every datagram takes this long, and up to `jitter` longer.
  var delay = Interval.milliseconds(10)
  var jitter = Interval.zero
  var clientEvents: [Event] = []
  var serverEvents: [Event] = []
  /// Everything that was handed to the network, in order.
  private(set) var sent: [(toServer: Bool, bytes: [UInt8])] = []

  private var random: RandomSource
  private var flying: [Datagram] = []

  init(client: consuming Endpoint, server: consuming Endpoint, seed: UInt64 = 1) {
    self.client = client
    self.server = server
    random = RandomSource(seed: seed)
  }

  mutating func start() {
    server.start(now: now)
    client.start(now: now)
    drain()
  }

  /// Takes what both endpoints have to say.
  mutating func drain() {
    while let bytes = client.pollTransmit() { post(bytes, toServer: true) }
    while let bytes = server.pollTransmit() { post(bytes, toServer: false) }
    while let event = client.pollEvent() { clientEvents.append(event) }
    while let event = server.pollEvent() { serverEvents.append(event) }
  }

  private mutating func post(_ bytes: [UInt8], toServer: Bool) {
    sent.append((toServer, bytes))
    for _ in 0..<(Double.random(in: 0..<1, using: &random) < duplication ? 2 : 1) {
      guard Double.random(in: 0..<1, using: &random) >= loss else { continue }
      let due = now + delay + Interval(nanoseconds: Int64.random(in: 0...jitter.nanoseconds, using: &random))
      flying.append(Datagram(due: due, toServer: toServer, bytes: bytes))
    }
  }

  /// Moves to the next thing that happens, at most to `limit`. False when there is nothing.
  mutating func step(until limit: Instant) -> Bool {
    var next = flying.map(\.due).min()
    for deadline in [client.deadline, server.deadline] { if let deadline { next = min(next ?? deadline, deadline) } }
    guard let next, next <= limit else { return false }
    now = max(now, next)
    if let index = flying.firstIndex(where: { $0.due <= now }) {
      let datagram = flying.remove(at: index)
      let bytes = datagram.bytes
      if datagram.toServer { server.receive(bytes.span.bytes, now: now) } else { client.receive(bytes.span.bytes, now: now) }
    } else {
      client.handleTimeout(now: now)
      server.handleTimeout(now: now)
    }
    drain()
    return true
  }

  /// Loses all that flies.
  mutating func dropAll() { flying = [] }

  /// Takes all that flies off the link.
  mutating func takeAll() -> [(toServer: Bool, bytes: [UInt8])] {
    defer { flying = [] }
    return flying.map { ($0.toServer, $0.bytes) }
  }

  /// Puts datagrams back on the link, to arrive now.
  mutating func deliver(_ datagrams: [(toServer: Bool, bytes: [UInt8])]) {
    flying += datagrams.map { Datagram(due: now, toServer: $0.toServer, bytes: $0.bytes) }
  }

  /// Lets virtual time pass until nothing happens any more, or up to `limit`.
  mutating func run(until limit: Instant = Instant(nanoseconds: 60_000_000_000)) { while step(until: limit) {} }
}

/// Certificates that all tests share, since only tests of `Certificate` care which ones they are.
enum Identity {
  static let client = try! Certificate.generate()
  static let server = try! Certificate.generate()
}

/// A client and a server that know each other's fingerprints.
func makeLink(
  clientProfiles: [UInt16] = Endpoint.defaultProfiles, serverProfiles: [UInt16] = Endpoint.defaultProfiles, mtu: Int = 1200,
  seed: UInt64 = 1,
  client: Certificate = Identity.client, server: Certificate = Identity.server, hash: HashFunction = .sha256
) throws -> Link {
  Link(
    client: try Endpoint(
      role: .client, certificate: client, remoteFingerprints: [server.fingerprint(hash)], srtpProfiles: clientProfiles, mtu: mtu),
    server: try Endpoint(
      role: .server, certificate: server, remoteFingerprints: [client.fingerprint(hash)], srtpProfiles: serverProfiles, mtu: mtu),
    seed: seed)
}

extension [Event] {
  var keys: KeyingMaterial? {
    for case .connected(let keys?) in self { return keys }
    return nil
  }
  var isConnected: Bool { contains { if case .connected = $0 { true } else { false } } }
  var messages: [[UInt8]] { compactMap { if case .applicationData(let bytes) = $0 { bytes } else { nil } } }
  var failure: DTLSError? {
    for case .failed(let error) in self { return error }
    return nil
  }
}
