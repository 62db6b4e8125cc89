import Base
import SDP
import Testing

@testable import WebRTC

@Suite struct LocalDescriptionTests {
  @Test func onlyTheDescriptionMadeLastIsTaken() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTransceiver(.audio)
    let first = "\(try peer.createOffer(now: .zero))"
    _ = try peer.addTransceiver(.video)
    let second = "\(try peer.createOffer(now: .zero))"
    for text in [first, second.replacing("sendrecv", with: "sendonly"), "nonsense"] {
      let error = #expect(throws: PeerConnectionError.self) { try peer.setLocalDescription(.offer, sdp: text, now: .zero) }
      #expect(error?.name == .invalidModification)
    }
    #expect(peer.signalingState == .stable)
    try peer.setLocalDescription(.offer, sdp: second, now: .zero)
    #expect(peer.signalingState == .haveLocalOffer && peer.pendingLocalDescription?.media.count == 2)
  }

  @Test func theStateComesBeforeTheText() throws {
    var peer = PeerConnection.make()
    for type in [DescriptionType.answer, .pranswer, .rollback] {
      let error = #expect(throws: PeerConnectionError.self) { try peer.setLocalDescription(type, sdp: "nonsense", now: .zero) }
      #expect(error?.name == .invalidState)
    }
    let error = #expect(throws: PeerConnectionError.self) { try peer.setRemoteDescription(.answer, sdp: "nonsense", now: .zero) }
    #expect(error?.name == .invalidState)
    peer.close(now: .zero)
    let closed = #expect(throws: PeerConnectionError.self) { try peer.setLocalDescription(nil, sdp: "", now: .zero) }
    #expect(closed?.name == .invalidState)
  }

  @Test func anOfferOutlivesAnExchangeThatCameToNothing() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.addTrack(.audio)
    let video = try a.addTrack(.video)
    let offer = "\(try a.createOffer(now: .zero))"
    _ = try b.addTransceiver(.video)
    _ = try b.addTransceiver(.audio)
    try a.setRemoteDescription(.offer, sdp: "\(try b.createOffer(now: .zero))", now: .zero)
    let answer = "\(try a.createAnswer(now: .zero))"
    #expect(a.transceiver(video)?.sectionIndex == 0)
    try a.setRemoteDescription(.rollback, sdp: "", now: .zero)
    try a.setLocalDescription(.offer, sdp: offer, now: .zero)
    #expect(a.transceiver(video)?.sectionIndex == 1)
    // The answer is remembered beside the offer.
    try a.setLocalDescription(.rollback, sdp: "", now: .zero)
    try a.setRemoteDescription(.offer, sdp: "\(try b.createOffer(now: .zero))", now: .zero)
    try a.setLocalDescription(.answer, sdp: answer, now: .zero)
    #expect(a.signalingState == .stable)
  }

  @Test func aProvisionalAnswerIsFollowedByAnAnswer() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.addTrack(.audio)
    try a.setLocalDescription(now: .zero)
    try b.setRemoteDescription(.offer, sdp: "\(a.localDescription!.description)", now: .zero)
    let answer = "\(try b.createAnswer(now: .zero))"
    try b.setLocalDescription(.pranswer, sdp: answer, now: .zero)
    #expect(b.signalingState == .haveLocalProvisionalAnswer && b.currentLocalDescription == nil)
    try a.setRemoteDescription(.pranswer, sdp: answer, now: .zero)
    #expect(a.signalingState == .haveRemoteProvisionalAnswer)
    for _ in 0..<2 {
      let refusal = #expect(throws: PeerConnectionError.self) { try b.setLocalDescription(.rollback, sdp: "", now: .zero) }
      #expect(refusal?.name == .invalidState)
    }
    try b.setLocalDescription(.answer, sdp: answer, now: .zero)
    try a.setRemoteDescription(.answer, sdp: answer, now: .zero)
    #expect(a.signalingState == .stable && b.signalingState == .stable)
  }

  @Test func laterOffersCarryTheCandidatesOfTheFirst() throws {
    var call = Call()
    _ = try call.offerer.addTrack(.audio)
    try call.negotiate()
    call.run(for: .seconds(1))
    let offer = try call.offerer.createOffer(now: call.now)
    #expect(!offer.media[0].candidates.isEmpty && offer.media[0].hasEndOfCandidates)
    try call.offerer.setLocalDescription(.offer, sdp: "\(offer)", now: call.now)
    #expect("\(call.offerer.pendingLocalDescription!)" == "\(offer)")
  }

  @Test func anOfferMadeBeforeARestartIsTooOld() throws {
    var call = Call()
    _ = try call.offerer.addTrack(.audio)
    try call.negotiate()
    call.run(for: .seconds(1))
    let offer = "\(try call.answerer.createOffer(now: call.now))"
    call.offerer.restartIce()
    try call.negotiate()
    let error = #expect(throws: PeerConnectionError.self) { try call.answerer.setLocalDescription(.offer, sdp: offer, now: call.now) }
    #expect(error?.name == .invalidModification)
  }

  @Test func whetherThePeerTakesCandidatesLater() throws {
    var peer = PeerConnection.make()
    #expect(peer.canTrickleIceCandidates == nil)
    try peer.setRemoteDescription(.offer, sdp: Foreign.description([Foreign.opus()]), now: .zero)
    #expect(peer.canTrickleIceCandidates == false)
    let trickling = Foreign.description([Foreign.opus()], session: "a=ice-options:trickle ice2")
    try peer.setRemoteDescription(.offer, sdp: trickling, now: .zero)
    #expect(peer.canTrickleIceCandidates == true)
  }
}

