import Base
import STUN
import Testing

@testable import TURN

@Suite struct ClientTests {
  let peer = SocketAddress("192.0.2.9:7000")!

  func allocated(_ transport: Client.Transport = .datagram) -> Session {
    var session = Session(transport: transport)
    session.start()
    return session
  }

  @Test func `an allocation takes one challenge`() {
    let session = allocated()
    #expect(session.events == [.allocated])
    #expect(session.client.relayedAddresses == [session.server.relayed] && session.client.mappedAddress == session.server.mapped)
    #expect(session.server.requests == [.allocate: 2])
  }

  @Test func `a wrong password ends after one repetition`() {
    var session = Session(password: "wrong")
    session.start()
    #expect(session.events == [.failed(.refused(ErrorCode(401, "Wrong")))])
    #expect(session.server.requests == [.allocate: 2])
    #expect(session.client.state == .failed && session.client.deadline == nil)
  }

  @Test func `an answer that is not signed by the server is not believed`() {
    var session = Session()
    session.server.addsIntegrity = false
    session.start()
    #expect(session.events.isEmpty)
    #expect(session.client.counters["turn.integrity"] == 1)
    session.run(seconds: 11)
    #expect(session.events == [.failed(.timeout)])
  }

  @Test func `a server that is silent is asked six times and given up within 10 s`() {
    var session = Session()
    session.isCut = true
    session.start()
    session.run(seconds: 9)
    #expect(session.events.isEmpty)
    session.run(seconds: 1)
    #expect(session.events == [.failed(.timeout)])
  }

  @Test func `an answer without relayed address is a failure`() {
    var session = Session()
    session.server.givesRelay = false
    session.start()
    #expect(session.events == [.failed(.malformedResponse)])
  }

  @Test func `the allocation, permissions and channels are renewed for as long as it takes`() {
    var session = allocated()
    session.client.permit(peer.ip, now: session.now)
    session.client.bindChannel(peer, now: session.now)
    session.exchange()
    #expect(session.events == [.allocated, .permitted(peer.ip), .channelBound(peer)])
    session.run(seconds: 3_600)
    // Refresh each 540 s, permission each 240 s, channel each 540 s.
    #expect(session.server.requests == [.allocate: 2, .refresh: 6, .createPermission: 16, .channelBind: 7])
    #expect(session.sent.count == 180, "keep-alives for the NAT in front, each 20 s")
    #expect(session.events.count == 3)
  }

  @Test func `a stale nonce is learnt, by all requests that were under way`() {
    var session = allocated()
    session.server.nonce = "nonce-2"
    session.client.permit(peer.ip, now: session.now)
    session.client.bindChannel(peer, now: session.now)
    session.exchange()
    #expect(session.events == [.allocated, .permitted(peer.ip), .channelBound(peer)])
    #expect(session.server.requests[.createPermission] == 2 && session.server.requests[.channelBind] == 2)
  }

  @Test func `an allocation left over from an earlier life is released first`() {
    var session = Session()
    session.server.errors[.allocate] = ErrorCode(437, "Allocation Mismatch")
    session.start()
    #expect(session.events == [.allocated])
    #expect(session.server.requests == [.allocate: 3, .refresh: 1])
  }

  @Test func `a server that does not let go of an older allocation is given up`() {
    var session = Session()
    session.server.refusal = ErrorCode(437, "Allocation Mismatch")
    session.start()
    session.run(seconds: 2)
    #expect(session.events.isEmpty)
    session.run(seconds: 2)
    #expect(session.events == [.failed(.refused(ErrorCode(437, "Allocation Mismatch")))])
  }

  @Test func `an allocation that the server does not know any more is told as lost`() {
    var session = allocated()
    session.server.errors[.refresh] = ErrorCode(437, "Allocation Mismatch")
    session.run(seconds: 600)
    #expect(session.events.last == .failed(.refused(ErrorCode(437, "Allocation Mismatch"))))
  }

  @Test func `a refresh that is lost is repeated until the allocation ends`() {
    var session = allocated()
    session.run(seconds: 530)
    session.isCut = true
    session.run(seconds: 40)
    session.isCut = false
    session.run(seconds: 600)
    #expect(session.events == [.allocated])
    session.isCut = true
    session.run(seconds: 700)
    #expect(session.events.last == .failed(.timeout))
  }

  @Test func `a peer that is forbidden is told as refused`() {
    var session = allocated()
    session.server.errors[.createPermission] = ErrorCode(403, "Forbidden")
    session.client.permit(peer.ip, now: session.now)
    session.exchange()
    #expect(session.events.last == .refused(peer.ip, .refused(ErrorCode(403, "Forbidden"))))
    #expect(!session.client.isPermitted(peer.ip))
  }

