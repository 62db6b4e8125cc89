import Base
import Bytes
import SDP
import Testing

@testable import WebRTC

@Suite struct FailureTests {
  private func call() throws -> Call {
    var call = Call()
    _ = try call.offerer.addTransceiver(.audio)
    _ = try call.offerer.createDataChannel(ChannelOptionsFor.label("chat"))
    return call
  }

  /// When a connection failed, in seconds after `start`.
  private func run(_ call: inout Call, seconds: Int) -> Int? {
    for second in 1...seconds {
      call.run(for: .seconds(1))
      if call.offerer.connectionState == .failed { return second }
    }
    return nil
  }

  @Test func aWrongFingerprintFailsWithItsReason() throws {
    var call = try call()
    try call.offerer.setLocalDescription(now: call.now)
    call.drain()
    try call.answerer.setRemoteDescription(.offer, sdp: "\(call.offerer.localDescription!.description)", now: call.now)
    try call.answerer.setLocalDescription(now: call.now)
    call.drain()
    var answer = call.answerer.localDescription!.description
    for index in answer.media.indices {
      answer.media[index].fingerprints[0].value = String(answer.media[index].fingerprints[0].value.reversed())
    }
    try call.offerer.setRemoteDescription(.answer, sdp: "\(answer)", now: call.now)
    call.run(for: .seconds(2))
    #expect(call.offerer.connectionState == .failed && call.offerer.dtlsTransportState == .failed)
    #expect(call.offerer.failureReason?.contains("fingerprint") == true, "\(String(describing: call.offerer.failureReason))")
    #expect(call.offererEvents.closedChannels == 1 && call.offerer.dataChannels.isEmpty)
    #expect(call.offerer.isConnected == false && call.answerer.isConnected == false)
    #expect(call.offerer.discards.values["dtls.failed"] == 1)
  }

  @Test func aPeerThatNeverAnswersFailsInTheStandardTime() throws {
    var call = try call()
    try call.negotiate()
    call.conditions.loss = 1
    let seconds = run(&call, seconds: 40)
    // RFC 8445 leaves 39.5 s with the default timers; browsers take 15 to 30.
    #expect(seconds.map { (10...30).contains($0) } == true, "\(String(describing: seconds))")
    #expect(call.offerer.failureReason?.contains("ICE") == true)
    #expect(call.offererEvents.connectionStates == [.connecting, .failed])
  }

  @Test func aPeerThatFallsSilentIsDisconnectedThenFailed() throws {
    var call = try call()
    try call.negotiate()
    call.run(for: .seconds(2))
    #expect(call.offerer.isConnected == true)
    call.conditions.loss = 1
    let seconds = run(&call, seconds: 60)
    #expect(call.offererEvents.connectionStates == [.connecting, .connected, .disconnected, .failed])
    // Consent lasts 30 s (RFC 7675).
    #expect(seconds.map { (25...36).contains($0) } == true, "\(String(describing: seconds))")
  }

  @Test func aPeerWithoutDTLSFails() throws {
    var call = try call()
    call.conditions.losesDTLS = true
    try call.negotiate()
    let seconds = run(&call, seconds: 40)
    #expect(seconds.map { $0 <= 30 } == true)
    #expect(call.offerer.iceConnectionState == .connected || call.offerer.iceConnectionState == .completed)
    #expect(call.offerer.failureReason?.contains("DTLS") == true, "\(String(describing: call.offerer.failureReason))")
    #expect(call.answerer.connectionState == .failed)
    #expect(call.answerer.failureReason?.contains("DTLS") == true, "\(String(describing: call.answerer.failureReason))")
  }

  @Test func aShortOutageHeals() throws {
    var call = try call()
    try call.negotiate()
    call.run(for: .seconds(2))
    call.conditions.loss = 1
    call.run(for: .seconds(10))
    #expect(call.offerer.connectionState == .disconnected)
    call.conditions.loss = 0
    call.run(for: .seconds(5))
    #expect(call.offerer.isConnected && call.answerer.isConnected)
  }

  // MARK: Closing

  @Test func closingTellsThePeerAndNobodyElse() throws {
    var call = try call()
    let audio = call.offerer.transceivers[0].identifier
    try call.negotiate()
    call.run(for: .seconds(1))
    call.forgetEvents()
    call.offerer.close(now: call.now)
    #expect(call.offerer.signalingState == .closed && call.offerer.connectionState == .closed)
    #expect(call.offerer.iceConnectionState == .closed && call.offerer.dtlsTransportState == .closed)
    #expect(call.offerer.dataChannels.isEmpty)
    #expect(call.offerer.transceiver(audio)?.currentDirection == .stopped)
    call.run(for: .milliseconds(200))
    #expect(call.offererEvents.isEmpty)
    let goodbyes = call.answererEvents.compactMap { event in
      if case .dtlsTransportStateChange(let state) = event { state } else { nil as DTLSTransportState? }
    }
    #expect(goodbyes == [.closed])
    #expect(call.answererEvents.closedChannels == 1)
    #expect(call.answerer.isConnected == false)
    // By itself, the peer's goodbye does not end this side (W3C).
    #expect(call.answererEvents.connectionStates == [])
    #expect(call.answerer.signalingState == .stable)
    // A closed connection is at rest: nothing is sent, nothing is due, and closing again does nothing.
    call.offerer.close(now: call.now)
    #expect(call.offerer.deadline == nil)
    call.run(for: .seconds(40))
    #expect(call.answerer.connectionState == .failed)
  }

  @Test func aClosedConnectionRefusesEverything() throws {
    var peer = PeerConnection.make()
    let audio = try peer.addTransceiver(.audio)
    let offer = try peer.createOffer(now: .zero)
    peer.close(now: .zero)
    #expect(peer.takeEvents().isEmpty)
    func name(_ body: () throws -> Void) -> PeerConnectionError.Name? {
      do { try body() } catch { return (error as? PeerConnectionError)?.name }
      return nil
    }
    #expect(name { _ = try peer.createOffer(now: .zero) } == .invalidState)
    #expect(name { _ = try peer.createAnswer(now: .zero) } == .invalidState)
    #expect(name { try peer.setLocalDescription(.offer, offer, now: .zero) } == .invalidState)
    #expect(name { try peer.setRemoteDescription(.offer, offer, now: .zero) } == .invalidState)
    #expect(name { _ = try peer.addTransceiver(.audio) } == .invalidState)
    #expect(name { _ = try peer.addTrack(.audio) } == .invalidState)
    #expect(name { try peer.removeTrack(audio) } == .invalidState)
    #expect(name { try peer.setDirection(.inactive, of: audio) } == .invalidState)
    #expect(name { try peer.stop(audio) } == .invalidState)
    #expect(name { _ = try peer.createDataChannel(ChannelOptionsFor.label("x")) } == .invalidState)
    #expect(name { try peer.addIceCandidate(nil, now: .zero) } == .invalidState)
    #expect(peer.takeEvents().isEmpty)
  }
}
