import Base
import Bytes
import Testing

@testable import SCTP

/// Establishment, closing, and what a peer may do wrong.
@Suite struct AssociationTests {
  @Test func bothEndsStartingAtOnceConnectOnce() {
    for seed in 1...20 as ClosedRange<UInt64> {
      let link = VirtualLink.connected(seed: seed)
      link.run(.milliseconds(1_000))
      #expect(link.a.state == .connected && link.b.state == .connected)
      #expect(link.eventsA.connections == 1 && link.eventsB.connections == 1)
      #expect(link.a.counters.values.isEmpty, "\(link.a.counters.values)")
    }
  }

  @Test func oneEndStartingIsEnough() {
    let link = VirtualLink()
    link.a.start(now: link.now)
    #expect(link.run { link.a.state == .connected && link.b.state == .connected })
    #expect(link.now - .zero <= .milliseconds(45))
  }

  @Test func everyHandshakePacketMayBeLost() {
    for lost in 0..<6 {
      let link = VirtualLink()
      link.drop = { _ in link.packetCount == lost + 1 }
      link.a.start(now: link.now)
      link.b.start(now: link.now)
      #expect(link.run { link.eventsA.connections == 1 && link.eventsB.connections == 1 }, "packet \(lost)")
    }
  }

  @Test func aSilentPeerEndsInClosed() {
    let link = VirtualLink(LinkConditions(loss: 1))
    link.a.start(now: link.now)
    #expect(link.run { link.a.state == .closed })
    #expect(link.eventsA.closing == .some("no answer to INIT"))
    #expect(link.a.deadline == nil)
  }

