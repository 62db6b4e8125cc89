import Base
import Bytes
import RTP
import Testing

@testable import WebRTC

/// What comes in and cannot be used is counted under its name, and does no harm.
@Suite struct DiscardTests {
  private func connected() throws -> Call {
    var call = Call()
    _ = try call.offerer.addTransceiver(.video)
    _ = try call.offerer.addTransceiver(.audio)
    try call.negotiate()
    call.run(for: .seconds(1))
    #expect(call.answerer.discards.values.isEmpty, "\(call.answerer.discards.values)")
    return call
  }

  /// An RTP packet of the first transceiver, with its mid.
  private func packet(
    _ call: borrowing Call, source: UInt32? = nil, payloadType: UInt8? = nil, sequence: UInt16 = 1, mid: String? = nil,
    payload: [UInt8] = [0x10, 0, 0, 0]
  ) -> [UInt8] {
    let transceiver = call.offerer.transceivers[0]
    let header = Header(
      payloadType: payloadType ?? transceiver.sendCodec!.payloadType, sequenceNumber: sequence, timestamp: 1_000,
      ssrc: source ?? transceiver.source, isMarked: true)
    var extensions = HeaderExtensions()
    extensions.mid = mid ?? transceiver.mid
    var bytes = [UInt8](repeating: 0, count: 100)
    var elements = bytes.mutableSpan
    var span = elements.mutableBytes
    let count = try! header.write(extensions, map: transceiver.negotiated!.extensionMap, into: &span).count
    return Array(bytes.prefix(count)) + payload
  }

  @Test func packetsThatAreNotAuthenticOrComeAgainAreCounted() throws {
    var call = try connected()
    let good = call.protect(packet(call))
    call.inject(good)
    #expect(call.received.count == 1)
    call.inject(good)
    #expect(call.answerer.discards.values["srtp.replayed"] == 1)
    var forged = call.protect(packet(call, sequence: 2))
    forged[forged.count - 1] ^= 1
    call.inject(forged)
    #expect(call.answerer.discards.values["srtp.unauthentic"] == 1)
    var report = call.protect([0x80, 201, 0, 1, 0, 0, 0, 1], isControl: true)
    report[10] ^= 1
    call.inject(report)
    #expect(call.answerer.discards.values["srtcp.unauthentic"] == 1)
    call.inject([0x80, 0x60, 0, 1])
    call.inject([0x80, 200, 0, 1])
    #expect(call.answerer.discards.values["srtp.malformed"] == 1 && call.answerer.discards.values["srtcp.malformed"] == 1)
    #expect(call.received.count == 1)
  }

  @Test func packetsThatBelongNowhereAreCounted() throws {
    var call = try connected()
    // Neither a declared source, nor a mid that exists.
    call.inject(call.protect(packet(call, source: 77, mid: "nobody")))
    #expect(call.answerer.discards.values["rtp.unknownSource"] == 1)
    call.inject(call.protect(packet(call, payloadType: 34)))
    #expect(call.answerer.discards.values["rtp.unknownPayloadType"] == 1)
    call.inject(call.protect([0x80, 34, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2]))
    #expect(call.answerer.discards.values["rtp.unknownSource"] == 2)
    // Padding of more bytes than there are.
    call.inject(call.protect([0xA0, 96, 0, 9, 0, 0, 0, 1, 0, 0, 0, 3, 1, 200]))
    #expect(call.answerer.discards.values["rtp.malformed"] == 1)
    // An extension element that ends behind the extension.
    let element = call.offerer.transceivers[0].negotiated!.extensions[.mid]! << 4 | 15
    call.inject(call.protect([0x90, 34, 0, 9, 0, 0, 0, 1, 0, 0, 0, 4, 0xBE, 0xDE, 0, 1, element, 0, 0, 0]))
    #expect(call.answerer.discards.values["rtp.malformedExtension"] == 1)
    // RTCP whose length says more than there is.
    call.inject(call.protect([0x80, 206, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2], isControl: true))
    #expect(call.answerer.discards.values["rtcp.malformed"] == 1)
    call.inject([5, 5, 5, 5])
    #expect(call.answerer.discards.values["transport.unknown"] == 1)
    call.inject([0x80])
    #expect(call.answerer.discards.values["transport.short"] == 1)
    #expect(call.received.isEmpty && call.answerer.isConnected)
  }

