import Base
import Bytes
import ICE
import STUN

/// The first byte chooses: a candidate's text, a server's URL, or an agent that gets a sequence of datagrams and stream bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  guard let mode = bytes.first else { return 0 }
  let rest = bytes.dropFirst()
  switch mode {
  case 0:
    guard let candidate = try? Candidate(parsing: String(decoding: rest, as: UTF8.self)) else { return 0 }
    guard let again = try? Candidate(parsing: candidate.description), again.description == candidate.description else {
      fatalError("a candidate that was written cannot be read")
    }
  case 1: _ = try? ServerURL(parsing: String(decoding: rest, as: UTF8.self))
  default: converse(rest, mode: mode)
  }
  return 0
}

/// Each step is a byte that says what happens, a byte of length, and the bytes themselves. Messages may be signed with the right password, and
/// responses get the transaction of the agent's latest request that way, since no fuzzer guesses either. They may also be signed with a
/// wrong password, or with what held before a restart.
private func converse(_ bytes: ArraySlice<UInt8>, mode: UInt8) {
  let (local, peer, server) = (SocketAddress("192.0.2.1:5000")!, SocketAddress("192.0.2.2:5000")!, SocketAddress("192.0.2.3:3478")!)
  let second = SocketAddress("192.0.2.4:5000")!
  let socket = SocketIdentifier(rawValue: 0)
  var configuration = Agent.Configuration()
  configuration.servers = [
    Server(kind: .stun, address: server), Server(kind: .turnUDP, address: server, username: "u", password: "p"),
    Server(kind: .turnTCP, address: server, username: "u", password: "p"),
  ]
  let remote = Parameters(usernameFragment: "peer", password: "the password of the peer")
  var agent = Agent(configuration: configuration, isControlling: mode & 1 == 1, seed: 1)
  var now = Instant.zero
  agent.addSocket(socket, address: local)
  if mode & 2 == 2 { agent.setRemoteParameters(remote, now: now) }
  agent.gather(now: now)
  var credential = LongTermCredential(username: "u", password: "p")
  var last: [SocketAddress: [UInt8]] = [:]
  var lastOnStream: [UInt8] = []
  var lastQuery: [UInt8] = []
  var streams: [SocketIdentifier] = []
  var previous = agent.localParameters
  var rest = bytes
  while let step = rest.popFirst(), let size = rest.popFirst() {
    var message = Array(rest.prefix(Int(size)))
    rest = rest.dropFirst(message.count)
    let request: [UInt8] =
      switch step & 0x0F {
      case 2: last[server] ?? []
      case 3, 11: lastOnStream
      case 12: lastQuery
      case 13: last[second] ?? []
      default: last[peer] ?? []
      }
    if message.count >= 20, request.count >= 20, message[0] & 1 == 1 { message.replaceSubrange(8..<20, with: request[8..<20]) }
    if step & 0x40 != 0 {
      var local = step & 0x10 != 0 ? previous : agent.localParameters
      var other = remote
      if step & 0x80 != 0 { (local.password, other.password) = ("not the agent's own password", "not the password of the peer") }
      message = step & 0x0F == 2 || step & 0x0F == 3 ? signed(message, &credential) : signed(message, local, other)
    }
    if step & 0x20 != 0 { message = [UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message }
    switch step & 0x0F {
    case 0: agent.setRemoteParameters(remote, now: now)
    case 1:
      if let candidate = try? Candidate(parsing: String(decoding: message, as: UTF8.self)) { agent.addRemoteCandidate(candidate, now: now) }
    case 2: _ = agent.receive(message.span.bytes, from: server, on: socket, now: now)
    case 3, 11: for id in streams { agent.receiveStream(message.span.bytes, on: id, now: now) }
    case 4: for id in streams { agent.streamOpened(id, local: local, now: now) }
    case 5:
      previous = agent.localParameters
      agent.restart(now: now)
    case 6: agent.endOfRemoteCandidates(now: now)
    case 7: agent.removeSocket(socket, now: now)
    case 8: agent.addSocket(socket, address: local)
    case 9: now += .seconds(Int64(size))
    case 10: for id in streams { agent.streamFailed(id, reason: "", now: now) }
    case 12: _ = agent.receive(message.span.bytes, from: server, on: socket, now: now)
    case 13: _ = agent.receive(message.span.bytes, from: second, on: socket, now: now)
    default: _ = agent.receive(message.span.bytes, from: peer, on: socket, now: now)
    }
    if let deadline = agent.deadline { now = max(now, deadline) }
    agent.handleTimeout(now: now)
    _ = agent.route(byteCount: Int(size))
    while let transmit = agent.pollTransmit() {
      guard transmit.bytes.count >= 22, transmit.bytes[0] == 0 else { continue }
      if transmit.socket == socket, transmit.destination == server, transmit.bytes[1] == 1 {
        lastQuery = transmit.bytes
      } else if transmit.socket == socket {
        last[transmit.destination] = transmit.bytes
      } else {
        // On a stream to the peer a length stands before the check.
        lastOnStream = transmit.bytes[1] < 0x10 ? transmit.bytes : Array(transmit.bytes.dropFirst(2))
      }
    }
    while let event = agent.pollEvent() {
      if case .openStream(let id, _, _) = event { streams.append(id) }
    }
    while agent.pollApplicationData() != nil {}
  }
  _ = agent.pairs
  agent.close(now: now)
}

private func signed(_ bytes: [UInt8], _ local: Parameters, _ remote: Parameters) -> [UInt8] {
  guard let message = try? Message(bytes.span.bytes) else { return bytes }
  var builder = MessageBuilder(message.messageClass, to: message)
  let isRequest = message.messageClass == .request
  if isRequest { builder.append(.username, text: "\(local.usernameFragment):\(remote.usernameFragment)") }
  for type: AttributeType in [
    .priority, .useCandidate, .iceControlled, .iceControlling, .errorCode, .xorMappedAddress, AttributeType(rawValue: 0x7777),
  ] {
    if let value = message.attribute(type) { builder.append(type, span: value) }
  }
  builder.appendIntegrity(key: Array((isRequest ? local : remote).password.utf8))
  builder.appendFingerprint()
  return builder.bytes
}

private func signed(_ bytes: [UInt8], _ credential: inout LongTermCredential) -> [UInt8] {
  guard let message = try? Message(bytes.span.bytes) else { return bytes }
  _ = credential.learn(from: message)
  var builder = MessageBuilder(message.messageClass, to: message)
  for type: AttributeType in [.errorCode, .lifetime, .xorRelayedAddress, .xorMappedAddress, .alternateServer, .alternateDomain] {
    if let value = message.attribute(type) { builder.append(type, span: value) }
  }
  if message.messageClass == .error {
    builder.append(.realm, text: "example.org")
    builder.append(.nonce, text: "nonce")
  }
  credential.sign(&builder)
  return builder.bytes
}
