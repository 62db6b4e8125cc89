import Base
import SDP
import Testing

@testable import WebRTC

@Suite struct RenegotiationTests {
  /// Two peers with a sound section both ways.
  private func call() throws -> (Pair) {
    var pair = Pair()
    _ = try pair.a.addTrack(.audio)
    _ = try pair.b.addTrack(.audio)
    try exchange(&pair.a, &pair.b)
    _ = (pair.a.takeEvents(), pair.b.takeEvents())
    return pair
  }

  private struct Pair: ~Copyable {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
  }

  @Test func videoJoinsASoundCallFromEitherSide() throws {
    var pair = try call()
    _ = try pair.a.addTrack(.video)
    #expect(pair.a.takeEvents().negotiationsNeeded == 1)
    try exchange(&pair.a, &pair.b)
    #expect(pair.b.takeEvents().tracks.count == 1)
    #expect(pair.a.transceivers.map(\.currentDirection) == [.sendrecv, .sendonly])

    _ = try pair.b.addTrack(.video)
    #expect(pair.b.transceivers.count == 2)
    try exchange(&pair.b, &pair.a)
    #expect(pair.a.transceivers.map(\.currentDirection) == [.sendrecv, .sendrecv])
    #expect(pair.a.takeEvents().tracks == [pair.a.transceivers[1].identifier])
    #expect(pair.a.takeEvents().negotiationsNeeded == 0 && pair.b.takeEvents().negotiationsNeeded == 0)
  }

  @Test func aChangedDirectionTakesTheTrackAwayAndBringsItBack() throws {
    var pair = try call()
    let (own, theirs) = (pair.a.transceivers[0].identifier, pair.b.transceivers[0].identifier)
    try pair.a.setDirection(.recvonly, of: own)
    try exchange(&pair.a, &pair.b)
    #expect(pair.b.takeEvents().removedTracks == [theirs])
    #expect(pair.b.transceivers[0].currentDirection == .sendonly)
    try pair.a.setDirection(.sendrecv, of: own)
    try exchange(&pair.a, &pair.b)
    #expect(pair.b.takeEvents().tracks == [theirs])
    #expect(pair.b.transceivers[0].currentDirection == .sendrecv)
    // The answerer holds the call: the offerer's receiver is told by the answer.
    try pair.b.setDirection(.inactive, of: theirs)
    try exchange(&pair.b, &pair.a)
    #expect(pair.a.takeEvents().removedTracks == [own])
  }

  @Test func anAnswerThatDeclinesATrackTakesItBack() throws {
    var pair = try call()
    _ = try pair.a.addTrack(.video)
    try pair.a.setLocalDescription(now: .zero)
    try pair.b.setRemoteDescription(.offer, sdp: "\(pair.a.localDescription!.description)", now: .zero)
    let video = pair.b.transceivers[1].identifier
    #expect(pair.b.takeEvents().tracks == [video])
    try pair.b.setDirection(.inactive, of: video)
    try pair.b.setLocalDescription(now: .zero)
    #expect(pair.b.takeEvents().removedTracks == [video])
  }

  @Test func aStoppedTransceiverGoesAndItsSectionIsUsedAgain() throws {
    var pair = try call()
    let video = try pair.a.addTrack(.video)
    try exchange(&pair.a, &pair.b)
    _ = (pair.a.takeEvents(), pair.b.takeEvents())
    try pair.a.stop(video)
    #expect(pair.a.transceiver(video)?.direction == .stopped)
    #expect(pair.a.transceiver(video)?.currentDirection == .sendonly)
    #expect(pair.a.takeEvents().negotiationsNeeded == 1)
    try exchange(&pair.a, &pair.b)
    #expect(pair.a.transceivers.count == 1 && pair.b.transceivers.count == 1)
    #expect(pair.b.takeEvents().removedTracks.count == 1)
    #expect(pair.a.localDescription?.description.media[1].isRejected == true)
    #expect(pair.a.takeEvents().negotiationsNeeded == 0)

    let next = try pair.a.addTrack(.video)
    try exchange(&pair.a, &pair.b)
    #expect(pair.a.localDescription?.description.media.count == 2)
    #expect(pair.a.transceiver(next)?.currentDirection == .sendonly)
    #expect(pair.b.transceivers.count == 2)
    #expect(pair.a.takeEvents().negotiationsNeeded == 0)
  }

