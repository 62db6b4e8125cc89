import Base
import SDP
import Testing

@testable import WebRTC

@Suite struct OfferAnswerTests {
  @Test func anOfferHasASectionForEachTransceiverInTheOrderOfCreation() throws {
    var peer = PeerConnection.make()
    let audio = try peer.addTransceiver(.audio, direction: .sendonly, streams: ["s"], trackIdentifier: "t")
    let video = try peer.addTransceiver(.video, direction: .recvonly)
    _ = try peer.createDataChannel(ChannelOptionsFor.label("chat"))
    try peer.setLocalDescription(now: .zero)
    let offer = peer.localDescription!.description
    #expect(offer.media.map(\.kind) == [.audio, .video, .application])
    #expect(offer.bundle?.mids == offer.media.map(\.mid!))
    #expect(peer.localSection(audio)?.direction == .sendonly)
    #expect(peer.localSection(audio)?.msids == [MSID(stream: "s", track: "t")])
    #expect(peer.localSection(video)?.direction == .recvonly)
    #expect(peer.localSection(video)?.msids == [])
    #expect(offer.media.allSatisfy { $0.setup == .actpass && $0.usernameFragment != nil && !$0.fingerprints.isEmpty })
    #expect(peer.signalingState == .haveLocalOffer)
    #expect(peer.pendingLocalDescription != nil && peer.currentLocalDescription == nil)
  }

  struct DirectionCase: Sendable, CustomTestStringConvertible {
    var offered: WebRTC.Direction
    var wanted: WebRTC.Direction
    var offerer: WebRTC.Direction
    var answerer: WebRTC.Direction
    var testDescription: String { "\(offered) answered by \(wanted)" }
  }

  static let directions = [
    DirectionCase(offered: .sendrecv, wanted: .sendrecv, offerer: .sendrecv, answerer: .sendrecv),
    DirectionCase(offered: .sendrecv, wanted: .recvonly, offerer: .sendonly, answerer: .recvonly),
    DirectionCase(offered: .sendrecv, wanted: .sendonly, offerer: .recvonly, answerer: .sendonly),
    DirectionCase(offered: .sendrecv, wanted: .inactive, offerer: .inactive, answerer: .inactive),
    DirectionCase(offered: .sendonly, wanted: .sendrecv, offerer: .sendonly, answerer: .recvonly),
    DirectionCase(offered: .sendonly, wanted: .sendonly, offerer: .inactive, answerer: .inactive),
    DirectionCase(offered: .recvonly, wanted: .sendrecv, offerer: .recvonly, answerer: .sendonly),
    DirectionCase(offered: .recvonly, wanted: .recvonly, offerer: .inactive, answerer: .inactive),
    DirectionCase(offered: .inactive, wanted: .sendrecv, offerer: .inactive, answerer: .inactive),
  ]

