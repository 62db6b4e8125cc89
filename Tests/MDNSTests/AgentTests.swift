import Base
import Testing

@testable import MDNS

/// Agents on one link in virtual time, with a seeded loss of datagrams.
struct Link {
  var agents: [Agent]
  var now = Instant.zero
  var random: RandomSource
  var loss = 0.0
  var events: [[(Event, Instant)]]
  private(set) var sent: [(from: Int, Transmit, Instant)] = []

  init(_ configurations: [Agent.Configuration], seed: UInt64 = 1) {
    agents = configurations.map { Agent(configuration: $0) }
    events = configurations.map { _ in [] }
    random = RandomSource(seed: seed)
  }

  static func address(_ index: Int) -> SocketAddress { SocketAddress(IPAddress(v4: 0xC000_0200 + UInt32(index)), 5353) }

  mutating func run(until end: Instant) {
    while true {
      deliver()
      guard let next = agents.compactMap(\.deadline).min(), next <= end else { break }
      now = max(now, next)
      for index in agents.indices { agents[index].handleTimeout(now: now) }
    }
    now = end
  }

  private mutating func deliver() {
    var isMoving = true
    while isMoving {
      isMoving = false
      for index in agents.indices {
        while let transmit = agents[index].pollTransmit() {
          isMoving = true
          sent.append((index, transmit, now))
          for other in agents.indices where other != index {
            if case .unicast(let address) = transmit.destination, address != Link.address(other) { continue }
            if Double.random(in: 0..<1, using: &random) < loss { continue }
            agents[other].receive(transmit.bytes.span.bytes, from: Link.address(index), now: now)
          }
        }
        while let event = agents[index].pollEvent() { events[index].append((event, now)) }
      }
    }
  }

  func messages(from index: Int) -> [(Message, Destination, Instant)] {
    sent.filter { $0.from == index }.map { (try! Message(parsing: $0.1.bytes.span.bytes), $0.1.destination, $0.2) }
  }
}

@Suite struct AgentTests {
  let address = IPAddress("192.0.2.1")!
  var random = RandomSource(seed: 42)

  @Test mutating func aRandomNameIsResolvedByAnotherHost() {
    var link = Link([.init(), .init()])
    let name = link.agents[1].register(address, using: &random, now: link.now)
    #expect(name.utf8.count == 42 && name.dropFirst(14).first == "4" && "89ab".contains(name.dropFirst(19).first!))
    link.run(until: .zero + .seconds(10))
    #expect(link.messages(from: 1).map(\.2.nanoseconds) == [0, 1_000_000_000])  // announced twice, a second apart
    link.agents[0].resolve(name.uppercased(), now: link.now)
    link.run(until: .zero + .seconds(20))
    #expect(link.events[0].map(\.0) == [.resolved(name: name.uppercased(), addresses: [address])])
    #expect(link.messages(from: 0).count == 1)
  }

  @Test mutating func twoIPFamiliesAnswerEachWithItsRecord() {
    var link = Link([.init(), .init()])
    let six = IPAddress("fd00::1")!
    let name = link.agents[1].register(six, using: &random, now: link.now)
    link.run(until: .zero + .seconds(5))
    link.agents[0].resolve(name, now: link.now)
    link.run(until: .zero + .seconds(9))
    #expect(link.events[0].map(\.0) == [.resolved(name: name, addresses: [six])])
  }

  @Test(arguments: 0..<50) func lossIsMadeUpForByAskingAgain(seed: UInt64) {
    var random = RandomSource(seed: seed)
    var link = Link([.init(), .init()], seed: seed)
    link.loss = 0.3
    let name = link.agents[1].register(address, using: &random, now: link.now)
    link.run(until: .zero + .seconds(5))
    link.agents[0].resolve(name, timeout: .seconds(70), now: link.now)
    link.run(until: .zero + .seconds(80))
    #expect(link.events[0].map(\.0) == [.resolved(name: name, addresses: [address])])
  }

  @Test func aNameThatNobodyKnowsFailsAfterQuestionsFurtherAndFurtherApart() {
    var link = Link([.init(), .init()])
    link.agents[0].resolve("nobody.local", timeout: .seconds(10), now: link.now)
    link.run(until: .zero + .seconds(20))
    #expect(link.messages(from: 0).map(\.2.nanoseconds) == [0, 1, 3, 7].map { $0 * 1_000_000_000 })
    #expect(link.events[0].map(\.0) == [.failed(name: "nobody.local")])
    #expect(link.events[0].first?.1 == .zero + .seconds(10))
    #expect(link.agents[0].deadline == nil)
  }

  @Test func aTextThatIsNoNameFailsAtOnceAndACancelledLookUpIsSilent() {
    var agent = Agent()
    agent.resolve("a..local", now: .zero)
    #expect(agent.pollEvent() == .failed(name: "a..local"))
    agent.resolve("a.local", now: .zero)
    agent.cancel("A.local")
    #expect(agent.deadline == nil && agent.pollEvent() == nil)
  }

  @Test mutating func aUnicastQuestionIsAnsweredToTheAskerAlone() {
    var asking = Agent.Configuration()
    asking.asksForUnicast = true
    var link = Link([asking, .init(), .init()])
    let name = link.agents[1].register(address, using: &random, now: link.now)
    link.run(until: .zero + .seconds(5))
    link.agents[0].resolve(name, now: link.now)
    link.run(until: .zero + .seconds(6))
    #expect(link.messages(from: 1).last?.1 == .unicast(Link.address(0)))
    #expect(link.events[0].map(\.0) == [.resolved(name: name, addresses: [address])])
  }