  @Test func mediaBeforeTheKeysAreThereIsCounted() throws {
    var call = Call()
    _ = try call.offerer.addTransceiver(.video)
    call.conditions.losesDTLS = true
    try call.negotiate()
    call.run(for: .milliseconds(500))
    call.inject([0x80, 96, 0, 1] + [UInt8](repeating: 0, count: 40))
    #expect(call.answerer.discards.values["srtp.early"] == 1)
    let frame: [UInt8] = [0, 0, 0, 0]
    call.offerer.sendVideo(
      frame.span.bytes, isKeyFrame: true, captureTime: call.now, on: call.offerer.transceivers[0].identifier, now: call.now)
    #expect(call.offerer.discards.values["rtp.unconnected"] == 1)
  }

  @Test func aSourceThatWasNeverDeclaredIsKnownByItsMid() throws {
    var call = try connected()
    call.inject(call.protect(packet(call, source: 4_711)))
    #expect(call.received.map(\.media.transceiver) == [call.answerer.transceivers[0].identifier])
  }

  @Test func aPeerThatInventsSourcesDoesNotFillTheMemory() throws {
    var call = try connected()
    for source in 0..<200 as Range<UInt32> { call.inject(call.protect(packet(call, source: 5_000 + source))) }
    #expect(call.received.count == 200)
    #expect(call.answerer.media.receiving.count <= 5)
    // The newest is the one that counts.
    call.inject(call.protect(packet(call, source: 5_199, sequence: 2)))
    #expect(call.received.count == 201)
    #expect(call.answerer.media.receiving.contains { $0.stream.statistics.packetsReceived == 2 })
  }

  @Test func nothingIsTakenForATransceiverThatDoesNotReceive() throws {
    var call = try connected()
    call.inject(call.protect(packet(call)))
    #expect(call.received.count == 1)
    try call.answerer.stop(call.answerer.transceivers[0].identifier)
    call.inject(call.protect(packet(call, sequence: 2)))
    #expect(call.received.count == 1)
    #expect(call.answerer.discards.values["rtp.inactiveReceiver"] == 1)
    // Once the section is gone, its source is unknown.
    try exchange(&call.answerer, &call.offerer, now: call.now)
    #expect(call.answerer.media.receiving.allSatisfy { $0.kind == .audio })
    #expect(call.answerer.statistics(now: call.now).values.allSatisfy { $0["type"] != "inbound-rtp" || $0["kind"] == "audio" })
  }

  @Test func aStoppedSenderSaysGoodbyeAndSendsNoMore() throws {
    var call = try connected()
    let video = call.offerer.transceivers[0].identifier
    let frame = [UInt8](repeating: 7, count: 3_000)
    call.offerer.sendVideo(frame.span.bytes, isKeyFrame: true, captureTime: call.now, on: video, now: call.now)
    call.run(for: .milliseconds(100))
    #expect(call.received.count == 3)
    try call.offerer.stop(video)
    call.offerer.sendVideo(frame.span.bytes, isKeyFrame: true, captureTime: call.now, on: video, now: call.now)
    call.run(for: .milliseconds(100))
    #expect(call.received.count == 3)
    #expect(call.offerer.discards.values["rtp.inactiveSender"] == 1)
  }

  @Test func aNewSourceInTheDescriptionTakesThePlaceOfTheOld() throws {
    var call = try connected()
    let old = call.offerer.transceivers[0].source
    #expect(call.answerer.media.receiving.contains { $0.stream.configuration.ssrc == old })
    var offer = try call.offerer.createOffer(now: call.now)
    for index in offer.media[0].sources.indices where offer.media[0].sources[index].ssrc == old {
      offer.media[0].sources[index].ssrc = 4_242
    }
    offer.media[0].sourceGroups[0].ssrcs[0] = 4_242
    try call.answerer.setRemoteDescription(.offer, sdp: "\(offer)", now: call.now)
    try call.answerer.setLocalDescription(now: call.now)
    let sources = call.answerer.media.receiving.filter { $0.kind == .video }.map(\.stream.configuration.ssrc)
    #expect(sources == [4_242])
    #expect(
      call.answerer.media.receiving.first { $0.kind == .video }?.stream.configuration.retransmissionSSRC
        == call.offerer.transceivers[0].retransmissionSource)
  }
}
