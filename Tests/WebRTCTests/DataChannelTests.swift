import Base
import Bytes
import SCTP
import Testing

@testable import WebRTC

@Suite struct DataChannelTests {
  private func error(_ body: () throws -> Void) -> PeerConnectionError.Name? {
    do { try body() } catch { return (error as? PeerConnectionError)?.name }
    return nil
  }

  private func messages(_ events: [PeerConnectionEvent]) -> [[UInt8]] {
    events.compactMap { event in if case .dataChannelMessage(_, let bytes, _) = event { bytes } else { nil } }
  }

  @Test func channelsOpenBeforeAndAfterTheAgreement() throws {
    var call = Call()
    let first = try call.offerer.createDataChannel(ChannelOptionsFor.label("before"))
    #expect(error { try call.offerer.send([1].span.bytes, isText: false, on: first, now: call.now) } == .invalidState)
    try call.negotiate()
    call.run(for: .seconds(1))
    _ = try call.answerer.createDataChannel(ChannelOptionsFor.label("after"))
    call.run(for: .seconds(1))
    #expect(call.offerer.dataChannels.map(\.options.label) == ["before", "after"])
    #expect(call.answerer.dataChannels.map(\.options.label) == ["before", "after"])
    #expect(call.offerer.dataChannels.allSatisfy { $0.state == .open } && call.answerer.dataChannels.allSatisfy { $0.state == .open })
    #expect(Set(call.offerer.dataChannels.map(\.streamIdentifier)) == Set(call.answerer.dataChannels.map(\.streamIdentifier)))
    #expect(call.offererEvents.openedChannels == 2 && call.answererEvents.openedChannels == 2)
  }

  @Test func aNegotiatedChannelIsOneAndTheSameOnBothSides() throws {
    var call = Call()
    let own = try call.offerer.createDataChannel(ChannelOptionsFor.label("x", negotiated: 8))
    _ = try call.answerer.createDataChannel(ChannelOptionsFor.label("x", negotiated: 8))
    #expect(error { _ = try call.offerer.createDataChannel(ChannelOptionsFor.label("y", negotiated: 8)) } == .operation)
    #expect(call.offerer.dataChannels.count == 1)
    try call.negotiate()
    call.run(for: .seconds(1))
    #expect(call.offerer.dataChannels.map(\.state) == [.open] && call.answerer.dataChannels.map(\.state) == [.open])
    let bytes: [UInt8] = [1, 2, 3]
    try call.offerer.send(bytes.span.bytes, isText: false, on: own, now: call.now)
    call.run(for: .milliseconds(200))
    #expect(messages(call.answererEvents) == [bytes])
    #expect(error { _ = try call.answerer.createDataChannel(ChannelOptionsFor.label("y", negotiated: 8)) } == .operation)
    #expect(call.answerer.dataChannels.count == 1)
  }

  @Test func closingTellsBothSidesOnce() throws {
    var call = Call()
    let own = try call.offerer.createDataChannel(ChannelOptionsFor.label("x"))
    let never = try call.offerer.createDataChannel(ChannelOptionsFor.label("never"))
    call.offerer.closeDataChannel(never, now: call.now)
    try call.negotiate()
    call.run(for: .seconds(1))
    #expect(call.answerer.dataChannels.count == 1)
    call.offerer.closeDataChannel(own, now: call.now)
    #expect(call.offerer.dataChannel(own)?.state == .closing)
    call.run(for: .seconds(1))
    #expect(call.offererEvents.closedChannels == 2 && call.answererEvents.closedChannels == 1)
    // The peer is told that it is closing; nobody keeps a closed channel.
    #expect(call.offererEvents.closingChannels == 0 && call.answererEvents.closingChannels == 1)
    #expect(call.offererEvents.channelErrors.isEmpty && call.answererEvents.channelErrors.isEmpty)
    #expect(call.offerer.dataChannels.isEmpty && call.answerer.dataChannels.isEmpty && call.offerer.dataChannel(own) == nil)
    let report = call.offerer.statistics(now: call.now)["P"]
    #expect(report?["dataChannelsOpened"] == 1 && report?["dataChannelsClosed"] == 1)
  }

