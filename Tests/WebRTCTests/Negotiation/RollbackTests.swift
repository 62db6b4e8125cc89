import Base
import SDP
import Testing

@testable import WebRTC

@Suite struct RollbackTests {
  @Test func aLocalOfferTakenBackFreesItsTransceivers() throws {
    var peer = PeerConnection.make()
    let audio = try peer.addTransceiver(.audio)
    try peer.setLocalDescription(now: .zero)
    #expect(peer.transceiver(audio)?.mid != nil)
    try peer.setLocalDescription(.rollback, now: .zero)
    #expect(peer.signalingState == .stable)
    #expect(peer.localDescription == nil)
    #expect(peer.transceiver(audio)?.mid == nil)
    #expect(peer.takeEvents().signalingStates == [.haveLocalOffer, .stable])
    // And it can be offered again.
    var other = PeerConnection.make(seed: 2)
    try exchange(&peer, &other)
    #expect(peer.transceiver(audio)?.currentDirection == .sendonly)
  }

  @Test func aRemoteOfferTakenBackTakesItsTracksWithIt() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.addTrack(.audio)
    try a.setLocalDescription(now: .zero)
    try b.setRemoteDescription(.offer, sdp: "\(a.localDescription!.description)", now: .zero)
    let track = b.takeEvents().tracks
    #expect(track.count == 1)
    try b.setRemoteDescription(.rollback, SessionDescription(origin: Origin(sessionIdentifier: 0, sessionVersion: 0)), now: .zero)
    #expect(b.takeEvents().removedTracks == track)
    #expect(b.transceivers.isEmpty && b.remoteDescription == nil && b.signalingState == .stable)
  }

  @Test func aTransceiverOfARemoteOfferStaysWhenItWasGivenATrack() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.addTrack(.audio)
    try a.setLocalDescription(now: .zero)
    try b.setRemoteDescription(.offer, sdp: "\(a.localDescription!.description)", now: .zero)
    let own = try b.addTrack(.audio)
    #expect(own == b.transceivers[0].identifier)
    try b.setRemoteDescription(.rollback, sdp: "", now: .zero)
    #expect(b.transceivers.map(\.identifier) == [own])
    #expect(b.transceiver(own)?.mid == nil && b.transceiver(own)?.direction == .sendrecv)
    #expect(b.takeEvents().negotiationsNeeded == 1)
  }

  @Test func aRolledBackRemovalBringsTheTrackBack() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    let audio = try a.addTrack(.audio)
    try exchange(&a, &b)
    _ = b.takeEvents()
    try a.removeTrack(audio)
    try a.setLocalDescription(now: .zero)
    try b.setRemoteDescription(.offer, sdp: "\(a.localDescription!.description)", now: .zero)
    let track = b.transceivers[0].identifier
    #expect(b.takeEvents().removedTracks == [track])
    // Each side takes back its own offers only.
    #expect(throws: PeerConnectionError.self) { try b.setLocalDescription(.rollback, now: .zero) }
    try b.setRemoteDescription(.rollback, sdp: "not read", now: .zero)
    #expect(b.takeEvents().tracks == [track])
    #expect(b.transceivers[0].currentDirection == .recvonly)
  }

  @Test func whenOffersMeetThePoliteSideGivesWay() throws {
    var polite = PeerConnection.make(seed: 1)
    var impolite = PeerConnection.make(seed: 2)
    _ = try polite.addTrack(.video, trackIdentifier: "polite")
    _ = try impolite.addTrack(.video, trackIdentifier: "impolite")
    try polite.setLocalDescription(now: .zero)
    try impolite.setLocalDescription(now: .zero)
    _ = polite.takeEvents()
    // The impolite side ignores the other's offer.
    try polite.setRemoteDescription(.offer, sdp: "\(impolite.localDescription!.description)", now: .zero)
    #expect(polite.takeEvents().signalingStates == [.stable, .haveRemoteOffer])
    try polite.setLocalDescription(now: .zero)
    try impolite.setRemoteDescription(.answer, sdp: "\(polite.localDescription!.description)", now: .zero)
    // Its own track answers on the section that the other offered: nothing is left to be offered.
    #expect(polite.transceivers.map(\.currentDirection) == [.sendrecv])
    #expect(impolite.transceivers.map(\.currentDirection) == [.sendrecv])
    #expect(polite.takeEvents().negotiationsNeeded == 0)
    #expect(polite.transport.ice.isControlling == false && impolite.transport.ice.isControlling == true)
  }

  @Test func anOfferThatCannotBeTakenRollsBackAllTheSame() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.addTrack(.audio)
    try a.setLocalDescription(now: .zero)
    _ = a.takeEvents()
    let error = #expect(throws: PeerConnectionError.self) { try a.setRemoteDescription(.offer, sdp: "v=0\r\nInvalid SDP", now: .zero) }
    #expect(error?.name == .operation && error?.detail == .sdpSyntaxError && error?.sdpLineNumber == 2)
    #expect(a.signalingState == .stable && a.transceivers[0].mid == nil && a.localDescription == nil)
    let events = a.takeEvents()
    #expect(events.signalingStates == [.stable] && events.negotiationsNeeded == 1)
    try exchange(&a, &b)
    #expect(a.transceivers[0].currentDirection == .sendonly)
  }

  @Test func aRollbackReturnsToWhatWasAgreedOn() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.addTrack(.audio)
    try exchange(&a, &b)
    let agreed = a.currentLocalDescription
    let video = try a.addTrack(.video)
    try a.setDirection(.inactive, of: a.transceivers[0].identifier)
    try a.setLocalDescription(now: .zero)
    try a.setLocalDescription(.rollback, now: .zero)
    #expect(a.currentLocalDescription == agreed && a.pendingLocalDescription == nil)
    #expect(a.transceivers[0].currentDirection == .sendonly)
    // What the application wants is no part of the exchange.
    #expect(a.transceivers[0].direction == .inactive)
    #expect(a.transceiver(video)?.mid == nil)
    try exchange(&a, &b)
    #expect(a.transceivers[0].currentDirection == .inactive)
    #expect(a.transceiver(video)?.currentDirection == .sendonly)
  }
}
