import Base
import Bytes
import TURN

@testable import STUN

/// A small TURN and STUN server (RFC 8656) of its own making, so that the client is not tested against itself.
final class TURNServer: VirtualNode {
  /// What the server knows a client by.
  enum ClientKey: Hashable {
    case datagram(SocketAddress)
    case stream(Int, SocketAddress)
  }

  struct Allocation {
    var relayed: [SocketAddress]
    var expiry: Instant
    var permissions: [IPAddress: Instant] = [:]
    var channels: [UInt16: (peer: SocketAddress, expiry: Instant)] = [:]
  }

  let address: SocketAddress
  let relayIP: IPAddress
  let relayIP6: IPAddress?
  let network: VirtualNetwork
  let username = "user", password = "secret", realm = "example.org"
  private(set) var nonce = "nonce-0"
  private(set) var allocations: [ClientKey: Allocation] = [:]
  private var streams: [ClientKey: (stream: VirtualStream, reassembler: StreamReassembler)] = [:]
  private var nextPort: UInt16 = 50_000
  /// Answers Allocate with this error.
  var refusal: ErrorCode?
  /// Answers Allocate with a redirection.
  var alternate: SocketAddress?
  var givesChannels = true
  var isSilent = false
  private(set) var counts = Counters()

  init(_ network: VirtualNetwork, at text: String, relayIP: String = "203.0.113.200", relayIP6: String? = nil) {
    self.network = network
    address = SocketAddress(text)!
    self.relayIP = IPAddress(relayIP)!
    self.relayIP6 = relayIP6.flatMap { IPAddress($0) }
    network.add(self, at: address.ip)
    network.add(self, at: self.relayIP)
    if let ip = self.relayIP6 { network.add(self, at: ip) }
  }

  var deadline: Instant? { nil }
  func handleTimeout(now: Instant) {}
  func changeNonce() { nonce += "x" }