  @Test mutating func answersToAllAreAtLeastASecondApart() {
    var agent = Agent()
    let name = agent.register(address, using: &random, now: .zero)
    agent.handleTimeout(now: .zero)
    agent.handleTimeout(now: .zero + .seconds(1))
    while agent.pollTransmit() != nil {}
    var question = Message(isResponse: false)
    question.questions = [.init(name: Name(name)!, type: Message.RecordType.any)]
    let bytes = question.encoded()
    var answered: [Int64] = []
    for tenth in Int64(11)...50 {
      agent.receive(bytes.span.bytes, from: Link.address(1), now: .zero + .milliseconds(tenth * 100))
      if agent.pollTransmit() != nil { answered.append(tenth) }
    }
    #expect(answered == [20, 30, 40, 50])
    #expect(agent.counters["mdns.limited"] == 36)
  }

  @Test mutating func aPlainDNSClientGetsItsIdentifierAndQuestionBack() throws {
    var agent = Agent()
    let name = agent.register(address, using: &random, now: .zero)
    var question = Message(isResponse: false)
    question.identifier = 99
    question.questions = [.init(name: Name(name)!, type: Message.RecordType.a)]
    let bytes = question.encoded()
    let client = SocketAddress("192.0.2.50:40000")!
    agent.receive(bytes.span.bytes, from: client, now: .zero)
    let polled = agent.pollTransmit()
    let transmit = try #require(polled)
    let reply = try Message(parsing: transmit.bytes.span.bytes)
    #expect(transmit.destination == .unicast(client))
    #expect(reply.identifier == 99 && reply.questions.count == 1)
    #expect(reply.answers.map(\.timeToLive) == [10] && !reply.answers[0].flushesCache)
  }

  @Test mutating func anAnswerKnownToTheAskerIsNotRepeated() {
    var agent = Agent()
    let name = Name(agent.register(address, using: &random, now: .zero))!
    var question = Message(isResponse: false)
    question.questions = [.init(name: name, type: Message.RecordType.a)]
    for (timeToLive, isAnswered) in [(UInt32(100), false), (30, true)] {
      question.answers = [.init(name: name, type: Message.RecordType.a, flushesCache: false, timeToLive: timeToLive, data: address.bytes)]
      let bytes = question.encoded()
      agent.receive(bytes.span.bytes, from: Link.address(1), now: .zero)
      #expect((agent.pollTransmit() != nil) == isAnswered)
    }
  }

  @Test mutating func aNameTakenBackIsSaidSoAndIsNotAnsweredAnyMore() throws {
    var agent = Agent()
    let name = agent.register(address, using: &random, now: .zero)
    agent.unregister(name)
    let polled = agent.pollTransmit()
    let transmit = try #require(polled)
    #expect(try Message(parsing: transmit.bytes.span.bytes).answers.map(\.timeToLive) == [0])
    #expect(agent.deadline == nil)
    var question = Message(isResponse: false)
    question.questions = [.init(name: Name(name)!, type: Message.RecordType.a)]
    let bytes = question.encoded()
    agent.receive(bytes.span.bytes, from: Link.address(1), now: .zero)
    #expect(agent.pollTransmit() == nil)
  }

  @Test func whatIsNotMulticastDNSIsCountedAndIgnored() {
    var agent = Agent()
    agent.resolve("a.local", now: .zero)
    func receive(_ message: Message, from: SocketAddress, mangle: (inout [UInt8]) -> Void = { _ in }) {
      var bytes = message.encoded()
      mangle(&bytes)
      agent.receive(bytes.span.bytes, from: from, now: .zero)
    }
    var answer = Message(isResponse: true)
    answer.answers = [.init(name: Name("a.local")!, type: Message.RecordType.a, flushesCache: true, timeToLive: 120, data: [1, 2, 3, 4])]
    receive(answer, from: SocketAddress("192.0.2.1:5354")!)  // not from the port
    receive(answer, from: Link.address(1)) { $0[3] = 3 }  // an error code
    receive(answer, from: Link.address(1)) { $0.removeLast() }
    answer.answers[0].data = [1, 2, 3]
    receive(answer, from: Link.address(1))
    #expect(agent.pollEvent() == nil)
    #expect(agent.counters["mdns.ignored"] == 2 && agent.counters["mdns.malformed"] == 2)
    answer.answers[0].data = [192, 0, 2, 9]
    receive(answer, from: Link.address(1))
    #expect(agent.pollEvent() == .resolved(name: "a.local", addresses: [IPAddress("192.0.2.9")!]))
  }

  @Test func aLinkLocalAddressCarriesTheLinkItCameFrom() {
    var agent = Agent()
    agent.resolve("a.local", now: .zero)
    var answer = Message(isResponse: true)
    answer.answers = [
      .init(name: Name("a.local")!, type: Message.RecordType.aaaa, flushesCache: true, timeToLive: 120, data: IPAddress("fe80::1")!.bytes)
    ]
    let bytes = answer.encoded()
    agent.receive(bytes.span.bytes, from: SocketAddress(IPAddress(v6: 0xFE80 << 48, 2, scope: 4), 5353), now: .zero)
    #expect(agent.pollEvent() == .resolved(name: "a.local", addresses: [IPAddress(v6: 0xFE80 << 48, 1, scope: 4)]))
  }
}
