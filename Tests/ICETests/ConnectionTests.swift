import Base
import Testing

@testable import ICE

@Suite struct ConnectionTests {
  @Test func `two hosts on one network connect within two round trips`() {
    let call = Call(VirtualNetwork())
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    let start = call.network.now
    call.start()
    #expect(call.network.run(for: .seconds(5 as Int64)) { call.isCompleted })
    for peer in [call.a, call.b] {
      #expect(peer.states == [.checking, .connected, .completed])
      #expect(peer.connectedAt.map { $0 - start <= .milliseconds(4) } == true)
    }
    #expect(call.a.selections.last?.remote.address == SocketAddress("192.0.2.2:5000"))
    #expect(call.carriesData())
    #expect(call.a.agent.pairs.contains { $0.nominated && $0.isSelected && $0.state == .succeeded })
    #expect(call.b.agent.pairs.contains { $0.nominated && $0.isSelected && $0.state == .succeeded })
  }

  @Test func `IPv6 is preferred where both sides have it`() {
    let call = Call(VirtualNetwork())
    for (peer, digit) in [(call.a, 1), (call.b, 2)] {
      peer.addSocket("192.0.2.\(digit):5000")
      peer.addSocket("[2001:db8::\(digit)]:5000")
    }
    call.start()
    #expect(call.network.run(for: .seconds(5 as Int64)) { call.isCompleted })
    #expect(call.a.agent.pairs.first(where: \.isSelected)?.remote.address == SocketAddress("[2001:db8::2]:5000"))
    #expect(call.b.agent.pairs.first(where: \.isSelected)?.remote.address == SocketAddress("[2001:db8::1]:5000"))
    #expect(call.carriesData())
  }

  @Test func `link-local addresses connect among themselves only`() {
    let call = Call(VirtualNetwork())
    call.a.addSocket("[fe80::1]:5000")
    call.a.addSocket("[2001:db8::1]:5000")
    call.b.addSocket("[fe80::2]:5000")
    call.start()
    #expect(call.network.run(for: .seconds(5 as Int64)) { call.isCompleted })
    #expect(call.a.agent.pairs.count == 1)
  }

  @Test(arguments: [NAT.Kind.fullCone, .portRestricted])
  func `two peers behind NATs connect by what STUN told them`(kind: NAT.Kind) {
    let network = VirtualNetwork()
    let server = TURNServer(network, at: "203.0.113.1:3478")
    var configuration = Agent.Configuration()
    configuration.servers = [Server(kind: .stun, address: server.address)]
    let call = Call(network, a: configuration, b: configuration)
    call.a.addSocket("10.0.0.5:5000", behind: NAT(kind, publicIP: IPAddress("198.51.100.1")!))
    call.b.addSocket("10.0.0.6:5000", behind: NAT(kind, publicIP: IPAddress("198.51.100.2")!))
    call.start(signalling: .milliseconds(10))
    #expect(network.run(for: .seconds(5 as Int64)) { call.isConnected })
    let reflexive = call.a.candidates.first { $0.kind == .serverReflexive }
    #expect(reflexive?.relatedAddress == SocketAddress("10.0.0.5:5000") && reflexive?.url?.hasPrefix("stun:") == true)
    #expect(call.a.selections.last?.remote.address.ip == IPAddress("198.51.100.2"))
    #expect(call.carriesData())
  }

  @Test func `a symmetric NAT on one side is met by a peer-reflexive candidate`() {
    let network = VirtualNetwork()
    let server = TURNServer(network, at: "203.0.113.1:3478")
    var configuration = Agent.Configuration()
    configuration.servers = [Server(kind: .stun, address: server.address)]
    let call = Call(network, a: configuration, b: configuration)
    call.a.addSocket("10.0.0.5:5000", behind: NAT(.symmetric, publicIP: IPAddress("198.51.100.1")!))
    call.b.addSocket("10.0.0.6:5000", behind: NAT(.fullCone, publicIP: IPAddress("198.51.100.2")!))
    call.start(signalling: .milliseconds(10))
    #expect(network.run(for: .seconds(5 as Int64)) { call.isConnected })
    #expect(call.b.selections.last?.remote.kind == .peerReflexive)
    #expect(call.a.selections.last?.local.kind == .peerReflexive)
    #expect(call.carriesData())
  }

