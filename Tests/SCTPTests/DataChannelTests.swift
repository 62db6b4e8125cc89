import Base
import Bytes
import Testing

@testable import SCTP

/// What the users of data channels notice.
@Suite struct DataChannelTests {
  static let conditions: [LinkConditions] = [
    LinkConditions(),
    LinkConditions(loss: 0.02, duplication: 0.02, reordering: 0.1),
    LinkConditions(loss: 0.1, duplication: 0.05, reordering: 0.2, delay: .milliseconds(30)),
  ]

  @Test(arguments: [0, 1, 2]) func orderedMessagesArriveOnceAndInOrder(_ index: Int) throws {
    let link = VirtualLink.connected(Self.conditions[index], seed: UInt64(index) + 1)
    let channel = try link.openChannel()
    let sent = (0..<300).map { pattern(1 + ($0 * 37) % 3_000, seed: UInt64($0)) }
    for message in sent { try link.sendFromA(message, on: channel.a) }
    let back = (0..<50).map { pattern(1 + ($0 * 97) % 4_000, seed: 500 + UInt64($0)) }
    for message in back { try link.sendFromB(message, isText: true, on: channel.b) }
    #expect(link.run { link.messagesAtB >= 300 && link.messagesAtA >= 50 })
    link.run(.milliseconds(5_000))
    #expect(link.eventsB.messages.map(\.bytes) == sent)
    #expect(link.eventsA.messages.map(\.bytes) == back)
    #expect(link.eventsA.messages.allSatisfy(\.isText) && link.eventsB.messages.allSatisfy { !$0.isText })
    #expect(link.a.outstanding.count == 0 && link.a.outstanding.bytesInFlight == 0 && link.a.messages.count == 0)
    #expect(link.a.statistics(of: channel.a)?.messagesSent == 300)
    #expect(link.b.statistics(of: channel.b)?.bytesReceived == sent.map(\.count).reduce(0, +))
  }

  @Test(arguments: [0, 1, 2]) func unorderedMessagesAllArrive(_ index: Int) throws {
    let link = VirtualLink.connected(Self.conditions[index], seed: UInt64(index) + 10)
    var options = ChannelOptions()
    options.isOrdered = false
    let channel = try link.openChannel(options)
    link.run(.milliseconds(3_000))
    let sent = (0..<300).map { networkOrder(UInt32($0)) + pattern(($0 * 37) % 3_000, seed: UInt64($0)) }
    for message in sent { try link.sendFromA(message, on: channel.a) }
    #expect(link.run { link.messagesAtB >= 300 })
    link.run(.milliseconds(5_000))
    let received = link.eventsB.messages.map(\.bytes)
    #expect(received.count == 300 && Set(received) == Set(sent))
    if index > 0 { #expect(received != sent, "loss does not hold up later messages") }
  }

  @Test func aLostMessageHoldsUpItsOwnChannelAlone() throws {
    let link = VirtualLink.connected()
    let (first, second) = (try link.openChannel(), try link.openChannel())
    link.run(.milliseconds(1_000))
    var isDropped = false
    link.drop = { packet in
      guard packet.isToB, !isDropped else { return false }
      isDropped = true
      return true
    }
    try link.sendFromA([1], on: first.a)
    link.flush()
    try link.sendFromA([2], on: second.a)
    #expect(link.run { link.messagesAtB == 2 })
    #expect(link.eventsB.messages.map(\.bytes) == [[2], [1]])
  }

  @Test func emptyMessagesAndTextArriveAsSuch() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    try link.sendFromA([], isText: true, on: channel.a)
    try link.sendFromA([], on: channel.a)
    try link.sendFromA(Array("héllo".utf8), isText: true, on: channel.a)
    #expect(link.run { link.messagesAtB == 3 })
    #expect(link.eventsB.messages.map(\.bytes) == [[], [], Array("héllo".utf8)])
    #expect(link.eventsB.messages.map(\.isText) == [true, false, true])
  }

  @Test func theOfferedChannelIsAsItWasOpened() throws {
    let link = VirtualLink()
    var expected: [ChannelOptions] = []
    for (index, isOrdered) in [true, false].enumerated() {
      for reliability in 0..<3 {
        var options = ChannelOptions()
        options.label = "Kanal \(index) ✓"
        options.protocolName = "p\(reliability)"
        options.isOrdered = isOrdered
        options.priority = 512
        if reliability == 1 { options.maxRetransmits = 0 }
        if reliability == 2 { options.maxPacketLifeTime = 65_535 }
        expected.append(options)
        _ = try link.a.open(options)
      }
    }
    let even = try link.b.open(ChannelOptions())
    #expect(link.a.streamIdentifier(of: ChannelIdentifier(rawValue: 1)) == nil)
    link.a.start(now: link.now)
    link.b.start(now: link.now)
    #expect(link.run { link.eventsB.offers.count == 6 && link.eventsA.offers.count == 1 })
    #expect(link.eventsB.offers.map(\.options) == expected)
    #expect(link.eventsB.offers.map(\.stream) == [0, 2, 4, 6, 8, 10])
    #expect(link.b.streamIdentifier(of: even) == 1)
  }

