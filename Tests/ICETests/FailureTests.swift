import Base
import Testing

@testable import ICE

@Suite struct FailureTests {
  func connected(_ network: VirtualNetwork = VirtualNetwork(), twoPaths: Bool = false) -> Call {
    let call = Call(network)
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    if twoPaths {
      call.a.addSocket("198.51.100.1:5000")
      call.b.addSocket("198.51.100.2:5000")
      network.isBlocked = { source, destination in (source.ip.low >> 8) != (destination.ip.low >> 8) }
    }
    call.start()
    network.run(for: .seconds(5 as Int64)) { call.isCompleted }
    return call
  }

  @Test func `a peer that stays silent ends in failed after 15 s`() {
    let call = Call(VirtualNetwork())
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    let start = call.network.now
    call.start()
    call.b.isDead = true
    call.network.run(for: .seconds(14 as Int64))
    #expect(call.a.agent.connectionState == .checking)
    #expect(call.network.run(for: .seconds(3 as Int64)) { call.a.agent.connectionState == .failed })
    #expect(call.network.now - start < .seconds(16 as Int64))
    #expect(call.a.states == [.checking, .failed])
  }

  @Test func `a peer that never gives a candidate ends in failed after 20 s, and a late candidate revives the agent`() {
    let call = Call(VirtualNetwork())
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    (call.a.partner, call.b.partner) = (nil, nil)
    call.start()
    #expect(
      call.network.run(for: .seconds(21 as Int64)) { call.a.agent.connectionState == .failed && call.b.agent.connectionState == .failed })
    let candidate = call.b.candidates[0]
    call.a.act { $0.addRemoteCandidate(candidate, now: $1) }
    #expect(call.network.run(for: .seconds(1 as Int64)) { call.isConnected })
  }

  @Test func `silence is told after 5 s, and consent ends after 30`() {
    let call = connected()
    call.network.run(for: .seconds(60 as Int64))
    #expect(call.isCompleted)
    let cut = call.network.now
    call.network.isBlocked = { _, _ in true }
    #expect(call.network.run(for: .seconds(10 as Int64)) { call.a.agent.connectionState == .disconnected })
    #expect(call.network.now - cut <= .milliseconds(5_600))
    #expect(call.a.route(byteCount: 1) != nil)
    #expect(call.network.run(for: .seconds(40 as Int64)) { call.a.agent.connectionState == .failed })
    #expect(call.network.now - cut <= .seconds(31 as Int64))
    #expect(call.a.route(byteCount: 1) == nil, "RFC 7675: nothing is sent without consent")
    let sent = call.network.datagramCount
    call.b.isDead = true
    call.network.run(for: .seconds(60 as Int64))
    #expect(call.network.datagramCount == sent)
  }

  @Test func `a pause of 20 s is survived`() {
    let call = connected()
    call.network.isBlocked = { _, _ in true }
    call.network.run(for: .seconds(20 as Int64))
    #expect(call.a.agent.connectionState == .disconnected)
    call.network.isBlocked = { _, _ in false }
    #expect(call.network.run(for: .seconds(2 as Int64)) { call.isCompleted })
    #expect(call.carriesData())
  }

  @Test func `media alone does not stand for consent`() {
    let call = connected()
    // Everything of b arrives but its answers.
    call.network.isBlocked = { source, _ in source.ip == IPAddress("192.0.2.1")! }
    var failed = false
    for _ in 0..<400 {
      if failed { break }
      _ = call.b.send([0x80, 1])
      failed = call.network.run(for: .milliseconds(100)) { call.a.agent.connectionState == .failed }
    }
    #expect(failed)
    #expect(!call.a.states.contains(.disconnected), "data did come in")
  }

  @Test func `when the selected path dies, the other one takes over within 6 s`() {
    let call = connected(twoPaths: true)
    #expect(call.isCompleted)
    let dead = call.a.agent.pairs.first(where: \.isSelected)!.remote.address.ip
    let cut = call.network.now
    call.network.isBlocked = { source, destination in
      (source.ip.low >> 8) != (destination.ip.low >> 8) || source.ip.low >> 8 == dead.low >> 8
    }
    #expect(
      call.network.run(for: .seconds(10 as Int64)) {
        [call.a, call.b].allSatisfy { peer in
          peer.agent.pairs.first(where: \.isSelected).map { $0.remote.address.ip.low >> 8 != dead.low >> 8 } ?? false
        }
      })
    #expect(call.network.now - cut <= .seconds(6 as Int64))
    #expect(call.carriesData())
    #expect(!call.a.states.contains(.failed))
  }

  @Test func `a socket that is taken away loses its pairs, and a new one comes in without a restart`() {
    let call = connected()
    call.a.removeSocket(SocketIdentifier(rawValue: 0))
    #expect(call.a.route(byteCount: 1) == nil)
    #expect(call.a.agent.connectionState == .disconnected)
    #expect(call.a.agent.localCandidates.filter { $0.transport == .udp }.isEmpty)
    call.a.addSocket("192.0.2.77:6000")
    let isMoved = call.network.run(for: .milliseconds(50)) {
      call.isConnected && call.b.agent.pairs.first(where: \.isSelected)?.remote.address == SocketAddress("192.0.2.77:6000")
    }
    #expect(isMoved && call.carriesData())
    #expect(call.a.agent.pairs.first(where: \.isSelected)?.local.address == SocketAddress("192.0.2.77:6000"))
  }

  @Test func `nothing happens after close`() {
    let call = connected()
    call.a.act { $0.close(now: $1) }
    #expect(call.a.states.last == .closed && call.a.agent.deadline == nil)
    #expect(call.a.route(byteCount: 1) == nil)
    let sent = call.network.datagramCount
    call.b.isDead = true
    call.a.act { $0.setRemoteParameters(Parameters(usernameFragment: "x", password: "y"), now: $1) }
    call.a.act { $0.gather(now: $1) }
    call.network.run(for: .seconds(10 as Int64))
    #expect(call.network.datagramCount == sent)
  }
}
