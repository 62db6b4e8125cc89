import Base
import Bytes
import DTLS
import ICE
import SDP
import SRTP
import WebRTC

/// A peer made of the parts of a connection, so that it can encrypt whatever it likes with the keys of a real handshake.
struct Peer: ~Copyable {
  static let certificates = (try! Certificate.generate(), try! Certificate.generate())
  private static let addresses = (SocketAddress(IPAddress("192.0.2.1")!, 5_000), SocketAddress(IPAddress("192.0.2.2")!, 6_000))
  private static let socket = SocketIdentifier(rawValue: 0)

  /// The connection under test: it offered sound, pictures and data, and is connected.
  var connection: PeerConnection
  var now = Instant.zero + .seconds(1)
  let video: TransceiverIdentifier
  let audio: TransceiverIdentifier
  private var agent: ICE.Agent
  private var endpoint: DTLS.Endpoint
  private var outbound: SRTP.Context?
  private var buffer = [UInt8](repeating: 0, count: 2_048)

  init() {
    var configuration = PeerConnection.Configuration(certificate: Peer.certificates.0)
    configuration.seed = 1
    connection = PeerConnection(configuration: configuration)
    connection.addSocket(Peer.socket, address: Peer.addresses.0)
    video = try! connection.addTransceiver(.video)
    audio = try! connection.addTransceiver(.audio)
    _ = try! connection.createDataChannel(.init())
    try! connection.setLocalDescription(now: now)

    agent = ICE.Agent(configuration: ICE.Agent.Configuration(), isControlling: false, seed: 2)
    agent.addSocket(Peer.socket, address: Peer.addresses.1)
    agent.gather(now: now)
    let offer = connection.localDescription!.description
    let transport = offer.media[0]
    agent.setRemoteParameters(ICE.Parameters(usernameFragment: transport.usernameFragment!, password: transport.password!), now: now)
    endpoint = try! DTLS.Endpoint(
      role: .client, certificate: Peer.certificates.1, remoteFingerprints: [Peer.certificates.0.fingerprint(.sha256)])

    var answer = offer
    let fingerprint = Peer.certificates.1.fingerprint(.sha256).description.split(separator: " ")
    for index in answer.media.indices {
      answer.media[index].usernameFragment = agent.localParameters.usernameFragment
      answer.media[index].password = agent.localParameters.password
      answer.media[index].setup = .active
      answer.media[index].fingerprints = [CertificateFingerprint(algorithm: String(fingerprint[0]), value: String(fingerprint[1]))]
      answer.media[index].candidates = ["candidate:1 1 udp 2130706431 192.0.2.2 6000 typ host"]
      // Sources of its own: 1,001 and on for pictures, 2,001 for sound.
      answer.media[index].sourceGroups = index == 0 ? [SourceGroup(semantics: "FID", ssrcs: [1_001, 1_002])] : []
      answer.media[index].sources = index == 1 ? [SourceAttribute(ssrc: 2_001, name: "cname", value: "peer")] : []
    }
    try! connection.setRemoteDescription(.answer, answer, now: now)
    for _ in 0..<400 where outbound == nil || !connection.isConnected { step() }
    precondition(outbound != nil && connection.isConnected, "the peers connect")
  }

  /// Moves what is to be moved, and a little time.
  mutating func step() {
    pump()
    now = now + .milliseconds(5)
    connection.handleTimeout(now: now)
    agent.handleTimeout(now: now)
    endpoint.handleTimeout(now: now)
    if outbound == nil, agent.hasRoute { endpoint.start(now: now) }
    pump()
  }

  private mutating func pump() {
    drain { peer, bytes in peer.take(bytes) }
    while let transmit = agent.pollTransmit() { deliver(transmit.bytes) }
    while let record = endpoint.pollTransmit() { deliver(record) }
    while agent.pollEvent() != nil {}
    while let event = endpoint.pollEvent() {
      guard case .connected(let keys?) = event, let profile = SRTP.Profile(rawValue: keys.profile) else { continue }
      outbound = try! SRTP.Context(profile: profile, key: keys.clientKey, salt: keys.clientSalt, direction: .outbound)
    }
  }

  private mutating func take(_ bytes: [UInt8]) {
    let span = bytes.span.bytes
    guard case .application = agent.receive(span, from: Peer.addresses.0, on: Peer.socket, now: now), let first = bytes.first,
      (20...63).contains(first)
    else { return }
    endpoint.receive(span, now: now)
  }

  /// What the connection has to say: events are dropped, packets are given to `body`.
  mutating func drain(_ body: (inout Peer, [UInt8]) -> Void = { _, _ in }) {
    while connection.pollEvent() != nil {}
    while true {
      var packet = [UInt8](repeating: 0, count: 2_048)
      var elements = packet.mutableSpan
      var span = elements.mutableBytes
      guard let out = connection.pollTransmit(into: &span, now: now) else { return }
      packet.removeLast(packet.count - out.count)
      body(&self, packet)
    }
  }

  /// Gives the connection a datagram, as it is.
  mutating func deliver(_ datagram: [UInt8]) {
    var bytes = datagram
    var elements = bytes.mutableSpan
    var span = elements.mutableBytes
    if let media = connection.receive(&span, from: Peer.addresses.1, on: Peer.socket, now: now) {
      precondition(
        media.packet.upperBound <= datagram.count && media.header.payload.upperBound <= media.packet.count, "media lies in the datagram")
    }
  }

  /// Encrypts a packet and gives it to the connection.
  mutating func deliver(protecting packet: [UInt8], isControl: Bool) {
    var bytes = packet + [UInt8](repeating: 0, count: 64)
    var elements = bytes.mutableSpan
    var span = elements.mutableBytes
    let count = isControl ? try? outbound?.protectRTCP(&span, count: packet.count) : try? outbound?.protect(&span, count: packet.count)
    if let count { deliver(Array(bytes.prefix(count))) }
  }

  /// Sends an SCTP packet.
  mutating func deliver(applicationData packet: [UInt8]) {
    try? endpoint.send(packet.span.bytes)
    pump()
  }
}
