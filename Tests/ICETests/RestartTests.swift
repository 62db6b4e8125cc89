import Base
import Testing

@testable import ICE

@Suite struct RestartTests {
  func connected(a: Agent.Configuration = Agent.Configuration(), network: VirtualNetwork = VirtualNetwork()) -> Call {
    let call = Call(network, a: a)
    call.a.addSocket("192.0.2.1:5000")
    call.b.addSocket("192.0.2.2:5000")
    call.start()
    network.run(for: .seconds(5 as Int64)) { call.isCompleted }
    return call
  }

  /// Both sides get new credentials, as an offer and an answer with a new fragment give them.
  func restart(_ call: Call, signalling: Interval) {
    (call.a.signallingDelay, call.b.signallingDelay) = (signalling, signalling)
    // The description goes out before the candidates.
    call.network.at(call.network.now + signalling) { [network = call.network, a = call.a, b = call.b] _ in
      let first = a.agent.localParameters
      network.at(network.now + signalling) { _ in
        let second = b.agent.localParameters
        a.act { $0.setRemoteParameters(second, now: $1) }
      }
      b.act { $0.restart(now: $1) }
      b.act { $0.setRemoteParameters(first, now: $1) }
    }
    call.a.act { $0.restart(now: $1) }
  }

  @Test func `data flows on the old pair until the new one is selected`() {
    let call = connected()
    let old = call.a.agent.localParameters
    let generation = call.a.selections.count
    restart(call, signalling: .milliseconds(300))
    #expect(call.a.agent.localParameters != old && call.a.agent.remoteParameters == nil)
    var count = 0
    while call.a.selections.count == generation, count < 100 {
      #expect(call.a.route(byteCount: 10) != nil && call.b.route(byteCount: 10) != nil)
      call.network.run(for: .milliseconds(20))
      count += 1
    }
    #expect(call.network.run(for: .seconds(2 as Int64)) { call.isCompleted })
    #expect(call.a.selections.count > generation && call.b.selections.count > generation)
    #expect(call.a.agent.remoteParameters == call.b.agent.localParameters)
    #expect(call.carriesData())
    #expect(!call.a.states.contains(.disconnected) && !call.b.states.contains(.disconnected))
    call.network.run(for: .seconds(120 as Int64))
    #expect(call.isCompleted)
  }

  @Test func `candidates are told anew under the new fragment`() {
    let call = connected()
    let before = call.a.candidates.count
    restart(call, signalling: .zero)
    call.network.run(for: .seconds(1 as Int64))
    let fresh = call.a.candidates.dropFirst(before)
    #expect(fresh.contains { $0.kind == .host && $0.transport == .udp })
    #expect(fresh.allSatisfy { $0.usernameFragment == call.a.agent.localParameters.usernameFragment })
    #expect(call.a.gatheringStates.suffix(2) == [.gathering, .complete])
  }

  @Test func `a failed connection is brought back`() {
    let call = connected()
    call.network.isBlocked = { _, _ in true }
    call.network.run(for: .seconds(40 as Int64))
    #expect(call.a.agent.connectionState == .failed)
    call.network.isBlocked = { _, _ in false }
    call.network.run(for: .seconds(5 as Int64))
    #expect(call.a.agent.connectionState == .failed, "consent that ran out needs a restart")
    restart(call, signalling: .milliseconds(20))
    #expect(call.network.run(for: .seconds(2 as Int64)) { call.isCompleted })
    #expect(call.carriesData())
  }

  @Test func `an unanswered restart keeps the call`() {
    let call = connected()
    call.a.act { $0.restart(now: $1) }
    call.network.run(for: .seconds(120 as Int64))
    #expect(call.carriesData())
    #expect(call.a.agent.connectionState == .connected)
  }

  @Test func `a relay is kept over a restart`() {
    let network = VirtualNetwork()
    let server = TURNServer(network, at: "203.0.113.1:3478")
    var configuration = Agent.Configuration()
    configuration.servers = [Server(kind: .turnUDP, address: server.address, username: "user", password: "secret")]
    configuration.relayOnly = true
    let call = connected(a: configuration, network: network)
    #expect(call.isCompleted)
    let relayed = call.a.candidates.last { $0.kind == .relayed }?.address
    restart(call, signalling: .milliseconds(20))
    network.run(for: .milliseconds(200))
    #expect(network.run(for: .seconds(3 as Int64)) { call.isCompleted && call.a.route(byteCount: 1) != nil })
    #expect(call.a.candidates.last { $0.kind == .relayed }?.address == relayed)
    #expect(call.carriesData())
    #expect(server.allocations.count == 1)
  }
}
