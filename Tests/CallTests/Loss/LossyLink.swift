import Base
import Bytes
import DTLS
import ICE
import WebRTC

/// Two connections and a bad network between them, in virtual time: the same seed gives the same run.
struct LossyLink: ~Copyable {
  /// What the network does to each packet.
  struct Conditions {
    /// Of every packet, either way.
    var loss = 0.05
    var delay = Interval.milliseconds(50)
    /// Up to so much comes on top, so that packets overtake each other.
    var jitter = Interval.milliseconds(15)
    var isDown = false
  }

  private struct Flying {
    var due: Instant
    var isToReceiver: Bool
    var bytes: [UInt8]
  }

  private static let addresses = (SocketAddress(IPAddress("192.0.2.1")!, 5_000), SocketAddress(IPAddress("192.0.2.2")!, 6_000))
  private static let certificates = (try! Certificate.generate(), try! Certificate.generate())
  private static let socket = SocketIdentifier(rawValue: 0)

  var sender: PeerConnection
  var receiver: PeerConnection
  var conditions = Conditions()
  private(set) var now = Instant.zero + .seconds(1)
  /// What the sender was told since the last look.
  var senderEvents: [PeerConnectionEvent] = []
  private(set) var packetsLost = 0
  private var flying: [Flying] = []
  private var random: RandomSource

  init(seed: UInt64, codecs: [CodecCapability]) {
    func connection(_ certificate: Certificate, _ seed: UInt64) -> PeerConnection {
      var configuration = PeerConnection.Configuration(certificate: certificate)
      (configuration.seed, configuration.codecs) = (seed, codecs)
      return PeerConnection(configuration: configuration)
    }
    sender = connection(LossyLink.certificates.0, seed &* 2)
    receiver = connection(LossyLink.certificates.1, seed &* 2 &+ 1)
    random = RandomSource(seed: seed)
    sender.addSocket(LossyLink.socket, address: LossyLink.addresses.0)
    receiver.addSocket(LossyLink.socket, address: LossyLink.addresses.1)
  }

  /// Offer and answer, which travel on a way of their own.
  mutating func negotiate() throws {
    try sender.setLocalDescription(now: now)
    pump()
    try receiver.setRemoteDescription(.offer, sdp: "\(sender.localDescription!.description)", now: now)
    try receiver.setLocalDescription(now: now)
    pump()
    try sender.setRemoteDescription(.answer, sdp: "\(receiver.localDescription!.description)", now: now)
    pump()
  }

  /// Lets time pass until `end`, or to the moment when media arrives, which is then returned.
  mutating func advance(to end: Instant) -> (packet: [UInt8], media: ReceivedMedia)? {
    while true {
      pump()
      if let index = flying.indices.filter({ flying[$0].due <= now }).min(by: { flying[$0].due < flying[$1].due }) {
        let packet = flying.remove(at: index)
        if let received = deliver(packet) { return received }
        continue
      }
      if now >= end { return nil }
      var next = end
      for due in [flying.map(\.due).min(), sender.deadline, receiver.deadline] {
        if let due { next = min(next, due) }
      }
      now = min(end, max(next, now + .nanoseconds(1)))
      sender.handleTimeout(now: now)
      receiver.handleTimeout(now: now)
    }
  }

  private mutating func deliver(_ packet: Flying) -> (packet: [UInt8], media: ReceivedMedia)? {
    var bytes = packet.bytes
    var elements = bytes.mutableSpan
    var span = elements.mutableBytes
    guard packet.isToReceiver else {
      _ = sender.receive(&span, from: LossyLink.addresses.1, on: LossyLink.socket, now: now)
      return nil
    }
    guard let media = receiver.receive(&span, from: LossyLink.addresses.0, on: LossyLink.socket, now: now) else { return nil }
    return (Array(bytes: span.bytes.extracting(media.packet)), media)
  }

  /// Takes out what both have to say.
  mutating func pump() {
    while let event = sender.pollEvent() { senderEvents.append(event) }
    while receiver.pollEvent() != nil {}
    var buffer = [UInt8](repeating: 0, count: 2_048)
    var elements = buffer.mutableSpan
    var span = elements.mutableBytes
    while let out = sender.pollTransmit(into: &span, now: now) {
      launch(Array(bytes: span.bytes.extracting(0..<out.count)), isToReceiver: true)
    }
    while let out = receiver.pollTransmit(into: &span, now: now) {
      launch(Array(bytes: span.bytes.extracting(0..<out.count)), isToReceiver: false)
    }
  }

  private mutating func launch(_ bytes: [UInt8], isToReceiver: Bool) {
    if conditions.isDown || Double.random(in: 0..<1, using: &random) < conditions.loss {
      packetsLost += 1
      return
    }
    let extra = Int64.random(in: 0...conditions.jitter.nanoseconds, using: &random)
    flying.append(Flying(due: now + conditions.delay + .nanoseconds(extra), isToReceiver: isToReceiver, bytes: bytes))
  }
}
