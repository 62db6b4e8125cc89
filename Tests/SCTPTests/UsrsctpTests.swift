import Base
import Bytes
import Testing

@testable import SCTP

/// Against usrsctp, the stack of Firefox and of many native clients.
@Suite(.serialized) struct UsrsctpTests {
  /// One of our associations, a usrsctp peer and a link between them that loses packets by a seed.
  private final class Pair {
    var association: Association
    let peer: UsrsctpPeer
    var now = Instant.zero
    var events: [Event] = []
    var loss = 0.0
    private var random = RandomSource(seed: 1)

    init(interleaves: Bool = false) {
      var configuration = Association.Configuration()
      configuration.offersInterleaving = interleaves
      association = Association(configuration: configuration, isDTLSClient: true, seed: 11)
      association.setRemoteMaximumMessageSize(1 << 20)
      peer = UsrsctpPeer(interleaves: interleaves)
    }

    /// Lets time pass until `condition` holds. Gives whether it held: not when a minute has passed and ten seconds on the machine's clock, which
    /// usrsctp looks at before it sends a chunk again.
    @discardableResult func run(until condition: () -> Bool) -> Bool {
      let (end, wallEnd) = (now + .milliseconds(60_000), ContinuousClock.now + .seconds(10))
      while !condition() {
        guard now < end || ContinuousClock.now < wallEnd else { return false }
        pass(milliseconds: 5)
      }
      return true
    }

    /// Lets time pass.
    func pass(milliseconds: Int) {
      for _ in 0..<milliseconds / 5 {
        now += .milliseconds(5)
        association.handleTimeout(now: now)
        peer.advance(milliseconds: 5)
        // Until neither has anything more to say at this time.
        var isQuiet = false
        while !isQuiet {
          isQuiet = true
          while let packet = association.pollTransmit(now: now) {
            isQuiet = false
            if Double.random(in: 0..<1, using: &random) >= loss { peer.receive(packet) }
          }
          for packet in peer.takePackets() {
            isQuiet = false
            if Double.random(in: 0..<1, using: &random) >= loss { association.receive(packet.span.bytes, now: now) }
          }
        }
        while let event = association.pollEvent() { events.append(event) }
      }
    }

    static func connected(interleaves: Bool = false) -> Pair {
      let pair = Pair(interleaves: interleaves)
      pair.association.start(now: pair.now)
      pair.peer.connect()
      pair.run { pair.association.state == .connected && pair.peer.isUp }
      return pair
    }

    func send(_ bytes: [UInt8], on channel: ChannelIdentifier) throws {
      try association.send(bytes.span.bytes, isText: false, on: channel, now: now)
    }

    /// A channel that usrsctp's side opens on `stream`.
    func acceptChannel(_ options: ChannelOptions, stream: UInt16) throws -> ChannelIdentifier {
      let (offers, answers) = (events.offers.count, peer.messages.count)
      #expect(peer.send(Establishment.open(options).encoded(), stream: stream, payloadProtocol: 50))
      #expect(run { events.offers.count > offers })
      #expect(run { peer.messages.count > answers })
      #expect(peer.messages.last == UsrsctpPeer.Message(stream: stream, payloadProtocol: 50, bytes: [2]))
      return try #require(events.offers.last).channel
    }
  }

  @Test(arguments: ["both", "we", "they"]) func whoeverStartsTheAssociationComesUp(_ starter: String) throws {
    let pair = Pair()
    if starter != "they" { pair.association.start(now: pair.now) }
    if starter != "we" { pair.peer.connect() }
    // usrsctp answers an INIT only where it listens or connects itself.
    if starter == "we" { pair.peer.connect() }
    #expect(pair.run { pair.association.state == .connected && pair.peer.isUp })
    #expect(pair.association.counters.values.isEmpty, "\(pair.association.counters.values)")
  }

  @Test(arguments: [0, 0.02, 0.05], [false, true]) func messagesOfAllSizesArriveBothWays(loss: Double, interleaves: Bool) throws {
    let pair = Pair.connected(interleaves: interleaves)
    #expect(pair.association.extensions.contains(.interleaving) == interleaves)
    let channel = try pair.acceptChannel(ChannelOptions(), stream: 1)
    let mine = try pair.association.open(ChannelOptions())
    #expect(pair.run { pair.peer.messages.contains { $0.stream == 0 && $0.bytes.first == 3 } })
    let before = pair.peer.messages.count
    pair.loss = loss
    let sizes = [1, 100, 1_172, 1_173, 5_000, 65_536, 262_144, 3, 200_000]
    let sent = sizes.enumerated().map { pattern($1, seed: UInt64($0)) }
    for message in sent {
      try pair.send(message, on: channel)
      try pair.send(message, on: mine)
      #expect(pair.peer.send(message, stream: 1, payloadProtocol: 53))
    }
    #expect(pair.run { pair.peer.messages.count == before + 2 * sizes.count && pair.events.messages.count == sizes.count })
    // Equality first, so that a failure does not print the messages.
    let isEqual = pair.events.messages.map(\.bytes) == sent
    #expect(isEqual)
    for stream in [0, 1] as [UInt16] {
      let isEqual = pair.peer.messages[before...].filter { $0.stream == stream }.map(\.bytes) == sent
      #expect(isEqual, "stream \(stream)")
    }
    #expect(pair.association.state == .connected)
  }