  @Test func negotiatedChannelsNeedNoAnnouncement() throws {
    let link = VirtualLink()
    var options = ChannelOptions()
    options.negotiatedIdentifier = 7
    let (a, b) = (try link.a.open(options), try link.b.open(options))
    #expect(throws: ChannelError.identifierInUse(7)) { try link.a.open(options) }
    link.a.start(now: link.now)
    link.b.start(now: link.now)
    link.run { link.a.state == .connected && link.b.state == .connected }
    try link.sendFromA([1], on: a)
    try link.sendFromB([2], on: b)
    #expect(link.run { link.messagesAtA == 1 && link.messagesAtB == 1 })
    #expect(link.eventsA.offers.isEmpty && link.eventsB.offers.isEmpty)
    options.negotiatedIdentifier = 65_535
    #expect(throws: ChannelError.invalidIdentifier(65_535)) { try link.a.open(options) }
  }

  @Test func largeMessagesArriveWhole() throws {
    var configuration = Association.Configuration()
    configuration.maximumMessageSize = 1 << 20
    let conditions = LinkConditions(loss: 0.01, reordering: 0.05, delay: .milliseconds(5))
    let link = VirtualLink.connected(conditions, seed: 4, a: configuration, b: configuration)
    let channel = try link.openChannel()
    let sent = (0..<4).map { pattern(1 << 20, seed: UInt64($0)) }
    for message in sent { try link.sendFromA(message, on: channel.a) }
    #expect(link.a.bufferedAmount(of: channel.a) == 4 << 20)
    #expect(link.run { link.messagesAtB == 4 })
    #expect(link.eventsB.messages.map(\.bytes) == sent)
    #expect(link.a.bufferedAmount(of: channel.a) == 0)
  }

  @Test func whatIsTooLargeIsRefused() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    let message = [UInt8](repeating: 0, count: 262_145)
    #expect(throws: ChannelError.messageTooLarge(maximum: 262_144)) {
      try link.sendFromA(message, on: channel.a)
    }
    link.a.setRemoteMaximumMessageSize(0)
    try link.sendFromA(message, on: channel.a)
    #expect(link.run { link.eventsA.closedChannels == [channel.a] && link.eventsB.closedChannels == [channel.b] })
    #expect(link.b.counters["sctp.messageTooLarge"] == 1 && link.eventsB.messages.isEmpty)
    #expect(link.a.state == .connected)
  }

  @Test func bufferedAmountFallsAsDataLeaves() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.a.setBufferedAmountLowThreshold(50_000, of: channel.a)
    for _ in 0..<4 { try link.sendFromA(pattern(50_000, seed: 1), on: channel.a) }
    #expect(link.a.bufferedAmount(of: channel.a) == 200_000)
    #expect(link.run { link.messagesAtB == 4 })
    let low = link.eventsA.count { if case .bufferedAmountLow(channel.a) = $0 { true } else { false } }
    #expect(low == 1)
  }

  @Test func theBufferHasAnEnd() throws {
    var configuration = Association.Configuration()
    configuration.maximumBufferedAmount = 100_000
    let link = VirtualLink.connected(a: configuration)
    let channel = try link.openChannel()
    let message = [UInt8](repeating: 1, count: 60_000)
    try link.sendFromA(message, on: channel.a)
    #expect(throws: ChannelError.bufferFull(maximum: 100_000)) {
      try link.sendFromA(message, on: channel.a)
    }
  }

  @Test func priorityDecidesWhoSendsMore() throws {
    let link = VirtualLink.connected(LinkConditions(rate: 1_000_000))
    var options = ChannelOptions()
    options.priority = 128
    let low = try link.openChannel(options)
    options.priority = 1_024
    let high = try link.openChannel(options)
    let message = [UInt8](repeating: 1, count: 5_000)
    for _ in 0..<200 {
      try link.sendFromA(message, on: low.a)
      try link.sendFromA(message, on: high.a)
    }
    link.run { link.eventsB.messages.count { $0.channel == high.b } == 180 }
    let count = link.eventsB.messages.count { $0.channel == low.b }
    #expect((10...45).contains(count), "an eighth of the other's share, and what left before it: \(count)")
  }

  @Test func interleavingLetsSmallMessagesPassLargeOnes() throws {
    var configuration = Association.Configuration()
    configuration.offersInterleaving = true
    let conditions = LinkConditions(loss: 0.02, reordering: 0.1)
    let link = VirtualLink.connected(conditions, seed: 8, a: configuration, b: configuration)
    let large = try link.openChannel()
    var options = ChannelOptions()
    options.isOrdered = false
    let small = try link.openChannel(options)
    link.run(.milliseconds(1_000))
    let message = pattern(250_000, seed: 2)
    try link.sendFromA(message, on: large.a)
    for index in 0..<20 { try link.sendFromA([UInt8(index)], on: small.a) }
    try link.sendFromA(message, on: small.a)
    #expect(link.run { link.messagesAtB == 22 })
    let order = link.eventsB.messages
    #expect(order.prefix(20).allSatisfy { $0.channel == small.b })
    #expect(order.suffix(2).allSatisfy { $0.bytes == message })
  }
}
