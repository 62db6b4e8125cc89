import Base
import Bytes
import CAllocations
import DTLS
import ICE
import WebRTC

/// Two peer connections that are connected in memory, in virtual time, without sockets: what one sends, the other has at once.
struct ConnectedPair: ~Copyable {
  /// Packets that were passed on, and allocations that were made for them.
  struct Counts {
    var mediaPackets = 0
    /// While frames became packets.
    var framing = 0
    /// While packets of media left the sender.
    var sending = 0
    /// While packets of media entered the receiver.
    var receiving = 0
    /// For RTCP, STUN, timers, whatever has no rate of packets.
    var control = 0
  }

  private(set) var caller: PeerConnection
  private(set) var callee: PeerConnection
  var now = Instant.zero + .seconds(1)
  var counts = Counts()
  private var audio: TransceiverIdentifier!
  private var video: TransceiverIdentifier!
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 64)

  private static let addresses = (SocketAddress(.loopback4, 5_000), SocketAddress(.loopback4, 6_000))
  static let socket = SocketIdentifier(rawValue: 0)

  /// Two ends that send each other sound and pictures; throws when they cannot agree.
  static func connected(bitrate: Int = 4_000_000) throws -> ConnectedPair {
    var configuration = PeerConnection.Configuration(certificate: try Certificate.generate())
    configuration.codecs = CodecCapability.all.filter { ["opus", "VP8"].contains($0.name) }
    (configuration.startBitrate, configuration.maximumBitrate) = (bitrate, bitrate)
    var pair = ConnectedPair(configuration)
    try pair.negotiate()
    for _ in 0..<2_000 where !pair.isConnected { pair.advance(.milliseconds(1)) }
    guard pair.isConnected else { throw Benchmark.Failure(description: "the two ends did not connect in memory") }
    return pair
  }

  private init(_ configuration: PeerConnection.Configuration) {
    var configuration = configuration
    configuration.seed = 1
    caller = PeerConnection(configuration: configuration)
    configuration.seed = 2
    callee = PeerConnection(configuration: configuration)
    caller.addSocket(ConnectedPair.socket, address: ConnectedPair.addresses.0)
    callee.addSocket(ConnectedPair.socket, address: ConnectedPair.addresses.1)
  }

  deinit { buffer.deallocate() }

  private var isConnected: Bool { caller.isConnected && callee.isConnected }

  private mutating func negotiate() throws {
    audio = try caller.addTransceiver(.audio)
    video = try caller.addTransceiver(.video)
    try caller.setLocalDescription(now: now)
    transfer()
    guard let offer = caller.localDescription?.description else { throw Benchmark.Failure(description: "there is no offer") }
    try callee.setRemoteDescription(.offer, offer, now: now)
    for transceiver in callee.transceivers { try callee.setDirection(.sendrecv, of: transceiver.identifier) }
    try callee.setLocalDescription(now: now)
    guard let answer = callee.localDescription?.description else { throw Benchmark.Failure(description: "there is no answer") }
    try caller.setRemoteDescription(.answer, answer, now: now)
    transfer()
  }

  /// Lets time pass.
  mutating func advance(_ interval: Interval) {
    now += interval
    let before = allocations_of_thread()
    caller.handleTimeout(now: now)
    callee.handleTimeout(now: now)
    counts.control += Int(allocations_of_thread() - before)
    transfer()
  }

  /// Sends a picture and a sound each way.
  mutating func send(picture: RawSpan, isKeyFrame: Bool, sound: RawSpan, timestamp: UInt32) {
    let before = allocations_of_thread()
    caller.sendVideo(picture, isKeyFrame: isKeyFrame, captureTime: now, on: video, now: now)
    caller.sendAudio(sound, timestamp: timestamp, captureTime: now, level: 30, on: audio, now: now)
    callee.sendVideo(picture, isKeyFrame: isKeyFrame, captureTime: now, on: callee.transceivers[1].identifier, now: now)
    callee.sendAudio(sound, timestamp: timestamp, captureTime: now, level: 30, on: callee.transceivers[0].identifier, now: now)
    counts.framing += Int(allocations_of_thread() - before)
    transfer()
  }

  /// Passes on what waits, until nothing does.
  private mutating func transfer() {
    var isBusy = true
    while isBusy {
      isBusy = false
      while let event = caller.pollEvent() {
        if case .iceCandidate(let candidate) = event { try? callee.addIceCandidate(candidate, now: now) }
      }
      while let event = callee.pollEvent() {
        if case .iceCandidate(let candidate) = event { try? caller.addIceCandidate(candidate, now: now) }
      }
      while ConnectedPair.pass(from: &caller, ConnectedPair.addresses.0, to: &callee, buffer, &counts, now) { isBusy = true }
      while ConnectedPair.pass(from: &callee, ConnectedPair.addresses.1, to: &caller, buffer, &counts, now) { isBusy = true }
    }
  }

  private static func pass(
    from sender: inout PeerConnection, _ address: SocketAddress, to receiver: inout PeerConnection, _ buffer: UnsafeMutableRawBufferPointer,
    _ counts: inout Counts, _ now: Instant
  ) -> Bool {
    var span = buffer.mutableBytes
    let start = allocations_of_thread()
    let outgoing = sender.pollTransmit(into: &span, now: now)
    let sent = allocations_of_thread()
    guard let outgoing else {
      counts.control += Int(sent - start)
      return false
    }
    let isMedia = span.bytes.uint8(at: 0) >> 6 == 2 && !(192...223).contains(span.bytes.uint8(at: 1))
    var datagram = span._mutatingExtracting(0..<outgoing.count)
    let media = receiver.receive(&datagram, from: address, on: socket, now: now)
    use(media?.packet)
    let received = allocations_of_thread()
    if isMedia {
      counts.mediaPackets += 1
      counts.sending += Int(sent - start)
      counts.receiving += Int(received - sent)
    } else {
      counts.control += Int(received - start)
    }
    return true
  }

  // MARK: One side alone

  /// Sends a picture from the caller and hands each packet to `output` in place of the callee.
  mutating func originate(_ picture: RawSpan, now: Instant, _ output: (_ packet: RawSpan, _ outgoing: Outgoing) -> Void) {
    caller.sendVideo(picture, isKeyFrame: false, captureTime: now, on: video, now: now)
    var span = buffer.mutableBytes
    while let outgoing = caller.pollTransmit(into: &span, now: now) { output(span.bytes.extracting(0..<outgoing.count), outgoing) }
  }

  /// What either side dropped.
  var discards: [String: Int] {
    var all = caller.discards
    all.add(callee.discards)
    return all.values
  }

  /// Gives the callee a packet of the caller's.
  mutating func receive(_ packet: inout MutableRawSpan) -> Bool {
    callee.receive(&packet, from: ConnectedPair.addresses.0, on: ConnectedPair.socket, now: now) != nil
  }
}