  @Test func thePeerUsesTheSectionAgainThatThisSideGaveUp() throws {
    var pair = try call()
    let video = try pair.a.addTrack(.video)
    try exchange(&pair.a, &pair.b)
    try pair.a.stop(video)
    try exchange(&pair.a, &pair.b)
    let theirs = try pair.b.addTrack(.video)
    try exchange(&pair.b, &pair.a)
    #expect(pair.b.localDescription?.description.media.count == 2)
    #expect(pair.b.transceiver(theirs)?.currentDirection == .sendonly)
    #expect(pair.a.transceivers.last?.currentDirection == .recvonly)
    #expect(pair.a.transceivers.last?.identifier != video)
  }

  @Test func whoStopsWhileAnsweringSendsNothingAndGivesTheSectionUpInAnOfferOfItsOwn() throws {
    var pair = try call()
    _ = try pair.a.addTrack(.video)
    try pair.a.setLocalDescription(now: .zero)
    try pair.b.setRemoteDescription(.offer, sdp: "\(pair.a.localDescription!.description)", now: .zero)
    try pair.b.stop(pair.b.transceivers[1].identifier)
    try pair.b.setLocalDescription(now: .zero)
    try pair.a.setRemoteDescription(.answer, sdp: "\(pair.b.localDescription!.description)", now: .zero)
    #expect(pair.b.localDescription?.description.media[1].isRejected == false)
    #expect(pair.b.transceivers[1].direction == .stopped && pair.b.transceivers[1].currentDirection == .inactive)
    #expect(pair.a.transceivers.map(\.currentDirection) == [.sendrecv, .inactive])
    #expect(pair.b.takeEvents().negotiationsNeeded == 1)
    try exchange(&pair.b, &pair.a)
    #expect(pair.a.transceivers.count == 1 && pair.b.transceivers.count == 1)
    #expect(pair.b.localDescription?.description.media[1].isRejected == true)
  }

  @Test func aTransceiverStoppedBeforeTheFirstOfferIsNotOffered() throws {
    var pair = Pair()
    let video = try pair.a.addTransceiver(.video)
    _ = try pair.a.addTransceiver(.audio)
    try pair.a.stop(video)
    try exchange(&pair.a, &pair.b)
    #expect(pair.a.localDescription?.description.media.map(\.kind) == [.audio])
    #expect(pair.a.transceivers.map(\.kind) == [.audio])
    #expect(pair.a.takeEvents().negotiationsNeeded == 0)
  }

  @Test func payloadTypesAndExtensionIdentifiersKeepTheirMeaningForLife() throws {
    var pair = try call()
    _ = try pair.a.addTrack(.video)
    try exchange(&pair.a, &pair.b)
    let before = pair.a.localDescription!.description
    _ = try pair.b.addTrack(.video)
    _ = try pair.b.addTrack(.video)
    try exchange(&pair.b, &pair.a)
    let after = pair.b.localDescription!.description
    func meanings(_ description: SessionDescription) -> [UInt8: String] {
      description.media.flatMap(\.rtpMaps).reduce(into: [:]) { $0[$1.payloadType] = "\($1.encodingName)/\($1.clockRate)" }
    }
    func extensions(_ description: SessionDescription) -> [UInt16: String] {
      description.media.flatMap(\.headerExtensions).reduce(into: [:]) { $0[$1.identifier] = $1.uri }
    }
    for (number, codec) in meanings(before) { #expect(meanings(after)[number] ?? codec == codec) }
    for (number, uri) in extensions(before) { #expect(extensions(after)[number] ?? uri == uri) }
    #expect(pair.a.transceivers[1].sendCodec?.payloadType == pair.b.transceivers[1].sendCodec?.payloadType)
  }

  @Test func theSessionVersionRisesAndTheSessionStays() throws {
    var pair = try call()
    let first = pair.a.localDescription!.description.origin
    try exchange(&pair.a, &pair.b)
    let second = pair.a.localDescription!.description.origin
    #expect(second.sessionIdentifier == first.sessionIdentifier)
    #expect(second.sessionVersion > first.sessionVersion)
  }
}

@Suite struct NegotiationNeededTests {
  @Test func itIsAskedForOnceForAllThatWasAdded() throws {
    var peer = PeerConnection.make()
    #expect(peer.takeEvents().negotiationsNeeded == 0)
    _ = try peer.addTransceiver(.audio)
    _ = try peer.addTransceiver(.video)
    #expect(peer.takeEvents().negotiationsNeeded == 1)
    #expect(peer.takeEvents().negotiationsNeeded == 0)
  }

  @Test func itIsNotAskedForOnceTheOfferIsUnderWay() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.addTransceiver(.audio)
    try a.setLocalDescription(now: .zero)
    #expect(a.takeEvents().negotiationsNeeded == 0)
    // What is added meanwhile is asked for when the exchange is over.
    _ = try a.addTransceiver(.video)
    #expect(a.takeEvents().negotiationsNeeded == 0)
    try b.setRemoteDescription(.offer, sdp: "\(a.localDescription!.description)", now: .zero)
    try b.setLocalDescription(now: .zero)
    try a.setRemoteDescription(.answer, sdp: "\(b.localDescription!.description)", now: .zero)
    #expect(a.takeEvents().negotiationsNeeded == 1)
    #expect(b.takeEvents().negotiationsNeeded == 0)
  }

  @Test func onlyTheFirstDataChannelAsks() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.createDataChannel(ChannelOptionsFor.label("one"))
    #expect(a.takeEvents().negotiationsNeeded == 1)
    try exchange(&a, &b)
    _ = try a.createDataChannel(ChannelOptionsFor.label("two"))
    #expect(a.takeEvents().negotiationsNeeded == 0)
    _ = try b.createDataChannel(ChannelOptionsFor.label("three"))
    #expect(b.takeEvents().negotiationsNeeded == 0)
  }