  @Test func `data goes in indications until the channel is bound, then as ChannelData`() throws {
    var session = allocated()
    let data: [UInt8] = [1, 2, 3, 4, 5]
    session.client.send(data.span.bytes, to: peer)
    session.exchange()
    let indication = try #require(session.sent.last)
    let facts = try read(indication) { ($0.method, $0.xorAddress(.xorPeerAddress), $0.attribute(.data)?.byteCount) }
    #expect(facts.0 == .send && facts.1 == peer && facts.2 == 5)
    session.client.bindChannel(peer, now: session.now)
    session.exchange()
    session.client.send(data.span.bytes, to: peer)
    session.exchange()
    #expect(session.sent.last == [0x40, 0, 0, 5, 1, 2, 3, 4, 5])
  }

  @Test func `on a stream ChannelData is padded and nothing is repeated`() {
    var session = allocated(.stream)
    session.client.bindChannel(peer, now: session.now)
    session.exchange()
    let data: [UInt8] = [1, 2, 3, 4, 5]
    session.client.send(data.span.bytes, to: peer)
    session.exchange()
    #expect(session.sent.last == [0x40, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0])
    var silent = Session(transport: .stream)
    silent.isCut = true
    silent.client.start(now: .zero)
    let first = silent.client.pollTransmit()
    silent.now = .zero + .seconds(9 as Int64)
    silent.client.handleTimeout(now: silent.now)
    #expect(first != nil && silent.client.pollTransmit() == nil)
  }

  @Test func `data of a peer is found in the datagram`() throws {
    var session = allocated()
    session.client.bindChannel(peer, now: session.now)
    session.exchange()
    #expect(session.receive([0x40, 0, 0, 2, 7, 8, 0, 0]) == .data(from: peer, offset: 4, count: 2))
    #expect(session.receive([0x40, 1, 0, 2, 7, 8]) == .ignored, "no such channel")
    #expect(session.receive([0x40, 0, 0, 9, 7, 8]) == .ignored, "shorter than it says")
    var indication = MessageBuilder(.indication, .data, transactionID: TransactionID(high: 0, low: 0))
    indication.append(.xorPeerAddress, xorAddress: peer)
    indication.append(.data, bytes: [9, 9, 9])
    #expect(session.receive(indication.bytes) == .data(from: peer, offset: 36, count: 3))
    #expect(session.client.counters["turn.malformed"] == 1)
  }

  @Test func `a redirection names the server and its domain`() throws {
    var session = Session()
    session.client.start(now: .zero)
    let request = try #require(session.poll() as [UInt8]?)
    var response = try read(request) { MessageBuilder(.error, to: $0) }
    response.append(ErrorCode(300, "Try Alternate"))
    response.append(.alternateServer, address: peer)
    response.append(.alternateDomain, text: "other.example.org")
    #expect(session.receive(response.bytes) == .handled)
    session.exchange()
    #expect(session.events == [.redirected(to: peer, domain: "other.example.org")])
  }

  @Test func `both families are asked for in one request`() throws {
    for (families, attribute) in [([IPAddress.Family.v4, .v6], AttributeType.additionalAddressFamily), ([.v6], .requestedAddressFamily)] {
      var session = Session(families: families)
      session.client.start(now: .zero)
      let request = try #require(session.poll() as [UInt8]?)
      #expect(try read(request) { $0.uint32(attribute) } == 2 << 24)
    }
  }

  @Test func `closing gives the allocation back, with a stale nonce as well`() {
    var session = allocated()
    session.server.nonce = "nonce-2"
    session.client.close(now: session.now)
    session.exchange()
    #expect(session.server.requests[.refresh] == 2)
    #expect(session.client.state == .closed && session.client.deadline == nil)
  }

  @Test(arguments: 1...20)
  func `a lossy line to the server delays, no more`(seed: UInt64) {
    var session = Session()
    var random = RandomSource(seed: seed)
    session.client.start(now: .zero)
    session.client.handleTimeout(now: .zero)
    let end = Instant.zero + .seconds(3_600 as Int64)
    var isPermitted = false
    while session.now < end {
      while let bytes = session.client.pollTransmit() {
        guard Double.random(in: 0..<1, using: &random) >= 0.2, let answer = session.server.answer(bytes),
          Double.random(in: 0..<1, using: &random) >= 0.2
        else { continue }
        _ = session.client.receive(answer.span.bytes, now: session.now)
      }
      while let event = session.client.pollEvent() {
        session.events.append(event)
        if event == .allocated { session.client.permit(peer.ip, now: session.now) }
        isPermitted = isPermitted || event == .permitted(peer.ip)
      }
      guard let deadline = session.client.deadline else { break }
      session.now = max(session.now, deadline)
      session.client.handleTimeout(now: session.now)
    }
    #expect(isPermitted && session.client.isPermitted(peer.ip))
    #expect(session.events == [.allocated, .permitted(peer.ip)])
  }
}

/// What `body` says about the message in `bytes`. (The macros of Swift Testing take no value that cannot escape, such as `Message`.)
func read<T>(_ bytes: [UInt8], _ body: (borrowing Message) throws -> T) throws -> T { try body(try Message(bytes.span.bytes)) }