  @Test func badOptionsAreRefusedByName() throws {
    var peer = PeerConnection.make()
    var options = ChannelOptions()
    (options.maxRetransmits, options.maxPacketLifeTime) = (1, 1)
    #expect(error { _ = try peer.createDataChannel(options) } == .type)
    #expect(error { _ = try peer.createDataChannel(ChannelOptionsFor.label("x", negotiated: 65_535)) } == .type)
    #expect(error { _ = try peer.createDataChannel(ChannelOptionsFor.label(String(repeating: "é", count: 40_000))) } == .type)
    #expect(peer.dataChannels.isEmpty && peer.takeEvents().isEmpty)
  }

  @Test func aMessageLargerThanThePeerTakesIsRefused() throws {
    var call = Call { $0.maximumMessageSize = 1_000 }
    let own = try call.offerer.createDataChannel(ChannelOptionsFor.label("x"))
    try call.negotiate()
    call.run(for: .seconds(1))
    let (large, small) = ([UInt8](repeating: 1, count: 1_001), [UInt8](repeating: 1, count: 1_000))
    #expect(error { try call.offerer.send(large.span.bytes, isText: false, on: own, now: call.now) } == .type)
    try call.offerer.send(small.span.bytes, isText: false, on: own, now: call.now)
    call.run(for: .milliseconds(200))
    #expect(messages(call.answererEvents) == [small])
  }

  @Test func aThresholdSetBeforeTheChannelIsThereCounts() throws {
    var call = Call()
    let own = try call.offerer.createDataChannel(ChannelOptionsFor.label("x"))
    call.offerer.setBufferedAmountLowThreshold(60_000, of: own)
    try call.negotiate()
    call.run(for: .seconds(1))
    let bytes = [UInt8](repeating: 1, count: 100_000)
    try call.offerer.send(bytes.span.bytes, isText: false, on: own, now: call.now)
    #expect(call.offerer.bufferedAmount(of: own) == 100_000)
    call.run(for: .seconds(2))
    #expect(call.offerer.bufferedAmount(of: own) == 0)
    let lows = call.offererEvents.count { event in if case .dataChannelBufferedAmountLow = event { true } else { false } }
    #expect(lows == 1)
    #expect(messages(call.answererEvents) == [bytes])
  }