  @Test func `checks that come before the answer are answered and remembered`() {
    let call = Call(VirtualNetwork())
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.a.partner = call.b
    call.b.partner = nil  // None of b's candidates arrives, and its credentials come late.
    let (first, second) = (call.a.agent.localParameters, call.b.agent.localParameters)
    call.a.act { $0.gather(now: $1) }
    call.b.act { $0.setRemoteParameters(first, now: $1) }
    call.b.act { $0.gather(now: $1) }
    #expect(call.network.run(for: .milliseconds(100)) { call.b.agent.connectionState == .connected })
    #expect(call.a.agent.connectionState == .new)
    #expect(call.b.send([0x16, 0xFE, 0xFD]))
    #expect(
      call.network.run(for: .milliseconds(100)) { call.a.received == [[0x16, 0xFE, 0xFD]] }, "DTLS may begin before the answer is here")
    let late = call.network.now
    call.a.act { $0.setRemoteParameters(second, now: $1) }
    #expect(call.network.run(for: .seconds(1 as Int64)) { call.isConnected })
    #expect(call.network.now - late <= .milliseconds(3))
    #expect(call.a.selections.last?.remote.kind == .peerReflexive)
    #expect(call.carriesData())
  }

  @Test func `another peer that answers in place of the first is connected to instead`() throws {
    let network = VirtualNetwork()
    let call = Call(network)
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.start()
    #expect(network.run(for: .seconds(1 as Int64)) { call.isCompleted })
    let lite = LitePeer(network, at: "192.0.2.9:7000")
    let candidate = try Candidate(parsing: "candidate:1 1 udp 2130706431 192.0.2.9 7000 typ host")
    call.a.act { $0.setRemoteParameters(lite.parameters, now: $1) }
    #expect(call.a.route(byteCount: 1) == nil)
    call.a.act { $0.addRemoteCandidate(candidate, now: $1) }
    #expect(network.run(for: .seconds(1 as Int64)) { call.a.agent.pairs.first(where: \.isSelected)?.remote.address == lite.address })
  }

  @Test func `a candidate that trickles in late is used at once`() {
    let call = Call(VirtualNetwork())
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.network.isBlocked = { source, destination in source.port != 5000 && destination.port != 5000 }
    (call.a.partner, call.b.partner) = (nil, nil)
    call.start()
    call.network.run(for: .seconds(9 as Int64))
    #expect(call.a.agent.connectionState == .checking && call.b.agent.connectionState == .checking)
    let candidate = call.b.candidates[0]
    call.a.act { $0.addRemoteCandidate(candidate, now: $1) }
    let added = call.network.now
    #expect(call.network.run(for: .seconds(1 as Int64)) { call.isConnected })
    #expect(call.network.now - added <= .milliseconds(4))
  }

  @Test(arguments: [true, false])
  func `a role conflict is settled and both still connect`(bothControlling: Bool) {
    let call = Call(VirtualNetwork(), bothControlling: true)
    if !bothControlling {
      call.a.agent.setControlling(false)
      call.b.agent.setControlling(false)
    }
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.start()
    #expect(call.network.run(for: .seconds(5 as Int64)) { call.isCompleted })
    #expect(call.a.agent.isControlling != call.b.agent.isControlling)
    #expect(call.carriesData())
  }

  @Test(arguments: 1...5)
  func `a line that loses every fifth packet and reorders the rest only delays`(seed: UInt64) {
    let network = VirtualNetwork(seed: seed)
    (network.loss, network.delay, network.jitter) = (0.2, .milliseconds(25), .milliseconds(30))
    let call = Call(network, seed: seed * 100)
    for (peer, digit) in [(call.a, 1), (call.b, 2)] {
      peer.addSocket("192.0.2.\(digit):5000")
      peer.addSocket("[2001:db8::\(digit)]:5000")
    }
    call.start(signalling: .milliseconds(50))
    #expect(network.run(for: .seconds(4 as Int64)) { call.isCompleted })
    // A long call on it must not fail.
    network.run(for: .seconds(900 as Int64))
    #expect(network.run(for: .seconds(10 as Int64)) { call.isCompleted })
    #expect(!call.a.states.contains(.failed) && !call.b.states.contains(.failed))
  }

  @Test func `a better pair that answers later takes over on both sides`() {
    let call = Call(VirtualNetwork())
    for (peer, digit) in [(call.a, 1), (call.b, 2)] {
      peer.addSocket("192.0.2.\(digit):5000")
      peer.addSocket("[2001:db8::\(digit)]:5000")
    }
    let opening = call.network.now + .milliseconds(600)
    call.network.isBlocked = { [network = call.network] source, _ in source.ip.family == .v6 && network.now < opening }
    call.start()
    #expect(call.network.run(for: .milliseconds(500)) { call.isConnected })
    #expect(call.a.agent.pairs.first(where: \.isSelected)?.remote.address.ip.family == .v4)
    #expect(call.network.run(for: .seconds(5 as Int64)) { call.isCompleted })
    for peer in [call.a, call.b] { #expect(peer.agent.pairs.first(where: \.isSelected)?.remote.address.ip.family == .v6) }
    #expect(call.carriesData())
  }

  @Test func `concealed addresses do not leave in any candidate`() throws {
    let network = VirtualNetwork()
    let server = TURNServer(network, at: "203.0.113.1:3478")
    var configuration = Agent.Configuration()
    configuration.servers = [Server(kind: .stun, address: server.address)]
    configuration.concealedNames = [IPAddress("10.0.0.5")!: "9b36eaac.local"]
    let call = Call(network, a: configuration)
    call.a.addSocket("10.0.0.5:5000", behind: NAT(.fullCone, publicIP: IPAddress("198.51.100.1")!))
    call.b.addSocket("192.0.2.2:5000")
    call.start()
    #expect(network.run(for: .seconds(5 as Int64)) { call.isConnected })
    for candidate in call.a.candidates + call.a.agent.localCandidates + call.a.agent.pairs.map(\.local) {
      #expect(!candidate.description.contains("10.0.0.5"), "\(candidate)")
    }
    let host = try #require(call.a.candidates.first { $0.kind == .host })
    #expect(host.hostName == "9b36eaac.local" && host.address.port == 5000)
    #expect(call.b.agent.counters["ice.candidate.unresolved"] > 0)
  }

  @Test func `a name that is resolved later makes the candidate usable`() {
    let call = Call(VirtualNetwork())
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    (call.a.partner, call.b.partner) = (nil, nil)
    call.start()
    call.network.run(for: .milliseconds(10))
    var candidate = call.b.candidates[0]
    candidate.hostName = "abc.local"
    let address = candidate.address
    candidate.address.ip = IPAddress(v4: 0)
    call.a.act { $0.addRemoteCandidate(candidate, now: $1) }
    #expect(call.a.agent.pairs.isEmpty)
    candidate.address = address
    call.a.act { $0.addRemoteCandidate(candidate, now: $1) }
    #expect(call.network.run(for: .seconds(1 as Int64)) { call.isConnected })
  }
}
