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
    do {
      let fingerprint = try Fingerprint(parsing: String(decoding: rest, as: UTF8.self))
      precondition((try? Fingerprint(parsing: fingerprint.description)) == fingerprint, "a fingerprint is read back")
      expect(fingerprint)
    } catch { precondition(!error.description.isEmpty, "an error says what is wrong") }
  default: _ = try? Certificate(pem: String(decoding: rest, as: UTF8.self))
  }
  return 0
}

/// An endpoint can wait for a peer with any fingerprint whose hash function it knows.
private func expect(_ fingerprint: Fingerprint) {
  do throws(DTLSError) {
    let endpoint = try Endpoint(role: .server, certificate: serverCertificate, remoteFingerprints: [fingerprint])
    precondition(fingerprint.hashFunction != nil && endpoint.state == .new, "only a known hash function can be checked")
  } catch {
    precondition(error == .noUsableFingerprint(algorithms: [fingerprint.algorithm]), "nothing else can be wrong")
  }
}

/// What statistics and the other side's description ask an endpoint for.
private func look(at endpoint: borrowing Endpoint) {
  precondition(endpoint.counters.values.values.allSatisfy { $0 >= 0 }, "counters count up")
  let other = endpoint.role == .client ? serverCertificate : clientCertificate
  guard endpoint.state == .connected else { return }
  precondition(endpoint.remoteCertificates.count == 1, "the peer has shown its certificate")
  precondition(endpoint.localCertificate.fingerprint() != other.fingerprint(), "each side has its own certificate")
  precondition(endpoint.cipher != nil && endpoint.tlsVersion == "FEFD" && endpoint.srtpProfile != nil, "both sides agreed on something")
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
  // Whoever made up these datagrams has no certificate: there is nobody to send to.
  let data: [UInt8] = [1]
  do throws(DTLSError) {
    try endpoint.send(data.span.bytes)
    preconditionFailure("nobody connects with made-up datagrams")
  } catch { precondition(error == .notConnected, "what is not connected says so") }
  look(at: endpoint)
  endpoint.close()
  endpoint.receive(data.span.bytes, now: now)
  precondition(endpoint.deadline == nil, "what has ended waits for nothing")
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
      // An empty message, one beyond the limit, or as many bytes as the place says.
      let message = [UInt8](repeating: bits, count: action == 254 ? 20_000 : place)
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
  look(at: client)
  look(at: server)
  client.close()
  server.close()
  precondition(client.deadline == nil && server.deadline == nil, "what has ended waits for nothing")
}
