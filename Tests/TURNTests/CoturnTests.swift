import Base
import Foundation
import STUN
import Testing

@testable import TURN

/// Against coturn as Debian packages it, over real sockets on loopback.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/turnserver"), "coturn is not installed"))
struct CoturnTests {
  @Test func `coturn relays between a client on UDP and one on TCP, and takes the allocations back`() throws {
    let port = try freePort()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("parlor-coturn-\(port)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let server = Process()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/turnserver")
    server.currentDirectoryURL = folder
    server.arguments = [
      "-n", "--no-cli", "--listening-ip=127.0.0.1", "--relay-ip=127.0.0.1", "--listening-port=\(port)", "--allow-loopback-peers",
      "--lt-cred-mech", "--user=user:secret", "--realm=example.org", "--no-tls", "--no-dtls", "--log-file=stdout", "--simple-log",
      "--pidfile=\(folder.path)/pid", "--userdb=\(folder.path)/db",
    ]
    (server.standardOutput, server.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try server.run()
    defer {
      kill(server.processIdentifier, SIGKILL)  // It does not end on SIGTERM while there are allocations.
      server.waitUntilExit()
      try? FileManager.default.removeItem(at: folder)
    }

    // Retransmissions bridge the time until the server is up, so UDP goes first.
    var a = try Wire(port: port, transport: .datagram)
    defer { a.close() }
    try a.run { $0.client.state == .allocated }
    var b = try Wire(port: port, transport: .stream)
    defer { b.close() }
    try b.run { $0.client.state == .allocated }
    let (addressA, addressB) = (try #require(a.client.relayedAddresses.first), try #require(b.client.relayedAddresses.first))
    #expect(a.client.mappedAddress?.ip == .loopback4)

    a.client.permit(addressB.ip, now: a.now)
    b.client.permit(addressA.ip, now: b.now)
    try a.run { $0.client.isPermitted(addressB.ip) }
    try b.run { $0.client.isPermitted(addressA.ip) }
    let first: [UInt8] = Array("by indication".utf8)
    a.client.send(first.span.bytes, to: addressB)
    try a.run { _ in true }
    try b.run { $0.received == [first] }

    a.client.bindChannel(addressB, now: a.now)
    b.client.bindChannel(addressA, now: b.now)
    try a.run { $0.client.channel(to: addressB) != nil }
    try b.run { $0.client.channel(to: addressA) != nil }
    let (second, third): ([UInt8], [UInt8]) = (Array("channel".utf8), Array("other way".utf8))
    a.client.send(second.span.bytes, to: addressB)
    try a.run { _ in true }
    try b.run { $0.received == [first, second] }
    b.client.send(third.span.bytes, to: addressA)
    try b.run { _ in true }
    try a.run { $0.received == [third] }

    // Asked for both families, a server that relays IPv4 only gives that.
    var c = try Wire(port: port, transport: .datagram, families: [.v4, .v6])
    defer { c.close() }
    try c.run { $0.client.state != .allocating }
    #expect(c.client.relayedAddresses.map(\.ip) == [.loopback4])

    // After the allocation is given back the same socket may have another one.
    a.client.close(now: a.now)
    try a.run { _ in true }
    a.restart(password: "secret")
    try a.run { $0.client.state == .allocated }
    a.client.close(now: a.now)
    try a.run { _ in true }
    a.restart(password: "wrong")
    try a.run { $0.client.state == .failed }
    #expect(a.events.last == .failed(.refused(ErrorCode(401, "Unauthorized"))))
  }

  private func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutableBytes(of: &address) { bytes in
      let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      return bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
    }
    try #require(result)
    return UInt16(bigEndian: address.sin_port)
  }
}

private func loopback(port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}

/// A client on a blocking socket.
private struct Wire {
  struct Silence: Error {}

  var client: Client
  let transport: Client.Transport
  let descriptor: Int32
  var reassembler = StreamReassembler(.turn)
  var received: [[UInt8]] = []
  var events: [Client.Event] = []

  init(port: UInt16, transport: Client.Transport, families: [IPAddress.Family] = [.v4]) throws {
    self.transport = transport
    descriptor = socket(AF_INET, Int32(transport == .datagram ? SOCK_DGRAM.rawValue : SOCK_STREAM.rawValue), 0)
    client = Wire.makeClient(transport, "secret", families)
    var address = loopback(port: port)
    let isConnected = withUnsafeBytes(of: &address) { bytes in
      connect(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
    }
    try #require(isConnected)
    client.start(now: now)
  }

  private static func makeClient(_ transport: Client.Transport, _ password: String, _ families: [IPAddress.Family] = [.v4]) -> Client {
    var configuration = Client.Configuration(username: "user", password: password, transport: transport)
    configuration.addressFamilies = families
    return Client(configuration, random: Randomness(seed: nil))
  }

  mutating func restart(password: String) {
    client = Wire.makeClient(transport, password)
    client.start(now: now)
  }

  var now: Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Sends and receives until `condition` holds. A generous limit only keeps a broken run from hanging.
  mutating func run(until condition: (Wire) -> Bool) throws {
    let end = now + .seconds(30 as Int64)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      while let bytes = client.pollTransmit() { _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
      while let event = client.pollEvent() { events.append(event) }
      if condition(self) { return }
      guard now < end else { throw Silence() }
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let wait = (client.deadline ?? end) - now
      poll(&entry, 1, Int32(clamping: max(0, wait.nanoseconds / 1_000_000 + 1)))
      if entry.revents != 0 {
        // While the server is not up yet, the kernel reports its refusal here.
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 { take(Array(buffer[..<count])) }
      }
      client.handleTimeout(now: now)
    }
  }

  private mutating func take(_ bytes: [UInt8]) {
    guard transport == .stream else { return handle(bytes) }
    reassembler.append(bytes.span.bytes)
    while let message = try? reassembler.next() { handle(message) }
  }

  private mutating func handle(_ message: [UInt8]) {
    if case .data(_, let offset, let count) = client.receive(message.span.bytes, now: now) {
      received.append(Array(message[offset..<offset + count]))
    }
  }

  func close() { _ = Foundation.close(descriptor) }
}
