import Base
import Bytes
import DTLS

private let clientCertificate = try! Certificate.generate()
private let serverCertificate = try! Certificate.generate()

private func endpoint(_ role: Role) -> Endpoint {
  let (own, other) = role == .client ? (clientCertificate, serverCertificate) : (serverCertificate, clientCertificate)
  return try! Endpoint(role: role, certificate: own, remoteFingerprints: [other.fingerprint()])
}

private func drain(_ endpoint: inout Endpoint) { while endpoint.pollEvent() != nil {} }

/// The first byte chooses: 0 and 1 feed a server and a client with datagrams, each behind a length of two bytes. 2 lets two endpoints
/// connect while the input says what happens to each of their datagrams. 3 is the text of a fingerprint, 4 of a certificate.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> Int32 {
  guard size > 0 else { return 0 }
  let rest = [UInt8](UnsafeBufferPointer(start: data + 1, count: size - 1))
  switch data[0] % 5 {
  case 0: feed(.server, rest)
  case 1: feed(.client, rest)
  case 2: disturb(rest)
  case 3:
    if let fingerprint = try? Fingerprint(parsing: String(decoding: rest, as: UTF8.self)) {
      precondition((try? Fingerprint(parsing: fingerprint.description)) == fingerprint, "a fingerprint is read back")
    }
  default: _ = try? Certificate(pem: String(decoding: rest, as: UTF8.self))
  }
  return 0
}

private func feed(_ role: Role, _ input: [UInt8]) {
  var endpoint = endpoint(role)
  endpoint.start(now: .zero)
  let span = input.span
  var reader = ByteReader(span.bytes)
  var now = Instant.zero
  while let count = try? reader.uint16() {
    let length = min(Int(count), reader.remaining)
    guard let datagram = try? reader.span(length) else { break }
    endpoint.receive(datagram, now: now)
    drain(&endpoint)
    while endpoint.pollTransmit() != nil {}
    if count & 0x8000 != 0, let deadline = endpoint.deadline {
      now = max(now, deadline)
      endpoint.handleTimeout(now: now)
    }
  }
}

/// For each datagram that flies, three bytes of input: what to do, where, and with which bits.
private func disturb(_ input: [UInt8]) {
  var client = endpoint(.client)
  var server = endpoint(.server)
  var now = Instant.zero
  var position = 0
  var flying: [(toServer: Bool, bytes: [UInt8])] = []
  client.start(now: now)
  server.start(now: now)
  for _ in 0..<200 {
    while let bytes = client.pollTransmit() { flying.append((true, bytes)) }
    while let bytes = server.pollTransmit() { flying.append((false, bytes)) }
    drain(&client)
    drain(&server)
    guard position + 3 <= input.count else { break }
    let (action, place, bits) = (input[position], Int(input[position + 1]), input[position + 2])
    position += 3
    if flying.isEmpty {
      let message = [bits]
      let span = message.span
      try? client.send(span.bytes)
      try? server.send(span.bytes)
      if let deadline = client.deadline ?? server.deadline { now = max(now, deadline) }
      client.handleTimeout(now: now)
      server.handleTimeout(now: now)
      if action == 255 { client.close() }
      continue
    }
    var datagram = flying.remove(at: action & 0x80 != 0 ? flying.count - 1 : 0)
    switch action % 6 {
    case 0: continue
    case 1: datagram.bytes[place % datagram.bytes.count] ^= bits
    case 2: datagram.bytes.removeLast(min(place, datagram.bytes.count))
    case 3: flying.append(datagram)
    default: break
    }
    let span = datagram.bytes.span
    if datagram.toServer { server.receive(span.bytes, now: now) } else { client.receive(span.bytes, now: now) }
  }
}