  @Test(arguments: directions) func bothSidesAgreeOnTheDirection(_ direction: DirectionCase) throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    _ = try offerer.addTransceiver(.audio, direction: direction.offered)
    try offerer.setLocalDescription(now: .zero)
    try answerer.setRemoteDescription(.offer, sdp: "\(offerer.localDescription!.description)", now: .zero)
    try answerer.setDirection(direction.wanted, of: answerer.transceivers[0].identifier)
    try answerer.setLocalDescription(now: .zero)
    try offerer.setRemoteDescription(.answer, sdp: "\(answerer.localDescription!.description)", now: .zero)
    #expect(offerer.transceivers[0].currentDirection == direction.offerer)
    #expect(answerer.transceivers[0].currentDirection == direction.answerer)
    #expect(offerer.signalingState == .stable && answerer.signalingState == .stable)
  }

  @Test func theReceiverLearnsOfATrackWithTheOfferAndOfItsStream() throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    _ = try offerer.addTrack(.video, streams: ["camera"], trackIdentifier: "front")
    try offerer.setLocalDescription(now: .zero)
    try answerer.setRemoteDescription(.offer, sdp: "\(offerer.localDescription!.description)", now: .zero)
    #expect(answerer.takeEvents().tracks == [answerer.transceivers[0].identifier])
    #expect(answerer.transceivers[0].receiveStreamIdentifiers == ["camera"])
    #expect(answerer.transceivers[0].receiveTrackIdentifier == "front")
    #expect(answerer.transceivers[0].direction == .recvonly)
  }

  @Test func aTrackAddedBeforeTheOfferAnswersOnItsSection() throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    _ = try offerer.addTrack(.video)
    let own = try answerer.addTrack(.video)
    try exchange(&offerer, &answerer)
    #expect(answerer.transceivers.map(\.identifier) == [own])
    #expect(answerer.transceivers[0].currentDirection == .sendrecv)
    #expect(offerer.transceivers[0].currentDirection == .sendrecv)
  }

  @Test func aTransceiverAddedByHandIsNotTakenForTheOffersSection() throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    _ = try offerer.addTrack(.video)
    let own = try answerer.addTransceiver(.video)
    try exchange(&offerer, &answerer)
    #expect(answerer.transceivers.count == 2)
    #expect(answerer.transceiver(own)?.mid == nil)
    // Its own section is still to be offered.
    #expect(answerer.takeEvents().negotiationsNeeded == 1)
  }

  @Test func addTrackTakesAFreeTransceiverAndNeverOneThatHasSent() throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    let free = try offerer.addTransceiver(.video, direction: .recvonly)
    let first = try offerer.addTrack(.video, streams: ["a"])
    #expect(first == free)
    #expect(offerer.transceiver(free)?.direction == .sendrecv)
    let second = try offerer.addTrack(.video, streams: ["a"])
    #expect(second != first)
    _ = try answerer.addTrack(.video)
    try exchange(&offerer, &answerer)
    try offerer.removeTrack(first)
    #expect(offerer.transceiver(first)?.direction == .recvonly)
    try exchange(&offerer, &answerer)
    // The sender was used: a third track gets a transceiver of its own.
    let third = try offerer.addTrack(.video)
    #expect(third != first && third != second)
  }

  @Test func withoutArgumentsTheStateDecidesWhetherAnOfferOrAnAnswerIsSet() throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    _ = try offerer.addTransceiver(.audio)
    try offerer.setLocalDescription(now: .zero)
    #expect(offerer.localDescription?.type == .offer)
    // Again: still an offer.
    try offerer.setLocalDescription(now: .zero)
    #expect(offerer.signalingState == .haveLocalOffer)
    try answerer.setRemoteDescription(.offer, sdp: "\(offerer.localDescription!.description)", now: .zero)
    try answerer.setLocalDescription(now: .zero)
    #expect(answerer.localDescription?.type == .answer)
    #expect(answerer.signalingState == .stable)
    #expect(answerer.takeEvents().signalingStates == [.haveRemoteOffer, .stable])
  }

  @Test func aSecondOfferTakesThePlaceOfTheFirst() throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    _ = try offerer.addTransceiver(.audio)
    let (first, second) = (try offerer.createOffer(now: .zero), try offerer.createOffer(now: .zero))
    try offerer.setLocalDescription(.offer, first, now: .zero)
    try offerer.setLocalDescription(.offer, second, now: .zero)
    #expect(offerer.transceivers[0].mid == second.media[0].mid)
    _ = try offerer.addTransceiver(.video)
    try offerer.setLocalDescription(now: .zero)
    try answerer.setRemoteDescription(.offer, sdp: "\(offerer.localDescription!.description)", now: .zero)
    try answerer.setLocalDescription(now: .zero)
    try offerer.setRemoteDescription(.answer, sdp: "\(answerer.localDescription!.description)", now: .zero)
    #expect(offerer.transceivers.map(\.currentDirection) == [.sendonly, .sendonly])
  }

  @Test func aProvisionalAnswerIsReplacedByTheFinalOne() throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    _ = try offerer.addTrack(.audio)
    _ = try answerer.addTrack(.audio)
    try offerer.setLocalDescription(now: .zero)
    try answerer.setRemoteDescription(.offer, sdp: "\(offerer.localDescription!.description)", now: .zero)
    var early = try answerer.createAnswer(now: .zero)
    early.media[0].direction = .inactive
    try answerer.setLocalDescription(.pranswer, early, now: .zero)
    try offerer.setRemoteDescription(.pranswer, sdp: "\(early)", now: .zero)
    #expect(answerer.signalingState == .haveLocalProvisionalAnswer)
    #expect(offerer.signalingState == .haveRemoteProvisionalAnswer)
    #expect(offerer.transceivers[0].currentDirection == .inactive)
    #expect(offerer.pendingRemoteDescription != nil && offerer.currentRemoteDescription == nil)
    #expect(throws: PeerConnectionError.self) { try offerer.setRemoteDescription(.rollback, early, now: .zero) }

    try answerer.setLocalDescription(now: .zero)
    try offerer.setRemoteDescription(.answer, sdp: "\(answerer.localDescription!.description)", now: .zero)
    #expect(offerer.transceivers[0].currentDirection == .sendrecv)
    #expect(offerer.takeEvents().signalingStates == [.haveLocalOffer, .haveRemoteProvisionalAnswer, .stable])
    #expect(offerer.currentRemoteDescription != nil && offerer.pendingRemoteDescription == nil)
  }

  @Test func aSectionRefusedProvisionallyCanStillBeAccepted() throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    let audio = try offerer.addTransceiver(.audio)
    _ = try offerer.addTransceiver(.video)
    try offerer.setLocalDescription(now: .zero)
    try answerer.setRemoteDescription(.offer, sdp: "\(offerer.localDescription!.description)", now: .zero)
    var early = try answerer.createAnswer(now: .zero)
    early.media[0].port = 0
    early.groups = [Group(semantics: "BUNDLE", mids: [early.media[1].mid!])]
    try offerer.setRemoteDescription(.pranswer, sdp: "\(early)", now: .zero)
    #expect(offerer.transceiver(audio)?.currentDirection == .inactive)
    try answerer.setLocalDescription(now: .zero)
    try offerer.setRemoteDescription(.answer, sdp: "\(answerer.localDescription!.description)", now: .zero)
    #expect(offerer.transceiver(audio)?.currentDirection == .sendonly)
  }

  @Test func aDescriptionInTheWrongStateIsRefusedAndChangesNothing() throws {
    var offerer = PeerConnection.make(seed: 1)
    var answerer = PeerConnection.make(seed: 2)
    _ = try offerer.addTransceiver(.audio)
    let offer = try offerer.createOffer(now: .zero)
    func expectInvalidState(_ body: () throws -> Void) {
      do { try body() } catch let error as PeerConnectionError { return #expect(error.name == .invalidState) } catch {}
      Issue.record("an InvalidStateError was due")
    }
    expectInvalidState { try answerer.setRemoteDescription(.answer, offer, now: .zero) }
    expectInvalidState { try answerer.setRemoteDescription(.pranswer, offer, now: .zero) }
    expectInvalidState { try answerer.setLocalDescription(.answer, offer, now: .zero) }
    expectInvalidState { try answerer.setLocalDescription(.rollback, now: .zero) }
    expectInvalidState { _ = try answerer.createAnswer(now: .zero) }
    #expect(answerer.signalingState == .stable && answerer.takeEvents().isEmpty)
    try answerer.setRemoteDescription(.offer, offer, now: .zero)
    expectInvalidState { try answerer.setLocalDescription(.offer, offer, now: .zero) }
    expectInvalidState { _ = try answerer.createOffer(now: .zero) }
    #expect(answerer.signalingState == .haveRemoteOffer)
  }
}