  @Test func streamsFollowTheDTLSRolesAsSoonAsTheyAreKnown() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    let first = try a.createDataChannel(ChannelOptionsFor.label("first"))
    let taken = try a.createDataChannel(ChannelOptionsFor.label("taken", negotiated: 1))
    #expect(a.dataChannel(first)?.streamIdentifier == nil && a.dataChannel(taken)?.streamIdentifier == 1)
    try exchange(&a, &b)
    // The answerer is the DTLS client; the offerer, its server, numbers with odd streams.
    #expect(a.dataChannel(first)?.streamIdentifier == 3)
    let later = try a.createDataChannel(ChannelOptionsFor.label("later"))
    let theirs = try b.createDataChannel(ChannelOptionsFor.label("theirs"))
    #expect(a.dataChannel(later)?.streamIdentifier == 5 && b.dataChannel(theirs)?.streamIdentifier == 0)
    #expect(error { _ = try a.createDataChannel(ChannelOptionsFor.label("", negotiated: 5)) } == .operation)
  }

  @Test func closedChannelsLeaveNothingBehind() throws {
    var call = Call()
    _ = try call.offerer.createDataChannel(ChannelOptionsFor.label("main"))
    try call.negotiate()
    call.run(for: .seconds(1))
    var streams: Set<UInt16?> = []
    for round in 0..<20 {
      let channel = try call.offerer.createDataChannel(ChannelOptionsFor.label("\(round)"))
      call.run(for: .milliseconds(100))
      streams.insert(call.offerer.dataChannel(channel)?.streamIdentifier)
      call.answerer.closeDataChannel(call.answerer.dataChannels[1].identifier, now: call.now)
      call.run(for: .seconds(1))
    }
    #expect(call.offerer.dataChannels.count == 1 && call.answerer.dataChannels.count == 1 && streams.count == 1)
    let report = call.offerer.statistics(now: call.now)["P"]
    #expect(report?["dataChannelsOpened"] == 21 && report?["dataChannelsClosed"] == 20)
  }

  @Test func aPeerThatGoesFailsItsChannels() throws {
    var call = Call()
    _ = try call.offerer.createDataChannel(ChannelOptionsFor.label("x"))
    _ = try call.offerer.createDataChannel(ChannelOptionsFor.label("y", negotiated: 9))
    _ = try call.answerer.createDataChannel(ChannelOptionsFor.label("y", negotiated: 9))
    try call.negotiate()
    call.run(for: .seconds(1))
    call.forgetEvents()
    call.offerer.close(now: call.now)
    call.run(for: .seconds(1))
    #expect(call.answererEvents.channelErrors.map(\.detail) == [.sctpFailure, .sctpFailure])
    #expect(call.answererEvents.closedChannels == 2 && call.answerer.dataChannels.isEmpty)
    #expect(
      call.answererEvents.firstIndex { if case .dataChannelError = $0 { true } else { false } } ?? 9
        < call.answererEvents.firstIndex { if case .dataChannelClose = $0 { true } else { false } } ?? 0)
  }

  @Test func theTransportSaysWhatItTakes() throws {
    var call = Call()
    #expect(call.offerer.sctpTransport == nil)
    let channel = try call.offerer.createDataChannel(ChannelOptionsFor.label("x"))
    try call.offerer.setLocalDescription(now: call.now)
    #expect(call.offerer.sctpTransport == SCTPTransport(state: .connecting, maximumMessageSize: 65_536))
    func answer(_ size: String) throws {
      try call.answerer.setRemoteDescription(.offer, sdp: "\(call.offerer.localDescription!.description)", now: call.now)
      try call.answerer.setLocalDescription(now: call.now)
      call.drain()
      let text = "\(call.answerer.localDescription!.description)".replacing("a=max-message-size:262144\r\n", with: size)
      try call.offerer.setRemoteDescription(.answer, sdp: text, now: call.now)
    }
    try answer("a=max-message-size:10\r\n")
    #expect(call.offerer.sctpTransport?.maximumMessageSize == 10 && call.offerer.sctpTransport?.maximumChannels == nil)
    call.run(for: .seconds(1))
    #expect(call.offerer.sctpTransport?.state == .connected && call.offerer.sctpTransport?.maximumChannels == 65_535)
    #expect(call.offerer.sctpTransport?.maximumChannels == call.answerer.sctpTransport?.maximumChannels)
    let bytes = [UInt8](repeating: 1, count: 11)
    #expect(error { try call.offerer.send(bytes.span.bytes, isText: false, on: channel, now: call.now) } == .type)
    try call.offerer.setLocalDescription(now: call.now)
    try answer("")
    #expect(call.offerer.sctpTransport?.maximumMessageSize == 65_536)
    try call.offerer.send(bytes.span.bytes, isText: false, on: channel, now: call.now)
    call.drain()
    let states: [SCTPTransport.State] = call.offererEvents.compactMap {
      if case .sctpTransportChange(let transport) = $0 { transport.state } else { nil }
    }
    #expect(states == [.connecting, .connected, .connected])
    call.offerer.close(now: call.now)
    call.run(for: .milliseconds(100))
    #expect(call.answerer.sctpTransport?.state == .closed)
  }

  @Test func certificatesOfThePeerAreReadable() throws {
    var call = Call()
    _ = try call.offerer.createDataChannel(ChannelOptionsFor.label("x"))
    #expect(call.offerer.remoteCertificates.isEmpty)
    try call.negotiate()
    call.run(for: .seconds(1))
    #expect(call.offerer.remoteCertificates == [Call.certificates.1.der])
    #expect(call.answerer.remoteCertificates == [Call.certificates.0.der])
  }
}
