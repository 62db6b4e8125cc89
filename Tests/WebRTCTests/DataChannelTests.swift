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
    #expect(call.offerer.dataChannels[own.rawValue].state == .closing)
    call.run(for: .seconds(1))
    #expect(call.offererEvents.closedChannels == 2 && call.answererEvents.closedChannels == 1)
    #expect(call.offerer.dataChannels.allSatisfy { $0.state == .closed } && call.answerer.dataChannels.allSatisfy { $0.state == .closed })
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
}
