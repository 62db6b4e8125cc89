import Base
import Bytes
import Testing

@testable import SCTP

/// What stands in the chunks, byte for byte.
@Suite struct ChunkTests {
  private func parsed(_ bytes: [UInt8]) throws -> Initiation { try Initiation(bytes.span.bytes) }

  @Test func initiationHasTheLayoutOfTheSpecification() throws {
    var initiation = Initiation(
      tag: 0x0102_0304, receiveWindow: 0x0005_0000, outgoingStreams: 0x0400, incomingStreams: 0x0800, initialTSN: 0xA0B0_C0D0)
    initiation.extensions = [.forwardTSN, .reconfiguration, .zeroChecksum]
    let bytes = initiation.encoded()
    let expected: [UInt8] = [
      1, 2, 3, 4, 0, 5, 0, 0, 4, 0, 8, 0, 0xA0, 0xB0, 0xC0, 0xD0,  // fixed fields
      0xC0, 0, 0, 4,  // Forward-TSN-Supported
      0x80, 1, 0, 8, 0, 0, 0, 1,  // Zero Checksum Acceptable, DTLS
      0x80, 8, 0, 6, 130, 192, 0, 0,  // Supported Extensions
    ]
    #expect(bytes == expected)
    #expect(try parsed(bytes) == initiation)
  }

  @Test func initiationReportsWhatItDoesNotKnow() throws {
    var bytes = Initiation(tag: 1, receiveWindow: 2_000, outgoingStreams: 1, incomingStreams: 1, initialTSN: 1).encoded()
    bytes += [0x80, 0x77, 0, 5, 1, 0, 0, 0]  // skipped in silence
    bytes += [0xC1, 0x77, 0, 5, 9, 0, 0, 0]  // skipped and reported
    bytes += [0x40, 0x77, 0, 4]  // ends the list and is reported
    bytes += [0, 7, 0, 8, 1, 2, 3, 4]  // a cookie that is not reached
    let initiation = try parsed(bytes)
    #expect(initiation.unrecognized == [0xC1, 0x77, 0, 5, 9, 0, 0, 0, 0x40, 0x77, 0, 4])
    #expect(initiation.cookie.isEmpty)
  }

  @Test func initiationWithImpossibleValuesIsRefused() {
    func encoded(tag: UInt32 = 1, window: UInt32 = 2_000, out: UInt16 = 1, incoming: UInt16 = 1) -> [UInt8] {
      Initiation(tag: tag, receiveWindow: window, outgoingStreams: out, incomingStreams: incoming, initialTSN: 1).encoded()
    }
    for bytes in [encoded(tag: 0), encoded(window: 1_499), encoded(out: 0), encoded(incoming: 0)] {
      #expect(throws: Initiation.Failure.invalidMandatoryParameter) { try parsed(bytes) }
    }
    #expect(throws: Initiation.Failure.truncated) { try parsed(Array(encoded().prefix(15))) }
    #expect(throws: Initiation.Failure.truncated) { try parsed(encoded() + [0, 7, 0, 3]) }
    #expect(throws: Initiation.Failure.hostNameAddress) { try parsed(encoded() + [0, 11, 0, 5, 97, 0, 0, 0]) }
  }

  @Test func aCookieIsReadOnlyWhereItIsUnchangedAndOurs() {
    let cookie = StateCookie(
      created: Instant(nanoseconds: 5), localTag: 1, localInitialTSN: 2, peerTag: 3, peerInitialTSN: 4, peerWindow: 5,
      peerOutgoingStreams: 6, peerIncomingStreams: 7, extensions: [.forwardTSN], localTieTag: 8, peerTieTag: 9)
    let ours = SipHash(key: (1, 2))
    let bytes = cookie.encoded(ours)
    #expect(bytes.count == StateCookie.byteCount)
    #expect(StateCookie(bytes.span.bytes, ours) == cookie)
    #expect(StateCookie(bytes.span.bytes, SipHash(key: (1, 3))) == nil)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 0x40
      #expect(StateCookie(changed.span.bytes, ours) == nil)
    }
  }

  @Test func openHasTheLayoutOfTheSpecification() throws {
    var options = ChannelOptions()
    (options.label, options.protocolName, options.isOrdered, options.maxRetransmits, options.priority) = ("ab", "x", false, 3, 512)
    let bytes = Establishment.open(options).encoded()
    #expect(bytes == [3, 0x81, 2, 0, 0, 0, 0, 3, 0, 2, 0, 1, 97, 98, 120])
    guard case .open(let read) = try Establishment(bytes.span.bytes) else {
      Issue.record("OPEN was not read as OPEN")
      return
    }
    #expect(read == options)
    for count in 0..<bytes.count {
      let cut = Array(bytes.prefix(count))
      #expect(throws: Establishment.Malformed.self) { try Establishment(cut.span.bytes) }
    }
  }

  @Test func aSACKNamesGapsAndDuplicates() throws {
    let link = VirtualLink.connected()
    let channel = try link.openChannel()
    link.run(.milliseconds(1_000))
    func data(_ offset: UInt32) -> [UInt8] {
      encodedChunk(
        .data, flags: 7, networkOrder(link.b.received.cumulative &+ offset) + [0, 0, 0, 0] + networkOrder(PayloadProtocol.binary) + [1])
    }
    let cumulative = link.b.received.cumulative
    let chunks = data(2) + data(3) + data(5) + data(5)
    link.b.receive(link.a.packet(tag: link.a.peerTag, chunks).span.bytes, now: link.now)
    let packet = link.b.pollTransmit(now: link.now)
    let sack = Array(try #require(packet).dropFirst(12))
    #expect(sack.prefix(4) == [3, 0, 0, 28])
    #expect(Array(sack[4..<8]) == networkOrder(cumulative))
    #expect(Array(sack[12...]) == [0, 2, 0, 1, 0, 2, 0, 3, 0, 5, 0, 5] + networkOrder(cumulative &+ 5))
    link.flush()
    #expect(link.eventsB.messages.allSatisfy { $0.channel == channel.b } && link.messagesAtB == 3)
  }

  @Test func aPeersReasonIsShownInWords() {
    let causes = ErrorCause.protocolViolation.encoded(Array("bad news".utf8)) + ErrorCause.userInitiatedAbort.encoded() + [0, 99, 0, 5, 7]
    #expect(ErrorCause.description(of: causes.span.bytes) == "protocolViolation (bad news), userInitiatedAbort, cause 99")
    #expect(ErrorCause.description(of: RawSpan()) == nil)
  }
}