  @Test func abortClosesBothEndsAndTheirChannels() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.a.abort(now: link.now)
    link.run(.milliseconds(1_000))
    #expect(link.eventsA.closedChannels == [channel.a] && link.eventsB.closedChannels == [channel.b])
    #expect(link.eventsA.closing == .some(nil))
    #expect(link.eventsB.closing == .some("aborted by the peer: userInitiatedAbort"))
    #expect(throws: ChannelError.associationClosed) { try link.a.open(ChannelOptions()) }
  }

  @Test func shutdownDeliversWhatWasSentFirst() throws {
    for loss in [0, 0.1] {
      let link = VirtualLink.connected(LinkConditions(loss: loss), seed: 3)
      let channel = try link.openChannel()
      let message = pattern(200_000, seed: 1)
      try link.sendFromA(message, on: channel.a)
      link.a.shutdown(now: link.now)
      #expect(link.a.state == .shutdown)
      #expect(link.run { link.a.state == .closed && link.b.state == .closed })
      #expect(link.eventsB.messages.map(\.bytes) == [message])
      #expect(link.eventsA.closing == .some(nil))
    }
  }

  @Test func bothEndsMayShutDownAtOnce() {
    let link = VirtualLink.connected()
    link.a.shutdown(now: link.now)
    link.b.shutdown(now: link.now)
    #expect(link.run { link.a.state == .closed && link.b.state == .closed })
    #expect(link.eventsA.closing == .some(nil) && link.eventsB.closing == .some(nil))
  }

  @Test func aRestartedPeerComesUpAgainWithoutChannels() throws {
    let link = VirtualLink.connected()
    let old = try link.openChannel()
    try link.sendFromB([1, 2, 3], on: old.b)
    link.run(.milliseconds(1_000))
    link.a = Association(isDTLSClient: true, seed: 99)
    link.eventsA = []
    link.a.start(now: link.now)
    #expect(link.run { link.a.state == .connected && link.eventsB.connections == 2 })
    #expect(link.eventsB.closedChannels == [old.b])
    let new = try link.openChannel()
    try link.sendFromA([4], on: new.a)
    #expect(link.run { link.eventsB.messages.contains { $0.channel == new.b && $0.bytes == [4] } })
    #expect(link.eventsA.connections == 1)
  }

  @Test func aForgedCookieIsRefused() throws {
    let link = VirtualLink()
    link.drop = { packet in
      guard packet.bytes[12] == ChunkType.cookieEcho.rawValue else { return false }
      var forged = packet.bytes
      forged[20] ^= 1
      for index in 8..<12 { forged[index] = 0 }
      let checksum = CRC32C.checksum(forged.span.bytes)
      for index in 0..<4 { forged[8 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
      link.b.receive(forged.span.bytes, now: link.now)
      return true
    }
    link.a.start(now: link.now)
    link.run(.milliseconds(2_000))
    #expect(link.b.state == .closed)
    #expect(link.b.counters["sctp.badCookie"] > 0)
  }

  @Test func damagedPacketsAreCountedAndLeaveTheAssociationUp() throws {
    let link = VirtualLink.connected()
    var packet = link.b.packet(tag: link.b.peerTag, encodedChunk(.heartbeat, [0, 1, 0, 8, 1, 2, 3, 4]))
    packet[20] ^= 0x10
    link.a.receive(packet.span.bytes, now: link.now)
    #expect(link.a.counters["sctp.checksum"] == 1)
    link.a.receive(link.b.packet(tag: 5, encodedChunk(.cookieAcknowledgment)).span.bytes, now: link.now)
    #expect(link.a.counters["sctp.verificationTag"] == 1)
    link.a.receive(link.b.packet(tag: link.b.peerTag, [0, 3, 0, 200, 1, 2, 3, 4]).span.bytes, now: link.now)
    #expect(link.a.counters["sctp.malformed"] == 1)
    link.a.receive(([1, 2, 3] as [UInt8]).span.bytes, now: link.now)
    #expect(link.a.counters["sctp.malformed"] == 2)
    #expect(link.a.state == .connected)
  }

  @Test func unknownChunksAreSkippedOrReportedAsTheirTypeSays() {
    for (type, isReported, continues) in [(0x3E, false, false), (0x7E, true, false), (0xBE, false, true), (0xFE, true, true)] {
      let link = VirtualLink.connected()
      let unknown: [UInt8] = [UInt8(type), 0, 0, 8, 1, 2, 3, 4]
      let heartbeat = encodedChunk(.heartbeat, [0, 1, 0, 8, 9, 9, 9, 9])
      link.a.receive(link.b.packet(tag: link.b.peerTag, unknown + heartbeat).span.bytes, now: link.now)
      var sent: [UInt8] = []
      while let packet = link.a.pollTransmit(now: link.now) { sent += packet.dropFirst(12) }
      let report: [UInt8] = [9, 0, 0, 16, 0, 6, 0, 12] + unknown
      let answer = encodedChunk(.heartbeatAcknowledgment, [0, 1, 0, 8, 9, 9, 9, 9])
      #expect(sent.starts(with: (isReported ? report : []) + (continues ? answer : [])), "type \(type)")
    }
  }

  @Test func anIdlePeerThatVanishedIsNoticed() {
    var configuration = Association.Configuration()
    configuration.maximumRetransmissions = 3
    let link = VirtualLink.connected(a: configuration)
    link.conditions.loss = 1
    #expect(link.run(.milliseconds(300_000)) { link.a.state == .closed })
    #expect(link.eventsA.closing == .some("the peer does not answer any more"))
  }

  @Test func heartbeatsMeasureAnIdlePath() {
    let link = VirtualLink.connected(LinkConditions(delay: .milliseconds(40)))
    link.run(.milliseconds(65_000))
    #expect(link.a.statistics.smoothedRoundTripTime == .milliseconds(80))
    #expect(link.a.state == .connected)
  }

  @Test func checksumsAreLeftOutOnlyWhereBothAgreed() throws {
    for offers in [(true, true), (true, false), (false, true)] {
      var (a, b) = (Association.Configuration(), Association.Configuration())
      (a.offersZeroChecksum, b.offersZeroChecksum) = offers
      let link = VirtualLink.connected(a: a, b: b)
      let channel = try link.openChannel()
      var zero = 0
      link.drop = { packet in
        if packet.bytes[8..<12].allSatisfy({ $0 == 0 }) { zero += 1 }
        return false
      }
      try link.sendFromA(pattern(10_000, seed: 1), on: channel.a)
      #expect(link.run { !link.eventsB.messages.isEmpty })
      #expect((zero > 0) == (offers.0 && offers.1))
    }
  }

  @Test func anOutageEndsWithoutWaitingForTheTimeoutWhenThePathChanges() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.conditions.loss = 1
    try link.sendFromA([7], on: channel.a)
    link.run(.milliseconds(20_000))
    link.conditions.loss = 0
    link.a.handlePathChange(now: link.now)
    let before = link.now
    #expect(link.run { link.messagesAtB == 1 })
    #expect(link.now - before <= .milliseconds(10))
  }
}
