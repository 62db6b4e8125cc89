import Base
import Bytes
import Testing

@testable import SCTP

/// Closing of channels and the use of their streams for new ones (RFC 8831 section 6.7, RFC 6525).
@Suite struct StreamResetTests {
  @Test(arguments: [0, 0.05, 0.1]) func closingDeliversWhatIsQueuedAndFreesTheStream(loss: Double) throws {
    let link = VirtualLink.connected(LinkConditions(loss: loss, reordering: loss), seed: 30)
    for round in 0..<5 {
      let before = (a: link.eventsA.closedChannels.count, b: link.eventsB.closedChannels.count)
      let channel = try link.openChannel()
      #expect(link.a.streamIdentifier(of: channel.a) == 0)
      let message = pattern(50_000, seed: UInt64(round))
      try link.sendFromA(message, on: channel.a)
      link.a.close(channel.a, now: link.now)
      #expect(throws: ChannelError.notOpen) { try link.sendFromA([1], on: channel.a) }
      #expect(link.run { link.eventsA.closedChannels.count > before.a && link.eventsB.closedChannels.count > before.b })
      #expect(link.eventsB.messages.last?.bytes == message && link.messagesAtB == round + 1)
      #expect(link.eventsA.closedChannels.last == channel.a && link.eventsB.closedChannels.last == channel.b)
      #expect(throws: ChannelError.unknownChannel) { try link.sendFromA([1], on: channel.a) }
    }
    #expect(link.a.statistics.dataChannelsClosed == 5 && link.b.statistics.dataChannelsOpened == 5)
  }