  @Test func aMessageOfAMegabyteArrives() throws {
    let pair = Pair.connected()
    let channel = try pair.acceptChannel(ChannelOptions(), stream: 5)
    let message = pattern(1 << 20, seed: 3)
    try pair.send(message, on: channel)
    #expect(pair.run { pair.peer.messages.count == 2 })
    #expect(pair.peer.messages.last?.bytes == message)
  }

  @Test func theirCloseIsFollowedAndTheStreamServesAgain() throws {
    let pair = Pair.connected()
    for round in 1...3 {
      let channel = try pair.acceptChannel(ChannelOptions(), stream: 3)
      #expect(pair.peer.send([UInt8(round)], stream: 3, payloadProtocol: 53))
      #expect(pair.peer.reset(3))
      #expect(pair.run { pair.events.closedChannels.last == channel })
      #expect(pair.events.messages.last?.bytes == [UInt8(round)])
      #expect(pair.run { pair.peer.resetStreams.count == round })
    }
    #expect(pair.peer.resetStreams == [3, 3, 3])
  }

  @Test(arguments: [0, 0.1]) func ourCloseResetsTheStream(loss: Double) throws {
    let pair = Pair.connected()
    pair.loss = loss
    for round in 1...3 {
      let channel = try pair.association.open(ChannelOptions())
      let before = pair.peer.messages.count
      #expect(pair.run { pair.peer.messages.count > before })
      // Not before usrsctp knows that its reset of the stream was performed.
      #expect(pair.run { pair.peer.send([2], stream: 0, payloadProtocol: 50) })
      let message = pattern(30_000, seed: UInt64(round))
      try pair.send(message, on: channel)
      pair.association.close(channel, now: pair.now)
      #expect(pair.run { pair.peer.resetStreams.count >= round })
      #expect(pair.run { pair.peer.messages.last?.bytes == message })
      #expect(pair.peer.reset(0))
      #expect(pair.run { pair.events.closedChannels.last == channel })
      #expect(pair.association.streamIdentifier(of: channel) == nil)
    }
  }

  @Test func abandonedMessagesAreSkippedBothWays() throws {
    let pair = Pair.connected()
    var options = ChannelOptions()
    options.maxRetransmits = 0
    let channel = try pair.acceptChannel(options, stream: 1)
    pair.loss = 0.1
    for index in 0..<100 {
      let message = networkOrder(UInt32(index)) + pattern(2_000, seed: UInt64(index))
      try pair.send(message, on: channel)
      #expect(pair.peer.send(message, stream: 1, payloadProtocol: 53, maxRetransmits: 0))
      if index % 5 == 0 { pair.pass(milliseconds: 1_000) }
    }
    pair.loss = 0
    pair.pass(milliseconds: 20_000)
    let last: [UInt8] = [1, 2, 3]
    try pair.send(last, on: channel)
    #expect(pair.peer.send(last, stream: 1, payloadProtocol: 53))
    #expect(pair.run { pair.peer.messages.last?.bytes == last && pair.events.messages.last?.bytes == last })
    func numbers(_ messages: [[UInt8]]) -> [Int] { messages.filter { $0.count > 100 }.map { Int($0[2]) << 8 | Int($0[3]) } }
    let (there, here) = (numbers(pair.peer.messages.map(\.bytes)), numbers(pair.events.messages.map(\.bytes)))
    #expect((40...99).contains(there.count) && there == there.sorted(), "\(there.count)")
    #expect((40...99).contains(here.count) && here == here.sorted(), "\(here.count)")
    #expect(pair.association.reassembly.byteCount == 0)
  }

  @Test func theirOrderlyEndIsFollowed() throws {
    let pair = Pair.connected()
    let channel = try pair.acceptChannel(ChannelOptions(), stream: 1)
    let message = pattern(100_000, seed: 1)
    try pair.send(message, on: channel)
    pair.peer.shutdown()
    #expect(pair.run { pair.association.state == .closed && pair.peer.isGone })
    #expect(pair.peer.messages.last?.bytes == message)
    #expect(pair.events.closing == .some(nil))
  }

  @Test func ourOrderlyEndIsUnderstood() throws {
    let pair = Pair.connected()
    pair.association.shutdown(now: pair.now)
    #expect(pair.run { pair.association.state == .closed && pair.peer.isGone })
    #expect(pair.events.closing == .some(nil))
  }

  @Test func ourAbortIsUnderstood() throws {
    let pair = Pair.connected()
    pair.association.abort(now: pair.now)
    #expect(pair.run { pair.peer.isGone })
  }

  @Test func ourRestartIsUnderstood() throws {
    let pair = Pair.connected()
    pair.association = Association(isDTLSClient: true, seed: 77)
    pair.association.start(now: pair.now)
    #expect(pair.run { pair.association.state == .connected && pair.peer.restarts == 1 })
  }

  @Test func largerPacketsAreFound() throws {
    let pair = Pair.connected()
    #expect(pair.run { pair.association.statistics.mtu == 1_400 })
  }
}
