import Base
import Bytes
import SDP
import Testing

@testable import WebRTC

@Suite struct ICERestartTests {
  private func connected() throws -> Call {
    var call = Call()
    _ = try call.offerer.addTransceiver(.video)
    _ = try call.offerer.createDataChannel(ChannelOptionsFor.label("chat"))
    try call.negotiate()
    call.run(for: .seconds(1))
    #expect(call.offerer.isConnected && call.answerer.isConnected)
    call.forgetEvents()
    return call
  }

  /// Sends a text from the offerer, and says whether it arrived.
  private func carries(_ call: inout Call, _ text: String) throws -> Bool {
    let bytes = Array(text.utf8)
    try call.offerer.send(bytes.span.bytes, isText: true, on: call.offerer.dataChannels[0].identifier, now: call.now)
    call.run(for: .milliseconds(500))
    return call.answererEvents.contains { event in if case .dataChannelMessage(_, bytes, isText: true) = event { true } else { false } }
  }

  @Test(arguments: [true, false]) func eitherSideRestartsWithoutAnInterruption(isOfferer: Bool) throws {
    var call = try connected()
    let before = call.offerer.localDescription!.description.media[0].usernameFragment
    if isOfferer { call.offerer.restartIce() } else { call.answerer.restartIce() }
    call.drain()
    #expect((isOfferer ? call.offererEvents : call.answererEvents).negotiationsNeeded == 1)
    if isOfferer {
      try exchange(&call.offerer, &call.answerer, now: call.now)
    } else {
      try exchange(&call.answerer, &call.offerer, now: call.now)
    }
    #expect(call.offerer.localDescription!.description.media[0].usernameFragment != before)
    // The peers' candidates come by trickling.
    try trickle(&call)
    #expect(try carries(&call, "across"))
    call.run(for: .seconds(40))
    #expect(try carries(&call, "after"))
    #expect(call.offererEvents.connectionStates == [] && call.answererEvents.connectionStates == [])
    #expect(call.offererEvents.negotiationsNeeded + call.answererEvents.negotiationsNeeded == 1)
    #expect(call.offerer.transport.ice.localParameters.usernameFragment == call.answerer.transport.ice.remoteParameters?.usernameFragment)
    #expect(call.answerer.transport.ice.localParameters.usernameFragment == call.offerer.transport.ice.remoteParameters?.usernameFragment)
  }

  private func trickle(_ call: inout Call) throws {
    call.drain()
    let (a, b) = (call.offerer.transport.ice.localParameters.usernameFragment, call.answerer.transport.ice.localParameters.usernameFragment)
    for event in call.offererEvents {
      guard case .iceCandidate(let candidate?) = event, candidate.usernameFragment == a else { continue }
      try call.answerer.addIceCandidate(candidate, now: call.now)
    }
    for event in call.answererEvents {
      guard case .iceCandidate(let candidate?) = event, candidate.usernameFragment == b else { continue }
      try call.offerer.addIceCandidate(candidate, now: call.now)
    }
  }

  @Test func aRestartTakenBackGoesOnWithTheOldCredentials() throws {
    var call = try connected()
    let before = call.offerer.localDescription!.description.media[0]
    call.offerer.restartIce()
    try call.offerer.setLocalDescription(now: call.now)
    #expect(call.offerer.localDescription!.description.media[0].usernameFragment != before.usernameFragment)
    call.run(for: .seconds(12))
    #expect(try carries(&call, "meanwhile"))
    try call.offerer.setLocalDescription(.rollback, now: call.now)
    #expect(call.offerer.localDescription!.description.media[0].usernameFragment == before.usernameFragment)
    #expect(call.offerer.localDescription!.description.media[0].candidates == before.candidates)
    #expect(try carries(&call, "afterwards"))
    call.run(for: .seconds(40))
    #expect(try carries(&call, "much later"))
    #expect(call.offererEvents.connectionStates == [] && call.answererEvents.connectionStates == [])
    // It is still wanted.
    #expect(call.offererEvents.negotiationsNeeded == 1)
    try exchange(&call.offerer, &call.answerer, now: call.now)
    try trickle(&call)
    #expect(call.offerer.localDescription!.description.media[0].usernameFragment != before.usernameFragment)
    #expect(try carries(&call, "anew"))
  }

  @Test func candidatesThatComeBetweenTheRestartsOfferAndItsAnswerAreKept() throws {
    var call = try connected()
    let offer = try call.offerer.createOffer(isIceRestart: true, now: call.now)
    try call.offerer.setLocalDescription(.offer, offer, now: call.now)
    try call.answerer.setRemoteDescription(.offer, sdp: "\(offer)", now: call.now)
    call.drain()
    let old = call.answerer.transport.ice.remoteCandidates
    for event in call.offererEvents {
      if case .iceCandidate(let candidate?) = event { try call.answerer.addIceCandidate(candidate, now: call.now) }
    }
    #expect(call.answerer.transport.ice.remoteCandidates == old)
    try call.answerer.setLocalDescription(now: call.now)
    #expect(call.answerer.transport.ice.remoteCandidates.contains { $0.address == Call.offererAddress })
    #expect(call.answerer.remoteDescription!.description.media[0].candidates.isEmpty == false)
  }

  @Test func anOfferMadeWithARestartAndNotUsedRestartsNothing() throws {
    var call = try connected()
    let before = call.offerer.transport.ice.localParameters
    _ = try call.offerer.createOffer(isIceRestart: true, now: call.now)
    try exchange(&call.offerer, &call.answerer, now: call.now)
    #expect(call.offerer.transport.ice.localParameters == before)
  }

  @Test func aRestartBeforeTheFirstExchangeMeansNothing() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTransceiver(.audio)
    _ = peer.takeEvents()
    peer.restartIce()
    #expect(peer.takeEvents().isEmpty)
    let fragment = peer.transport.ice.localParameters.usernameFragment
    #expect(try peer.createOffer(isIceRestart: true, now: .zero).media[0].usernameFragment == fragment)
  }

  @Test func anotherCertificateIsRefusedOnceThereIsAnAssociation() throws {
    var call = try connected()
    var offer = try call.offerer.createOffer(now: call.now)
    for index in offer.media.indices {
      offer.media[index].fingerprints[0].value = String(offer.media[index].fingerprints[0].value.reversed())
    }
    #expect(throws: PeerConnectionError.self) { try call.answerer.setRemoteDescription(.offer, sdp: "\(offer)", now: call.now) }
    #expect(call.answerer.signalingState == .stable && call.answerer.isConnected)
  }
}