@Suite struct RemoteDescriptionTests {
  private func refusal(_ offer: String) -> PeerConnectionError.Name? {
    var peer = PeerConnection.make()
    do throws(PeerConnectionError) {
      try peer.setRemoteDescription(.offer, sdp: offer, now: .zero)
      return nil
    } catch {
      return error.name
    }
  }

  @Test func credentialsHaveTheirCharactersAndLength() {
    let offer = Foreign.description([Foreign.opus()])
    #expect(refusal(offer) == nil)
    #expect(
      refusal(offer.replacing("F7gI", with: "F7$I")) == .invalidAccess && refusal(offer.replacing("F7gI", with: "F7g")) == .invalidAccess)
    #expect(
      refusal(offer.replacing("x9cml/", with: "x9cml$")) == .invalidAccess && refusal(offer.replacing("x9cml/", with: "")) == .invalidAccess
    )
  }

  @Test func payloadTypesThatRTCPHasAreRefused() {
    for number in [35, 63, 64, 95, 96, 127] {
      let offer = Foreign.description([Foreign.opus()]).replacing("111", with: "\(number)")
      #expect(refusal(offer) == ((64...95).contains(number) ? .invalidAccess : nil))
    }
  }

  @Test func anAnswerKeepsTheMeaningOfExtensions() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.addTransceiver(.audio)
    try exchange(&a, &b)
    try a.setLocalDescription(now: .zero)
    try b.setRemoteDescription(.offer, sdp: "\(a.localDescription!.description)", now: .zero)
    var answer = try b.createAnswer(now: .zero)
    let (first, second) = (answer.media[0].headerExtensions[0].uri, answer.media[0].headerExtensions[1].uri)
    (answer.media[0].headerExtensions[0].uri, answer.media[0].headerExtensions[1].uri) = (second, first)
    let error = #expect(throws: PeerConnectionError.self) { try a.setRemoteDescription(.answer, sdp: "\(answer)", now: .zero) }
    #expect(error?.name == .invalidAccess && a.signalingState == .haveLocalOffer)
  }

  @Test func aStreamGivenTwiceIsNamedOnce() throws {
    var peer = PeerConnection.make()
    let audio = try peer.addTrack(.audio, streams: ["desk", "desk", "room"])
    let named = try peer.createOffer(now: .zero).media[0].msids.map(\.stream)
    #expect(named == ["desk", "room"])
    try peer.setStreams([], of: audio)
    let unnamed = try peer.createOffer(now: .zero).media[0].msids.map(\.stream)
    #expect(unnamed == ["-"])
  }
}

@Suite struct GatheringTests {
  private func states(_ events: [PeerConnectionEvent]) -> [String] {
    events.compactMap { event in
      switch event {
      case .iceGatheringStateChange(let state): state.rawValue
      case .iceCandidate(let candidate): candidate.map { $0.candidate.isEmpty ? "end" : nil } ?? "null"
      default: nil
      }
    }
  }

  @Test func theEndOfCandidatesIsToldBeforeTheState() throws {
    var call = Call()
    _ = try call.offerer.addTransceiver(.audio)
    try call.offerer.setLocalDescription(now: call.now)
    call.drain()
    #expect(states(call.offererEvents) == ["gathering", "end", "complete", "null"])
    // The same transport again: nothing new.
    call.forgetEvents()
    try call.offerer.setLocalDescription(now: call.now)
    call.drain()
    #expect(states(call.offererEvents).isEmpty)
    // Nothing is offered any more.
    try call.offerer.setLocalDescription(.rollback, now: call.now)
    call.drain()
    #expect(states(call.offererEvents) == ["new"] && call.offerer.iceGatheringState == .new)
    call.forgetEvents()
    try call.offerer.setLocalDescription(now: call.now)
    call.drain()
    #expect(states(call.offererEvents) == ["gathering", "end", "complete", "null"])
  }

  @Test func anOfferOfNothingGathersNothing() throws {
    var call = Call()
    try call.offerer.setLocalDescription(now: call.now)
    call.drain()
    #expect(call.offererEvents.signalingStates == [.haveLocalOffer] && call.offerer.iceGatheringState == .new)
  }

  @Test func givingAllSectionsUpEndsGathering() throws {
    var call = Call()
    let audio = try call.offerer.addTrack(.audio)
    try call.negotiate()
    call.run(for: .seconds(1))
    try call.offerer.stop(audio)
    try call.negotiate()
    #expect(call.offerer.iceGatheringState == .new && call.answerer.iceGatheringState == .new)
    // And a new section is connected again.
    _ = try call.offerer.addTrack(.video)
    try call.negotiate()
    call.run(for: .seconds(1))
    #expect(call.offerer.isConnected && call.offerer.iceGatheringState == .complete)
  }
}
