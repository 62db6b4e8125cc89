import Base
import Bytes
import SCTP

/// Input: a byte that chooses the association, and then chunks, each behind two bytes of length. They go into packets with the right ports, tag and
/// checksum; their TSNs and request numbers count from the handshake's. Timers fire behind every chunk whose length is a multiple of three.
/// A COOKIE ECHO without a cookie gets the last one that the association gave out, a HEARTBEAT ACK without information that of its last HEARTBEAT.
///
/// Associations: 0 raw packets to one of each kind, 1 up, 2 up with I-DATA, 3 waiting for INIT ACK, 4 at rest.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 1 else { return 0 }
  let input = Array(UnsafeBufferPointer(start: data + 1, count: size - 1))
  switch data[0] {
  case 0:
    for peer in [up, upInterleaved, waiting, resting] {
      var peer = peer
      peer.receive(input)
    }
  case 1: chunks(input, up)
  case 2: chunks(input, upInterleaved)
  case 3: chunks(input, waiting)
  default: chunks(input, resting)
  }
  return 0
}

private let (up, upInterleaved) = (Peer.connected(interleaves: false), Peer.connected(interleaves: true))
private let (waiting, resting) = (Peer(starts: true), Peer(starts: false))

/// An association under test with what its true peer knows of it.
private struct Peer {
  var association: Association
  var now = Instant.zero
  /// The tag that its packets have to carry, and the last TSNs of both sides before the first.
  var tag: UInt32 = 0
  var itsTSN: UInt32 = 0
  var ourTSN: UInt32 = 0
  /// The value of its last HEARTBEAT.
  var heartbeat: [UInt8] = []
  /// The state cookie that it gave out last, and the tag that goes with it.
  var cookie: (bytes: [UInt8], tag: UInt32) = ([], 0)

  init(starts: Bool) {
    association = Association(isDTLSClient: true, seed: 1)
    if starts { association.start(now: .zero) }
    drain()
  }

  /// An association that is up, with channels of all kinds, one of them closing, and data on its way.
  static func connected(interleaves: Bool) -> Peer {
    var configuration = Association.Configuration()
    configuration.offersInterleaving = interleaves
    configuration.maximumMessageSize = 1_000
    var peer = Peer(starts: false)
    peer.association = Association(configuration: configuration, isDTLSClient: true, seed: 1)
    var other = Association(configuration: configuration, isDTLSClient: false, seed: 2)
    peer.association.start(now: .zero)
    var options = ChannelOptions()
    var channels: [ChannelIdentifier] = []
    for index in 0..<4 {
      options.isOrdered = index % 2 == 0
      options.maxRetransmits = index > 1 ? 0 : nil
      if let channel = try? peer.association.open(options) { channels.append(channel) }
    }
    for _ in 0..<20 {
      while let packet = peer.association.pollTransmit(now: .zero) {
        peer.look(packet)
        other.receive(packet.span.bytes, now: .zero)
      }
      while let packet = other.pollTransmit(now: .zero) {
        if packet[12] == 2 { peer.ourTSN = number(packet, 28) &- 1 }
        peer.association.receive(packet.span.bytes, now: .zero)
      }
    }
    precondition(peer.association.state == .connected, "the handshake must be done before it is fuzzed behind")
    peer.drain()
    peer.association.close(channels[3], now: .zero)
    peer.drain()
    let message = [UInt8](repeating: 1, count: 1_500)
    peer.association.setRemoteMaximumMessageSize(message.count)
    for channel in channels.dropLast() { try? peer.association.send(message.span.bytes, isText: false, on: channel, now: .zero) }
    peer.drain()
    return peer
  }

  mutating func receive(_ packet: [UInt8]) {
    association.receive(packet.span.bytes, now: now)
    drain()
  }

  mutating func drain() {
    var count = 0
    while let packet = association.pollTransmit(now: now) {
      look(packet)
      count += 1
      precondition(count < 1_000, "packets never end")
    }
    while association.pollEvent() != nil {}
  }

  /// Learns from INIT, INIT ACK and HEARTBEAT what a peer would.
  mutating func look(_ packet: [UInt8]) {
    if packet[12] == 4 { heartbeat = Array(packet[16..<12 + Int(packet[15])]) }
    guard packet.count > 32, packet[12] == 1 || packet[12] == 2 else { return }
    if packet[12] == 1 { (tag, itsTSN) = (number(packet, 16), number(packet, 28) &- 1) }
    var offset = 32
    while packet[12] == 2, offset + 4 <= packet.count {
      let length = Int(packet[offset + 2]) << 8 | Int(packet[offset + 3])
      if packet[offset + 1] == 7, packet[offset] == 0 { cookie = (Array(packet[offset + 4..<offset + length]), number(packet, 16)) }
      offset += (length + 3) & ~3
    }
  }
}

private func chunks(_ input: [UInt8], _ start: Peer) {
  var peer = start
  var offset = 0
  while offset + 2 < input.count {
    let length = min(Int(input[offset]) << 8 | Int(input[offset + 1]), input.count - offset - 2)
    let chunk = Array(input[offset + 2..<offset + 2 + length])
    offset += 2 + length
    if chunk.count == 4, chunk[0] == 10 {
      let count = peer.cookie.bytes.count
      peer.receive(packet(tag: peer.cookie.tag, [10, 0, UInt8((4 + count) >> 8), UInt8((4 + count) & 0xFF)] + peer.cookie.bytes))
    } else if chunk.count == 4, chunk[0] == 5 {
      peer.receive(packet(tag: peer.tag, [5, 0, 0, UInt8(4 + peer.heartbeat.count)] + peer.heartbeat))
    } else {
      peer.receive(packet(tag: chunk.first == 1 ? 0 : peer.tag, relative(chunk, peer)))
    }
    if length % 3 == 0, let deadline = peer.association.deadline {
      peer.now = max(peer.now, deadline)
      peer.association.handleTimeout(now: peer.now)
      peer.drain()
    }
  }
}

/// Makes the TSNs and request numbers of a chunk count from those of the handshake.
private func relative(_ chunk: [UInt8], _ peer: Peer) -> [UInt8] {
  guard let type = chunk.first else { return chunk }
  var chunk = chunk
  func add(_ base: UInt32, at offset: Int) {
    guard chunk.count >= offset + 4 else { return }
    let value = number(chunk, offset) &+ base
    for index in 0..<4 { chunk[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * index)) }
  }
  switch type {
  case 0, 64, 192, 194: add(peer.ourTSN, at: 4)
  case 3, 7: add(peer.itsTSN, at: 4)
  case 130:
    if chunk.count > 5, chunk[5] == 16 {
      add(peer.itsTSN, at: 8)
    } else {
      add(peer.ourTSN, at: 8)
      add(peer.ourTSN, at: 16)
    }
  default: break
  }
  return chunk
}

private func packet(tag: UInt32, _ chunks: [UInt8]) -> [UInt8] {
  var bytes: [UInt8] = [0x13, 0x88, 0x13, 0x88]
  for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: tag >> UInt32(24 - 8 * index))) }
  bytes += [0, 0, 0, 0] + chunks
  var checksum: UInt32 = ~0
  for byte in bytes {
    checksum ^= UInt32(byte)
    for _ in 0..<8 { checksum = checksum & 1 == 1 ? (checksum >> 1) ^ 0x82F6_3B78 : checksum >> 1 }
  }
  for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: ~checksum >> UInt32(8 * index)) }
  return bytes
}

private func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
