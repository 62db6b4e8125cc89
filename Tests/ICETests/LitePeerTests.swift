import Base
import Testing

@testable import ICE

@Suite struct LitePeerTests {
  let network = VirtualNetwork()

  func agent(for lite: LitePeer, candidate: String, controlling: Bool = true) throws -> Peer {
    let peer = Peer(network, controlling: controlling, seed: 3)
    peer.addSocket("192.0.2.1:5000")
    peer.act { $0.gather(now: $1) }
    let candidate = try Candidate(parsing: candidate)
    peer.act { $0.setRemoteParameters(lite.parameters, now: $1) }
    peer.act { $0.addRemoteCandidate(candidate, now: $1) }
    peer.act { $0.endOfRemoteCandidates(now: $1) }
    return peer
  }

  @Test func `the agent takes control of a lite peer and nominates`() throws {
    let lite = LitePeer(network, at: "192.0.2.9:7000")
    let peer = try agent(for: lite, candidate: "candidate:1 1 udp 2130706431 192.0.2.9 7000 typ host", controlling: false)
    #expect(network.run(for: .seconds(1 as Int64)) { peer.agent.connectionState == .completed })
    #expect(peer.agent.isControlling && !lite.sawControlled)
    #expect(lite.nominations.contains(SocketAddress("192.0.2.1:5000")!))
    network.run(for: .seconds(600 as Int64))
    #expect(peer.agent.connectionState == .completed)
  }

  @Test func `a passive TCP candidate is connected to, and data goes in frames both ways`() throws {
    let lite = LitePeer(network, at: "192.0.2.9:7000")
    let peer = try agent(for: lite, candidate: "candidate:1 1 tcp 1671430143 192.0.2.9 7000 typ host tcptype passive")
    #expect(network.run(for: .seconds(1 as Int64)) { peer.agent.connectionState == .completed })
    #expect(peer.agent.pairs.first?.local.tcpType == .active)
    let route = try #require(peer.route(byteCount: 0x0102))
    #expect(route.prefixCount == 2 && withUnsafeBytes(of: route.prefix) { Array($0.prefix(2)) } == [1, 2])
    #expect(peer.send([0x80, 1, 2]))
    lite.sendOnStream([0x81, 4])
    lite.sendOnStream([0x82])
    #expect(network.run(for: .seconds(1 as Int64)) { peer.received.count == 2 && lite.received.count == 1 })
    #expect(peer.received == [[0x81, 4], [0x82]] && lite.received == [[0x80, 1, 2]])
  }

  @Test func `UDP is selected before TCP when both work`() throws {
    let lite = LitePeer(network, at: "192.0.2.9:7000")
    let peer = try agent(for: lite, candidate: "candidate:1 1 tcp 1671430143 192.0.2.9 7000 typ host tcptype passive")
    let udp = try Candidate(parsing: "candidate:2 1 udp 2130706431 192.0.2.9 7000 typ host")
    network.run(for: .milliseconds(500))
    peer.act { $0.addRemoteCandidate(udp, now: $1) }
    #expect(network.run(for: .seconds(1 as Int64)) { peer.agent.pairs.first(where: \.isSelected)?.remote.transport == .udp })
  }

  @Test func `a refused connection ends in failed, not in waiting`() throws {
    let lite = LitePeer(network, at: "192.0.2.9:7000")
    lite.acceptsStreams = false
    let peer = try agent(for: lite, candidate: "candidate:1 1 tcp 1671430143 192.0.2.9 7000 typ host tcptype passive")
    #expect(network.run(for: .seconds(16 as Int64)) { peer.agent.connectionState == .failed })
  }
}
