import Base
import Bytes
import DTLS
import ICE
import SDP
import Testing

@testable import WebRTC

/// Two connections and the network between them, in virtual time. The same seed gives the same run.
struct Call: ~Copyable {
  /// What the network does to each packet.
  struct Conditions {
    var delay = Interval.milliseconds(5)
    var jitter = Interval.zero
    var loss = 0.0
    /// Whether DTLS records are lost, as in a firewall that lets only STUN through.
    var losesDTLS = false
  }

  /// A packet on its way.
  private struct Flying {
    var due: Instant
    var order: Int
    var isToAnswerer: Bool
    var from: SocketAddress
    var bytes: [UInt8]
  }

  static let certificates = (try! Certificate.generate(), try! Certificate.generate())
  static let offererAddress = SocketAddress(IPAddress("192.0.2.1")!, 5_000)
  static let answererAddress = SocketAddress(IPAddress("192.0.2.2")!, 6_000)

  var offerer: PeerConnection
  var answerer: PeerConnection
  var now = Instant.zero + .seconds(1)
  var conditions = Conditions()
  private(set) var offererEvents: [PeerConnectionEvent] = []
  private(set) var answererEvents: [PeerConnectionEvent] = []
  /// Media that came to the answerer, and to the offerer.
  private(set) var received: [(packet: [UInt8], media: ReceivedMedia, time: Instant)] = []
  private(set) var receivedByOfferer: [(packet: [UInt8], media: ReceivedMedia, time: Instant)] = []
  private var flying: [Flying] = []
  private var random: RandomSource
  private var order = 0
  private(set) var packetsLost = 0

  init(seed: UInt64 = 1, configure: (inout PeerConnection.Configuration) -> Void = { _ in }) {
    var first = PeerConnection.Configuration(certificate: Call.certificates.0)
    first.seed = seed &* 2 &+ 1
    configure(&first)
    var second = PeerConnection.Configuration(certificate: Call.certificates.1)
    second.seed = seed &* 2 &+ 2
    configure(&second)
    offerer = PeerConnection(configuration: first)
    answerer = PeerConnection(configuration: second)
    random = RandomSource(seed: seed)
    offerer.addSocket(SocketIdentifier(rawValue: 0), address: Call.offererAddress)
    answerer.addSocket(SocketIdentifier(rawValue: 0), address: Call.answererAddress)
  }

  /// Offer and answer, with candidates as they are there.
  mutating func negotiate() throws {
    try offerer.setLocalDescription(now: now)
    drain()
    try answerer.setRemoteDescription(.offer, sdp: offerer.localDescription!.description.description, now: now)
    try answerer.setLocalDescription(now: now)
    drain()
    try offerer.setRemoteDescription(.answer, sdp: answerer.localDescription!.description.description, now: now)
    drain()
  }

  /// Moves everything that can be moved now.
  mutating func drain() {
    var buffer = [UInt8](repeating: 0, count: 2_048)
    var isBusy = true
    while isBusy {
      isBusy = false
      while let event = offerer.pollEvent() { offererEvents.append(event) }
      while let event = answerer.pollEvent() { answererEvents.append(event) }
      var elements = buffer.mutableSpan
      var span = elements.mutableBytes
      while let out = offerer.pollTransmit(into: &span, now: now) {
        isBusy = true
        launch(Array(bytes: span.bytes.extracting(0..<out.count)), isToAnswerer: true, from: Call.offererAddress)
      }
      while let out = answerer.pollTransmit(into: &span, now: now) {
        isBusy = true
        launch(Array(bytes: span.bytes.extracting(0..<out.count)), isToAnswerer: false, from: Call.answererAddress)
      }
    }
  }

  private mutating func launch(_ bytes: [UInt8], isToAnswerer: Bool, from: SocketAddress) {
    if conditions.losesDTLS, let first = bytes.first, (20...63).contains(first) { return }
    if conditions.loss > 0, Double.random(in: 0..<1, using: &random) < conditions.loss {
      packetsLost += 1
      return
    }
    let extra = conditions.jitter == .zero ? 0 : Int64.random(in: 0...conditions.jitter.nanoseconds, using: &random)
    flying.append(
      Flying(due: now + conditions.delay + .nanoseconds(extra), order: order, isToAnswerer: isToAnswerer, from: from, bytes: bytes))
    order += 1
  }

  /// Lets time pass until `end`.
  mutating func run(until end: Instant) {
    while true {
      drain()
      var next = end
      if let due = flying.map(\.due).min() { next = min(next, due) }
      if let deadline = offerer.deadline { next = min(next, deadline) }
      if let deadline = answerer.deadline { next = min(next, deadline) }
      if next >= end {
        now = end
        deliver()
        drain()
        return
      }
      now = max(now + .nanoseconds(1), next)
      deliver()
      offerer.handleTimeout(now: now)
      answerer.handleTimeout(now: now)
    }
  }

  mutating func run(for interval: Interval) { run(until: now + interval) }

  private mutating func deliver() {
    let arrived = flying.filter { $0.due <= now }.sorted { ($0.due, $0.order) < ($1.due, $1.order) }
    flying.removeAll { $0.due <= now }
    for packet in arrived {
      let socket = SocketIdentifier(rawValue: 0)
      var bytes = packet.bytes
      var elements = bytes.mutableSpan
      var span = elements.mutableBytes
      if packet.isToAnswerer {
        if let media = answerer.receive(&span, from: packet.from, on: socket, now: now) {
          received.append((Array(bytes: span.bytes.extracting(media.packet)), media, now))
        }
      } else {
        if let media = offerer.receive(&span, from: packet.from, on: socket, now: now) {
          receivedByOfferer.append((Array(bytes: span.bytes.extracting(media.packet)), media, now))
        }
      }
    }
  }

  /// Gives the answerer a datagram that comes from the offerer's address.
  mutating func inject(_ datagram: [UInt8]) {
    var bytes = datagram
    var elements = bytes.mutableSpan
    var span = elements.mutableBytes
    if let media = answerer.receive(&span, from: Call.offererAddress, on: SocketIdentifier(rawValue: 0), now: now) {
      received.append((Array(bytes: span.bytes.extracting(media.packet)), media, now))
    }
    drain()
  }

  /// Encrypts a packet with the offerer's keys.
  mutating func protect(_ packet: [UInt8], isControl: Bool = false) -> [UInt8] {
    var bytes = packet + [UInt8](repeating: 0, count: 64)
    var elements = bytes.mutableSpan
    var span = elements.mutableBytes
    let count = offerer.transport.protect(&span, count: packet.count, isControl: isControl)?.count ?? 0
    return Array(bytes.prefix(count))
  }

  mutating func forgetEvents() { (offererEvents, answererEvents, received, receivedByOfferer) = ([], [], [], []) }
}
