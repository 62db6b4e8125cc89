import Base
import Bytes
import STUN
import TURN

/// The first byte chooses: a client that gets a sequence of messages from its server, or a stream cut into pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  guard let mode = bytes.first else { return 0 }
  switch mode {
  case 0: reassemble(bytes.dropFirst(), .turn)
  case 1: reassemble(bytes.dropFirst(), .lengthPrefixed)
  default: converse(bytes.dropFirst(), isSigned: mode & 1 == 1)
  }
  return 0
}

private func reassemble(_ bytes: ArraySlice<UInt8>, _ framing: StreamReassembler.Framing) {
  var reassembler = StreamReassembler(framing)
  var rest = bytes
  var total = 0
  while let size = rest.popFirst() {
    let piece = Array(rest.prefix(Int(size)))
    rest = rest.dropFirst(piece.count)
    reassembler.append(piece.span.bytes)
    do {
      while let message = try reassembler.next() { total += message.count }
    } catch { return }
  }
  precondition(total <= bytes.count, "more came out than went in")
}

/// Each message has a byte of length before it. Where it is a response it gets the transaction of the client's latest request, and where the
/// mode says so a right integrity, as no fuzzer guesses either.
private func converse(_ bytes: ArraySlice<UInt8>, isSigned: Bool) {
  let peer = SocketAddress(.loopback4, 7000)
  var configuration = Client.Configuration(username: "user", password: "secret", transport: .datagram)
  configuration.addressFamilies = [.v4, .v6]
  var client = Client(configuration, random: Randomness(seed: 1))
  var credential = LongTermCredential(username: "user", password: "secret")
  var now = Instant.zero
  client.start(now: now)
  var last: [UInt8] = []
  var rest = bytes
  while let size = rest.popFirst() {
    while let sent = client.pollTransmit() {
      if sent.count >= 20, sent[0] == 0 { last = sent }
    }
    var message = Array(rest.prefix(Int(size)))
    rest = rest.dropFirst(message.count)
    if message.count >= 20, last.count >= 20, message[0] & 1 == 1 {
      message.replaceSubrange(8..<20, with: last[8..<20])
      if isSigned { message = signed(message, &credential) }
    }
    _ = client.receive(message.span.bytes, now: now)
    while let event = client.pollEvent() {
      if event == .allocated {
        client.permit(peer.ip, now: now)
        client.bindChannel(peer, now: now)
      }
    }
    client.send([1, 2, 3].span.bytes, to: peer)
    if let deadline = client.deadline, size & 1 == 0 {
      now = max(now, deadline)
      client.handleTimeout(now: now)
    }
  }
  client.close(now: now)
}

private func signed(_ bytes: [UInt8], _ credential: inout LongTermCredential) -> [UInt8] {
  guard let message = try? Message(bytes.span.bytes) else { return bytes }
  _ = credential.learn(from: message)
  var builder = MessageBuilder(message.messageClass, to: message)
  for type: AttributeType in [.errorCode, .lifetime, .xorRelayedAddress, .xorMappedAddress, .alternateServer, .alternateDomain] {
    if let value = message.attribute(type) { builder.append(type, span: value) }
  }
  credential.sign(&builder)
  return builder.bytes
}