  @Test func theOtherEndMayCloseAsWell() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.b.close(channel.b, now: link.now)
    #expect(link.run { link.eventsA.closedChannels == [channel.a] && link.eventsB.closedChannels == [channel.b] })
    let again = try link.openChannel()
    #expect(link.a.streamIdentifier(of: again.a) == 0)
  }

  @Test func bothEndsMayCloseAtOnce() throws {
    let link = VirtualLink.connected(LinkConditions(loss: 0.1), seed: 31)
    let channel = try link.openChannel()
    link.a.close(channel.a, now: link.now)
    link.b.close(channel.b, now: link.now)
    #expect(link.run { link.eventsA.closedChannels == [channel.a] && link.eventsB.closedChannels == [channel.b] })
  }

  @Test func manyChannelsCloseTogether() throws {
    let link = VirtualLink.connected(LinkConditions(loss: 0.02), seed: 32)
    let channels = try (0..<300).map { _ in try link.a.open(ChannelOptions()) }
    #expect(link.run { link.eventsB.offers.count == 300 })
    for channel in channels { link.a.close(channel, now: link.now) }
    #expect(link.run { link.eventsA.closedChannels.count == 300 && link.eventsB.closedChannels.count == 300 })
    #expect(link.a.channels.used.isEmpty && link.b.channels.used.isEmpty)
  }

  @Test func aResetWaitsForDataThatWasLost() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.run(.milliseconds(1_000))
    var lost = 0
    link.drop = { packet in
      guard packet.isToB, packet.bytes[12] == ChunkType.data.rawValue, lost < 1 else { return false }
      lost += 1
      return true
    }
    try link.sendFromA(pattern(5_000, seed: 3), on: channel.a)
    link.a.close(channel.a, now: link.now)
    #expect(link.run { link.eventsA.closedChannels == [channel.a] && link.eventsB.closedChannels == [channel.b] })
    #expect(link.eventsB.messages.map(\.bytes) == [pattern(5_000, seed: 3)])
    #expect(lost == 1)
  }

  @Test func aRequestThatComesBeforeItsDataIsPerformedLater() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.run(.milliseconds(1_000))
    let (cumulative, expected) = (link.b.received.cumulative, link.b.resets.expectedSequence)
    func request(_ sequence: UInt32) -> [UInt8] {
      let value = networkOrder(sequence) + networkOrder(0 as UInt32) + networkOrder(cumulative &+ 1) + [0, 0]
      return encodedChunk(.reconfiguration, [0, 13, 0, 18] + value)
    }
    // Takes a packet of chunks to B and gives the result of the response that it sends for `sequence`.
    func result(of sequence: UInt32, after chunks: [UInt8]) -> UInt8? {
      link.b.receive(link.a.packet(tag: link.a.peerTag, chunks).span.bytes, now: link.now)
      var sent: [UInt8] = []
      while let packet = link.b.pollTransmit(now: link.now) { sent += packet.dropFirst(12) }
      let response: [UInt8] = [130, 0, 0, 16, 0, 16, 0, 12] + networkOrder(sequence)
      let start = sent.indices.first { sent[$0...].starts(with: response) }
      return start.map { sent[$0 + 15] }
    }
    #expect(result(of: expected, after: request(expected)) == 6)
    #expect(result(of: expected, after: request(expected)) == 6)
    #expect(link.eventsB.closedChannels.isEmpty)
    let data = networkOrder(cumulative &+ 1) + [0, 0, 0, 1] + networkOrder(PayloadProtocol.binary) + [7]
    #expect(result(of: expected, after: encodedChunk(.data, flags: 3, data)) == 1)
    #expect(link.b.channels[link.b.channels.used[0]].isIncomingReset)
    #expect(result(of: expected, after: request(expected)) == 1)
    #expect(result(of: expected &+ 1, after: request(expected &+ 1)) == 1)
    #expect(result(of: expected &+ 7, after: request(expected &+ 7)) == 5)
    link.flush()
    #expect(link.eventsB.messages.map(\.channel) == [channel.b])
  }

  @Test func theNextChannelOnAStreamOpensWhenTheAnswerToTheResetWasLost() throws {
    let link = VirtualLink.connected()
    let old = try link.openChannel()
    link.run(.milliseconds(1_000))
    var lost = 0
    link.drop = { packet in
      // The answer to B's request: a RE-CONFIG chunk with a response parameter.
      let isAnswer = packet.isToB && Array(packet.bytes[12..<18]) == [130, 0, 0, 16, 0, 16]
      if isAnswer { lost += 1 }
      return isAnswer && lost < 3
    }
    link.a.close(old.a, now: link.now)
    #expect(link.run { link.eventsA.closedChannels == [old.a] })
    let new = try link.openChannel()
    #expect(link.a.streamIdentifier(of: new.a) == 0 && link.eventsB.closedChannels == [old.b])
    link.run(.milliseconds(10_000))
    #expect(lost >= 2)
    try link.sendFromA([1], on: new.a)
    try link.sendFromB([2], on: new.b)
    #expect(link.run { link.messagesAtA == 1 && link.messagesAtB == 1 })
    #expect(link.eventsA.closedChannels.count == 1 && link.eventsB.closedChannels.count == 1)
  }

  @Test func aChannelClosedBeforeTheAssociationIsUpIsNeverSeen() throws {
    let link = VirtualLink()
    let channel = try link.a.open(ChannelOptions())
    link.a.close(channel, now: link.now)
    link.a.start(now: link.now)
    link.b.start(now: link.now)
    link.run(.milliseconds(2_000))
    #expect(link.eventsA.closedChannels == [channel] && link.eventsB.offers.isEmpty)
  }

  @Test func otherChannelsGoOnWhileOneCloses() throws {
    let link = VirtualLink.connected(LinkConditions(loss: 0.03, rate: 2_000_000), seed: 33)
    let (first, second) = (try link.openChannel(), try link.openChannel())
    let sent = (0..<100).map { pattern(10_000, seed: UInt64($0)) }
    for message in sent { try link.sendFromA(message, on: second.a) }
    try link.sendFromA([1], on: first.a)
    link.a.close(first.a, now: link.now)
    #expect(link.run { link.messagesAtB == 101 })
    #expect(link.eventsB.messages.filter { $0.channel == second.b }.map(\.bytes) == sent)
    #expect(link.run { link.eventsA.closedChannels == [first.a] && link.eventsB.closedChannels == [first.b] })
  }
}
