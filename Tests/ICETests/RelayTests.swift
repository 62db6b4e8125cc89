import Base
import STUN
import Testing

@testable import ICE

@Suite struct RelayTests {
  let network = VirtualNetwork()

  func configuration(_ server: TURNServer, _ kind: Server.Kind, password: String = "secret") -> Agent.Configuration {
    var configuration = Agent.Configuration()
    configuration.servers = [
      Server(kind: kind, address: server.address, hostName: "turn.example.org", username: "user", password: password)
    ]
    configuration.relayOnly = true
    return configuration
  }

  @Test(arguments: [Server.Kind.turnUDP, .turnTCP, .turnTLS])
  func `relay only works over every transport, through an hour of refreshes`(kind: Server.Kind) throws {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    let call = Call(network, a: configuration(server, kind), b: configuration(server, kind))
    call.a.addSocket("10.0.0.5:5000", behind: NAT(.symmetric, publicIP: IPAddress("198.51.100.1")!))
    call.b.addSocket("10.0.0.6:5000", behind: NAT(.symmetric, publicIP: IPAddress("198.51.100.2")!))
    call.start()
    #expect(network.run(for: .seconds(5 as Int64)) { call.isCompleted && call.a.route(byteCount: 1) != nil })
    #expect(call.a.candidates.allSatisfy { $0.kind == .relayed && $0.relatedAddress == SocketAddress("0.0.0.0:0") })
    #expect(call.a.selections.last?.local.kind == .relayed)
    let route = try #require(call.a.route(byteCount: 5))
    #expect(route.prefixCount == 4 && route.paddingCount == (kind == .turnUDP ? 0 : 3))
    #expect(withUnsafeBytes(of: route.prefix) { Array($0.suffix(2)) } == [0, 5])
    if kind == .turnTLS { #expect(call.a.tlsNames == ["turn.example.org"]) }
    for hour in 0..<4 {
      #expect(call.carriesData(), "hour \(hour)")
      if hour == 1 { server.changeNonce() }
      network.run(for: .seconds(1_000 as Int64))
    }
    #expect(call.isCompleted)
    #expect(server.counts["channel.unknown"] == 0 && server.counts["channel.in"] > 0 && server.counts["channel.out"] > 0)
    call.a.act { $0.close(now: $1) }
    call.b.act { $0.close(now: $1) }
    network.run(for: .seconds(1 as Int64))
    #expect(server.allocations.isEmpty, "closing gives allocations back")
  }

  @Test func `a relay on one side reaches a host on the other`() {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    let call = Call(network, a: configuration(server, .turnUDP))
    call.a.addSocket("10.0.0.5:5000", behind: NAT(.symmetric, publicIP: IPAddress("198.51.100.1")!))
    call.b.addSocket("192.0.2.2:5000")
    call.start(signalling: .milliseconds(5))
    #expect(network.run(for: .seconds(5 as Int64)) { call.isConnected })
    network.run(for: .milliseconds(100))
    #expect(call.carriesData())
  }

  @Test func `the direct way is taken where there is one, with the relay as backup`() {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    var open = configuration(server, .turnUDP)
    open.relayOnly = false
    let call = Call(network, a: open, b: open)
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.start()
    #expect(network.run(for: .seconds(5 as Int64)) { call.isCompleted })
    #expect(call.a.selections.last?.local.kind == .host)
    network.isBlocked = { source, destination in
      let direct: Set<IPAddress> = [IPAddress("192.0.2.1")!, IPAddress("192.0.2.2")!]
      return direct.contains(source.ip) && direct.contains(destination.ip)
    }
    network.run(for: .seconds(8 as Int64))
    #expect(call.carriesData())
    #expect(!call.a.states.contains(.failed))
  }

  @Test func `an IPv6 relayed address comes with the IPv4 one`() {
    let server = TURNServer(network, at: "[2001:db8:ffff::1]:3478", relayIP6: "2001:db8:ffff::2")
    let call = Call(network, a: configuration(server, .turnUDP))
    call.a.addSocket("[2001:db8::1]:5000")
    call.b.addSocket("[2001:db8::2]:5000")
    call.start()
    #expect(network.run(for: .seconds(5 as Int64)) { call.isConnected })
    #expect(Set(call.a.candidates.map(\.address.ip.family)) == [.v4, .v6])
    network.run(for: .milliseconds(100))
    #expect(call.carriesData())
  }

  @Test func `wrong credentials are told with the server's code`() {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    let call = Call(network, a: configuration(server, .turnUDP, password: "wrong"))
    call.a.addSocket("192.0.2.1:5000")
    call.start()
    network.run(for: .seconds(1 as Int64))
    #expect(call.a.errors.map(\.code) == [401])
    #expect(call.a.errors.first?.url == "turn:turn.example.org:3478?transport=udp")
    #expect(call.a.gatheringStates == [.gathering, .complete])
  }

  @Test(arguments: [486, 508, 403])
  func `a refusal is told with the server's code`(code: Int) {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    server.refusal = ErrorCode(code, "No")
    let call = Call(network, a: configuration(server, .turnTCP))
    call.a.addSocket("192.0.2.1:5000")
    call.start()
    network.run(for: .seconds(1 as Int64))
    #expect(call.a.errors.map(\.code) == [code])
    #expect(call.a.agent.gatheringState == .complete)
  }

  @Test(arguments: [Server.Kind.stun, .turnUDP, .turnTCP])
  func `a server that does not answer holds gathering up for 10 s at most`(kind: Server.Kind) {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    server.isSilent = true
    var configuration = configuration(server, kind)
    configuration.relayOnly = false
    let call = Call(network, a: configuration)
    call.a.addSocket("192.0.2.1:5000")
    call.start()
    #expect(network.run(for: .seconds(11 as Int64)) { call.a.agent.gatheringState == .complete })
    #expect(call.a.errors.map(\.code) == [701])
  }

  @Test(arguments: [Server.Kind.turnUDP, .turnTLS])
  func `a redirection is followed`(kind: Server.Kind) {
    let first = TURNServer(network, at: "203.0.113.1:3478")
    let second = TURNServer(network, at: "203.0.113.2:3479", relayIP: "203.0.113.201")
    first.alternate = second.address
    let call = Call(network, a: configuration(first, kind))
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.start()
    #expect(network.run(for: .seconds(5 as Int64)) { call.isConnected })
    #expect(call.a.candidates.last?.address.ip == IPAddress("203.0.113.201"))
  }

  @Test func `a loop of redirections ends`() {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    let other = TURNServer(network, at: "203.0.113.2:3478", relayIP: "203.0.113.201")
    (server.alternate, other.alternate) = (other.address, server.address)
    let call = Call(network, a: configuration(server, .turnUDP))
    call.a.addSocket("192.0.2.1:5000")
    call.start()
    network.run(for: .seconds(2 as Int64))
    #expect(call.a.errors.map(\.code) == [300])
    #expect(call.a.agent.gatheringState == .complete)
  }

  @Test func `without channels data still goes in indications`() {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    server.givesChannels = false
    let call = Call(network, a: configuration(server, .turnUDP))
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.start()
    #expect(network.run(for: .seconds(5 as Int64)) { call.isCompleted })
    #expect(call.a.route(byteCount: 3) == nil)
    call.a.act { agent, now in
      let data: [UInt8] = [0x80, 1, 2]
      let isSent = agent.send(data.span.bytes, now: now)
      #expect(isSent)
    }
    #expect(call.b.send([0x81]))
    #expect(network.run(for: .seconds(1 as Int64)) { call.b.received == [[0x80, 1, 2]] && call.a.received == [[0x81]] })
  }

  @Test func `an allocation that the server lost takes its pairs with it`() {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    let call = Call(network, a: configuration(server, .turnUDP))
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.start()
    #expect(network.run(for: .seconds(5 as Int64)) { call.isCompleted })
    network.isBlocked = { source, destination in source == server.address || destination == server.address }
    network.run(for: .seconds(60 as Int64))
    #expect(call.a.agent.connectionState == .failed)
  }

  @Test func `servers that are resolved later still count`() {
    let server = TURNServer(network, at: "203.0.113.1:3478")
    var late = configuration(server, .turnUDP)
    let servers = late.servers
    (late.servers, late.expectsServers) = ([], true)
    let call = Call(network, a: late)
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.start()
    network.run(for: .seconds(3 as Int64))
    #expect(call.a.gatheringStates == [.gathering])
    call.a.act { $0.setServers(servers, now: $1) }
    #expect(network.run(for: .seconds(2 as Int64)) { call.isCompleted })
    #expect(call.a.gatheringStates == [.gathering, .complete])
  }

  @Test(arguments: 1...6)
  func `a lossy line to the server only delays`(seed: UInt64) {
    let network = VirtualNetwork(seed: seed)
    (network.loss, network.delay, network.jitter) = (0.2, .milliseconds(20), .milliseconds(20))
    let server = TURNServer(network, at: "203.0.113.1:3478")
    let call = Call(network, seed: seed, a: configuration(server, .turnUDP), b: configuration(server, .turnUDP))
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.start(signalling: .milliseconds(50))
    // Four losses in five cross a line that is shared by four hops.
    #expect(network.run(for: .seconds(12 as Int64)) { call.isConnected })
    network.run(for: .seconds(600 as Int64))
    #expect(!call.a.states.contains(.failed) && !call.b.states.contains(.failed))
  }
}