  func receive(_ bytes: [UInt8], from source: SocketAddress, to destination: SocketAddress, now: Instant) {
    if isSilent { return }
    if destination == address { return handle(bytes, from: .datagram(source), source, now: now) }
    // From a peer to a relayed address.
    guard let (key, allocation) = allocations.first(where: { $0.value.relayed.contains(destination) && $0.value.expiry > now }),
      let permitted = allocation.permissions[source.ip], permitted > now
    else { return counts.count("peer.blocked") }
    if let channel = allocation.channels.first(where: { $0.value.peer == source && $0.value.expiry > now })?.key {
      counts.count("channel.out")
      var message = [UInt8(channel >> 8), UInt8(channel & 0xFF), UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
      if case .stream = key { while message.count % 4 != 0 { message.append(0xEE) } }
      return send(message, to: key)
    }
    counts.count("indication.out")
    var builder = MessageBuilder(.indication, .data, transactionID: TransactionID(high: 1, low: 1))
    builder.append(.xorPeerAddress, xorAddress: source)
    builder.append(.data, bytes: bytes)
    send(builder.bytes, to: key)
  }

  func accept(_ stream: VirtualStream, to destination: SocketAddress, now: Instant) -> Bool {
    guard destination == address, !isSilent else { return false }
    streams[.stream(stream.tag, stream.remote)] = (stream, StreamReassembler(.turn))
    return true
  }

  func receive(_ bytes: [UInt8], on stream: VirtualStream, now: Instant) {
    let key = ClientKey.stream(stream.tag, stream.remote)
    streams[key]?.reassembler.append(bytes.span.bytes)
    while let message = try? streams[key]?.reassembler.next() { handle(message, from: key, stream.remote, now: now) }
  }

  private func send(_ bytes: [UInt8], to key: ClientKey) {
    switch key {
    case .datagram(let destination): network.send(bytes, from: address, to: destination)
    case .stream: if let stream = streams[key]?.stream { network.send(bytes, on: stream) }
    }
  }

  private func handle(_ bytes: [UInt8], from key: ClientKey, _ source: SocketAddress, now: Instant) {
    if let header = ChannelData(bytes.span.bytes) {
      guard let allocation = allocations[key], let channel = allocation.channels[header.channel], channel.expiry > now,
        (allocation.permissions[channel.peer.ip] ?? .zero) > now
      else { return counts.count("channel.unknown") }
      counts.count("channel.in")
      return relay(Array(bytes[4..<4 + header.count]), to: channel.peer, allocation)
    }
    guard let message = try? Message(bytes.span.bytes) else { return counts.count("malformed") }
    switch (message.messageClass, message.method) {
    case (.request, .binding):
      var response = MessageBuilder(.success, to: message)
      response.append(.xorMappedAddress, xorAddress: source)
      send(response.bytes, to: key)
    case (.indication, .send):
      guard let allocation = allocations[key], let peer = message.xorAddress(.xorPeerAddress), let range = message.range(of: .data),
        (allocation.permissions[peer.ip] ?? .zero) > now
      else { return counts.count("indication.refused") }
      counts.count("indication.in")
      relay(Array(bytes[range]), to: peer, allocation)
    case (.request, _): handleRequest(message, from: key, source, now: now)
    default: counts.count("other")
    }
  }

  private func relay(_ data: [UInt8], to peer: SocketAddress, _ allocation: Allocation) {
    guard let relayed = allocation.relayed.first(where: { $0.ip.family == peer.ip.family }) else { return }
    network.send(data, from: relayed, to: peer)
  }

  private func handleRequest(_ message: borrowing Message, from key: ClientKey, _ source: SocketAddress, now: Instant) {
    let integrity = Digest.hash(.md5, Array("\(username):\(realm):\(password)".utf8))
    guard message.hasIntegrity else { return refuse(message, ErrorCode(401, "Unauthenticated"), to: key, challenge: true) }
    guard message.text(.username) == username, message.hasValidIntegrity(key: integrity) else {
      return refuse(message, ErrorCode(401, "Wrong Credentials"), to: key, challenge: true)
    }
    guard message.text(.nonce) == nonce else { return refuse(message, ErrorCode(438, "Stale Nonce"), to: key, challenge: true) }
    counts.count("request \(message.method.rawValue)")
    var response = MessageBuilder(.success, to: message)
    if let allocation = allocations[key], allocation.expiry <= now { allocations[key] = nil }
    switch message.method {
    case .allocate:
      if let refusal { return refuse(message, refusal, to: key) }
      if alternate != nil { return refuse(message, ErrorCode(300, "Try Alternate"), to: key) }
      if allocations[key] == nil {
        var relayed = [SocketAddress(relayIP, nextPort)]
        if let relayIP6, message.has(.additionalAddressFamily) { relayed.append(SocketAddress(relayIP6, nextPort)) }
        nextPort += 1
        allocations[key] = Allocation(relayed: relayed, expiry: now + .seconds(600 as Int64))
      }
      for relayed in allocations[key]?.relayed ?? [] { response.append(.xorRelayedAddress, xorAddress: relayed) }
      response.append(.xorMappedAddress, xorAddress: source)
      response.append(.lifetime, uint32: 600)
    case _ where allocations[key] == nil: return refuse(message, ErrorCode(437, "Allocation Mismatch"), to: key)
    case .refresh:
      let lifetime = message.uint32(.lifetime) ?? 600
      if lifetime == 0 { allocations[key] = nil } else { allocations[key]?.expiry = now + .seconds(Int64(lifetime)) }
      response.append(.lifetime, uint32: lifetime)
    case .createPermission:
      guard let peer = message.xorAddress(.xorPeerAddress) else { return refuse(message, ErrorCode(400), to: key) }
      allocations[key]?.permissions[peer.ip] = now + .seconds(300 as Int64)
    case .channelBind:
      guard let peer = message.xorAddress(.xorPeerAddress), let field = message.uint32(.channelNumber) else {
        return refuse(message, ErrorCode(400), to: key)
      }
      guard givesChannels else { return refuse(message, ErrorCode(508, "Insufficient Capacity"), to: key) }
      allocations[key]?.channels[UInt16(field >> 16)] = (peer, now + .seconds(600 as Int64))
      allocations[key]?.permissions[peer.ip] = now + .seconds(300 as Int64)
    default: return refuse(message, ErrorCode(400), to: key)
    }
    response.appendIntegrity(key: integrity)
    send(response.bytes, to: key)
  }

  private func refuse(_ request: borrowing Message, _ error: ErrorCode, to key: ClientKey, challenge: Bool = false) {
    counts.count("refused \(error.code)")
    var response = MessageBuilder(.error, to: request)
    response.append(error)
    if challenge {
      response.append(.realm, text: realm)
      response.append(.nonce, text: nonce)
    }
    if error.code == 300, let alternate { response.append(.alternateServer, address: alternate) }
    send(response.bytes, to: key)
  }
}