  @Test func anAnswerThatCouldNotNameTheStreamsAsks() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    // The peer only sends, and this side would send too: its section has no msid yet.
    _ = try a.addTransceiver(.audio, direction: .sendonly)
    try a.setLocalDescription(now: .zero)
    try b.setRemoteDescription(.offer, sdp: "\(a.localDescription!.description)", now: .zero)
    try b.setDirection(.sendrecv, of: b.transceivers[0].identifier)
    try b.setLocalDescription(now: .zero)
    #expect(b.takeEvents().negotiationsNeeded == 1)
    try exchange(&b, &a)
    #expect(b.takeEvents().negotiationsNeeded == 0)
    // Taken back before anybody acted on it: nothing to do.
    try b.setDirection(.inactive, of: b.transceivers[0].identifier)
    try b.setDirection(.sendrecv, of: b.transceivers[0].identifier)
    #expect(b.takeEvents().negotiationsNeeded == 0)
  }

  @Test func aDirectionThatTheAnswerKeptFromTheOfferDoesNotAsk() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    _ = try a.addTransceiver(.audio, direction: .recvonly)
    try a.setLocalDescription(now: .zero)
    try b.setRemoteDescription(.offer, sdp: "\(a.localDescription!.description)", now: .zero)
    try b.setDirection(.sendrecv, of: b.transceivers[0].identifier)
    try b.setLocalDescription(now: .zero)
    #expect(b.transceivers[0].currentDirection == .sendonly)
    #expect(b.takeEvents().negotiationsNeeded == 0)
    try b.setStreams(["other"], of: b.transceivers[0].identifier)
    #expect(b.takeEvents().negotiationsNeeded == 1)
  }

  @Test func aRollbackAsksAgain() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTransceiver(.audio)
    #expect(peer.takeEvents().negotiationsNeeded == 1)
    try peer.setLocalDescription(now: .zero)
    try peer.setLocalDescription(.rollback, now: .zero)
    #expect(peer.takeEvents().negotiationsNeeded == 1)
  }

  @Test func aRefusedDataSectionDoesNotAskForEver() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTransceiver(.audio)
    let channel = try peer.createDataChannel(ChannelOptionsFor.label("chat"))
    try peer.setLocalDescription(now: .zero)
    _ = peer.takeEvents()
    let answer = Foreign.description(
      [
        Foreign.opus(mid: peer.localDescription!.description.media[0].mid).replacing("actpass", with: "active"),
        "m=application 0 UDP/DTLS/SCTP webrtc-datachannel\na=mid:\(peer.localDescription!.description.media[1].mid!)",
      ], bundle: [peer.localDescription!.description.media[0].mid!])
    try peer.setRemoteDescription(.answer, sdp: answer, now: .zero)
    let events = peer.takeEvents()
    #expect(events.negotiationsNeeded == 0)
    #expect(events.closedChannels == 1)
    #expect(peer.dataChannel(channel) == nil && events.channelErrors.map(\.detail) == [.dataChannelFailure])
    _ = try peer.createDataChannel(ChannelOptionsFor.label("again"))
    #expect(peer.takeEvents().negotiationsNeeded == 1)
  }
}
