import Base
import Bytes
import Testing

@testable import SCTP

/// Windows, timeouts and packet sizes.
@Suite struct CongestionTests {
  @Test func aFullWindowStopsTheSenderAndOpensAgain() throws {
    var small = Association.Configuration()
    small.receiveWindow = 20_000
    small.maximumMessageSize = 10_000
    let link = VirtualLink.connected(b: small)
    let channel = try link.openChannel()
    // B's user takes no messages: only its packets are taken.
    for index in 0..<40 { try link.sendFromA(pattern(9_000, seed: UInt64(index)), on: channel.a) }
    var received: [[UInt8]] = []
    func step(takesEvents: Bool) {
      link.now += .milliseconds(10)
      link.a.handleTimeout(now: link.now)
      link.b.handleTimeout(now: link.now)
      while let packet = link.a.pollTransmit(now: link.now) { link.b.receive(packet.span.bytes, now: link.now) }
      while let packet = link.b.pollTransmit(now: link.now) { link.a.receive(packet.span.bytes, now: link.now) }
      while takesEvents, let event = link.b.pollEvent() { received += [event].messages.map(\.bytes) }
    }
    // Longer than the timeouts take that give a silent peer up.
    for _ in 0..<80_000 { step(takesEvents: false) }
    #expect(link.b.eventBytes <= link.b.receiveLimit)
    #expect(link.b.counters["sctp.windowExceeded"] > 60)
    #expect(link.a.statistics.receiverWindow < 1_400)
    #expect(link.a.state == .connected, "a closed window is not a dead peer")
    #expect(link.a.counters["sctp.retransmissionTimeout"] == 0, "a window probe says nothing about the network")
    // The window's opening is told and answered at once, not at the next probe.
    for _ in 0..<100 { step(takesEvents: true) }
    #expect(received == (0..<40).map { pattern(9_000, seed: UInt64($0)) })
  }

  @Test func oneLostPacketIsRepairedWithoutATimeout() throws {
    // Whatever the TSNs begin with.
    for seed in 1...16 as ClosedRange<UInt64> {
      let link = VirtualLink.connected(LinkConditions(delay: .milliseconds(50)), seed: seed)
      let channel = try link.openChannel()
      link.run(.milliseconds(2_000))
      var count = 0
      link.drop = { packet in
        guard packet.isToB, packet.bytes.count > 1_000 else { return false }
        count += 1
        return count == 3
      }
      try link.sendFromA(pattern(30_000, seed: 1), on: channel.a)
      #expect(link.run { link.messagesAtB == 1 })
      #expect(link.a.counters["sctp.retransmissionTimeout"] == 0)
      #expect(link.a.statistics.retransmittedChunks == 1)
    }
  }

  @Test func aRetransmissionLostAgainIsRepairedWithoutATimeout() throws {
    let link = VirtualLink.connected(LinkConditions(delay: .milliseconds(20)))
    let channel = try link.openChannel()
    link.run(.milliseconds(2_000))
    let tsn = link.a.outstanding.nextTSN &+ 3
    var count = 0
    link.drop = { packet in
      guard packet.isToB, packet.bytes.count > 1_000, Array(packet.bytes[16..<20]) == networkOrder(tsn), count < 2 else { return false }
      count += 1
      return true
    }
    try link.sendFromA(pattern(250_000, seed: 1), on: channel.a)
    #expect(link.run { link.messagesAtB == 1 })
    #expect(count == 2 && link.a.counters["sctp.retransmissionTimeout"] == 0)
  }

  @Test func aNarrowLinkIsFilledAndNotFlooded() throws {
    let link = VirtualLink.connected(LinkConditions(delay: .milliseconds(20), rate: 1_000_000, queue: 50_000))
    let channel = try link.openChannel()
    let before = link.now
    for index in 0..<20 { try link.sendFromA(pattern(250_000, seed: UInt64(index)), on: channel.a) }
    #expect(link.run { link.messagesAtB == 20 })
    let rate = 5_000_000 / (link.now - before).seconds
    #expect(rate > 800_000, "\(rate) bytes per second of 1,000,000")
    #expect(link.a.statistics.retransmittedChunks < 500)
  }

  @Test func theLargestPacketThatPassesIsFound() throws {
    for (limit, expected) in [(Int.max, 1_400), (1_280, 1_280), (1_399, 1_360), (1_200, 1_200)] {
      let link = VirtualLink.connected(LinkConditions(largestPacket: limit))
      let channel = try link.openChannel()
      link.run(.milliseconds(30_000))
      #expect(link.a.statistics.mtu == expected && link.b.statistics.mtu == expected, "\(limit)")
      #expect(link.largestSent <= 1_400)
      #expect(link.a.statistics.congestionWindow >= 10 * 1_200, "lost probes are no congestion")
      link.largestSent = 0
      try link.sendFromA(pattern(100_000, seed: 1), on: channel.a)
      #expect(link.run { link.messagesAtB == 1 })
      #expect(link.largestSent == expected)
    }
  }

  @Test func packetsGetSmallerWhenLargeOnesVanish() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.run(.milliseconds(10_000))
    #expect(link.a.statistics.mtu == 1_400)
    link.conditions.largestPacket = 1_250
    for _ in 0..<5 { try link.sendFromA([1], on: channel.a) }
    try link.sendFromA(pattern(3_000, seed: 1), on: channel.a)
    link.run(.milliseconds(20_000))
    #expect(link.a.statistics.mtu == 1_200)
  }

  @Test func delayedAcknowledgmentsHalveThem() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.run(.milliseconds(2_000))
    var (data, acknowledgments) = (0, 0)
    link.drop = { packet in
      if packet.isToB { data += 1 } else { acknowledgments += 1 }
      return false
    }
    try link.sendFromA(pattern(240_000, seed: 1), on: channel.a)
    #expect(link.run { link.messagesAtB == 1 })
    #expect(acknowledgments <= data / 2 + 3 && acknowledgments >= data / 4)
  }

  @Test func smallMessagesShareAPacket() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.run(.milliseconds(2_000))
    link.packetCount = 0
    for index in 0..<30 { try link.sendFromA([UInt8(index), 2, 3, 4], on: channel.a) }
    link.flush()
    #expect(link.packetCount == 1)
    #expect(link.run { link.messagesAtB == 30 })
  }
}
