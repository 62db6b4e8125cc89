import Base
import Bytes
import Testing

@testable import SCTP

/// Messages that may be given up (RFC 3758, RFC 8831 section 6.6).
@Suite struct PartialReliabilityTests {
  private func numbered(_ count: Int, size: Int) -> [[UInt8]] {
    (0..<count).map { networkOrder(UInt32($0)) + pattern(size, seed: UInt64($0)) }
  }

  @Test(arguments: [true, false], [20, 4_000]) func withoutRetransmissionsLostMessagesAreSkipped(isOrdered: Bool, size: Int) throws {
    for interleaves in [false, true] {
      var configuration = Association.Configuration()
      configuration.offersInterleaving = interleaves
      let conditions = LinkConditions(duplication: 0.02, reordering: 0.02)
      let link = VirtualLink.connected(conditions, seed: 21, a: configuration, b: configuration)
      var options = ChannelOptions()
      options.isOrdered = isOrdered
      options.maxRetransmits = 0
      let channel = try link.openChannel(options)
      link.run(.milliseconds(1_000))
      link.conditions.loss = 0.05
      let sent = numbered(400, size: size)
      for message in sent {
        try link.sendFromA(message, on: channel.a)
        link.run(.milliseconds(2))
      }
      link.conditions.loss = 0
      try link.sendFromA([1], on: channel.a)
      #expect(link.run { link.eventsB.messages.last?.bytes == [1] })
      link.run(.milliseconds(5_000))
      let received = link.eventsB.messages.map(\.bytes).filter { $0 != [1] }
      #expect((250...395).contains(received.count), "\(received.count)")
      #expect(Set(received).isSubset(of: Set(sent)) && Set(received).count == received.count)
      if isOrdered { #expect(received == sent.filter(Set(received).contains)) }
      #expect(link.a.outstanding.count == 0 && link.a.messages.count == 0 && link.b.reassembly.byteCount == 0)
      #expect(link.a.statistics.retransmittedChunks == 0)
      #expect(link.a.bufferedAmount(of: channel.a) == 0)
    }
  }

  @Test func aFewRetransmissionsBringMoreThrough() throws {
    let link = VirtualLink.connected(seed: 5)
    var options = ChannelOptions()
    options.maxRetransmits = 3
    let channel = try link.openChannel(options)
    link.conditions.loss = 0.1
    let sent = numbered(500, size: 100)
    for message in sent {
      try link.sendFromA(message, on: channel.a)
      link.run(.milliseconds(5))
    }
    link.conditions.loss = 0
    link.run(.milliseconds(20_000))
    let received = link.eventsB.messages.map(\.bytes)
    #expect(received.count >= 495)
    #expect(received == sent.filter(Set(received).contains))
  }

  @Test func messagesOlderThanTheirLifeTimeAreNotSent() throws {
    let link = VirtualLink.connected(seed: 6)
    var options = ChannelOptions()
    options.maxPacketLifeTime = 300
    let channel = try link.openChannel(options)
    link.run(.milliseconds(1_000))
    link.conditions.loss = 1
    for message in numbered(20, size: 3_000) {
      try link.sendFromA(message, on: channel.a)
      link.run(.milliseconds(50))
    }
    link.run(.milliseconds(500))
    link.conditions.loss = 0
    link.run(.milliseconds(10_000))
    try link.sendFromA([9], on: channel.a)
    #expect(link.run(.milliseconds(1_000)) { link.eventsB.messages.last?.bytes == [9] })
    #expect(link.messagesAtB == 1, "all others were too old when the link came back")
    #expect(link.a.messages.count == 0 || link.run { link.a.messages.count == 0 })
  }

  @Test func aMessageThatExpiresHalfSentDoesNotBlockItsChannel() throws {
    for interleaves in [false, true] {
      var configuration = Association.Configuration()
      configuration.offersInterleaving = interleaves
      let link = VirtualLink.connected(LinkConditions(rate: 100_000, queue: 1 << 30), seed: 7, a: configuration, b: configuration)
      var options = ChannelOptions()
      options.maxPacketLifeTime = 400
      let channel = try link.openChannel(options)
      link.run(.milliseconds(1_000))
      try link.sendFromA(pattern(200_000, seed: 1), on: channel.a)
      link.run(.milliseconds(3_000))
      #expect(link.a.bufferedAmount(of: channel.a) == 0)
      try link.sendFromA([1, 2], on: channel.a)
      #expect(link.run(.milliseconds(5_000)) { link.messagesAtB == 1 })
      #expect(link.eventsB.messages.map(\.bytes) == [[1, 2]])
      #expect(link.b.reassembly.byteCount == 0)
      #expect(link.a.counters["sctp.expiredMessage"] == 1)
    }
  }
}
