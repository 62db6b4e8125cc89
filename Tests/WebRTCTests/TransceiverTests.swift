import Base
import SDP
import Testing

@testable import WebRTC

@Suite struct TransceiverTests {
  @Test func whoKeepsSendersOfItsOwnDecidesWhatATransceiverSends() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    let audio = try a.addTransceiver(.audio, direction: .recvonly, hasTrack: false)
    try exchange(&a, &b)
    _ = a.takeEvents()
    #expect(a.transceiver(audio)?.hasTrack == false && a.transceiver(audio)?.isAddedByTrack == false)
    // addTrack, as a page's script takes it apart.
    try a.setTrack("microphone", of: audio)
    #expect(a.takeEvents().negotiationsNeeded == 0)
    try a.setStreams(["desk", "desk", "room"], of: audio)
    try a.setDirection(.sendrecv, of: audio)
    a.setAddedByTrack(true, of: audio)
    #expect(a.takeEvents().negotiationsNeeded == 1)
    #expect(a.transceiver(audio)?.sendStreamIdentifiers == ["desk", "room"])
    try exchange(&a, &b)
    #expect(b.transceivers[0].receiveStreamIdentifiers == ["desk", "room"] && b.transceivers[0].isRemoteSending)
    // removeTrack.
    try a.setTrack(nil, of: audio)
    try a.setDirection(.recvonly, of: audio)
    #expect(a.transceiver(audio)?.hasTrack == false)
    try exchange(&a, &b)
    #expect(!b.transceivers[0].isRemoteSending && b.transceivers[0].receiveStreamIdentifiers.isEmpty)
  }

  @Test func aReplacedTrackKeepsTheNameThatTheSectionHas() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    let video = try a.addTransceiver(.video, trackIdentifier: "first")
    try a.setTrack("second", of: video)
    try exchange(&a, &b)
    #expect(b.transceivers[0].receiveTrackIdentifier == "second")
    try a.setTrack("third", of: video)
    #expect(a.takeEvents().negotiationsNeeded == 0)
    try exchange(&a, &b)
    #expect(a.localSection(video)?.msids.first?.track == "second")
  }

  @Test func transceiversKnowTheirSections() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    let audio = try a.addTransceiver(.audio)
    let video = try a.addTransceiver(.video)
    #expect(a.transceiver(audio)?.mid == nil && a.transceiver(audio)?.sectionIndex == nil)
    try exchange(&a, &b)
    let media = a.localDescription!.description.media
    for identifier in [audio, video] {
      let transceiver = a.transceiver(identifier)
      #expect(media[try #require(transceiver?.sectionIndex)].mid == transceiver?.mid)
    }
    #expect(b.transceivers.map(\.sectionIndex) == [0, 1] && b.transceivers.map(\.mid) == media.map(\.mid))
  }

  @Test func anOfferMadeTwiceNamesTheSameSections() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTransceiver(.audio)
    _ = try peer.createDataChannel(ChannelOptionsFor.label("chat"))
    let first = try peer.createOffer(now: .zero)
    _ = try peer.addTransceiver(.video)
    let second = try peer.createOffer(now: .zero)
    #expect(first.media.compactMap(\.mid) == second.media.filter { $0.kind != .video }.compactMap(\.mid))
    #expect(Set(second.media.compactMap(\.mid)).count == 3)
  }

  @Test func aTransceiverStoppedAfterItsOfferWasMadeStillTakesItsSection() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    let audio = try a.addTrack(.audio)
    let offer = try a.createOffer(now: .zero)
    try a.stop(audio)
    try a.setLocalDescription(.offer, sdp: "\(offer)", now: .zero)
    #expect(a.transceiver(audio)?.mid == offer.media[0].mid)
    _ = try b.addTrack(.audio, streams: ["theirs"])
    try b.setRemoteDescription(.offer, sdp: "\(offer)", now: .zero)
    try b.setLocalDescription(now: .zero)
    _ = a.takeEvents()
    try a.setRemoteDescription(.answer, sdp: "\(b.localDescription!.description)", now: .zero)
    #expect(a.transceiver(audio)?.currentDirection == .sendrecv && a.transceiver(audio)?.isStopped == false)
    let events = a.takeEvents()
    #expect(events.tracks == [audio] && events.negotiationsNeeded == 1)
    try exchange(&a, &b)
    #expect(a.transceivers.isEmpty && b.transceivers.isEmpty)
  }

  @Test func thePeerThatGivesASectionUpStopsTheTransceiverWithItsOffer() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    let audio = try a.addTrack(.audio)
    try exchange(&a, &b)
    try a.stop(audio)
    #expect(a.transceiver(audio)?.isStopping == true && a.transceiver(audio)?.isStopped == false)
    try a.setLocalDescription(now: .zero)
    try b.setRemoteDescription(.offer, sdp: "\(a.localDescription!.description)", now: .zero)
    #expect(b.transceivers.map(\.isStopped) == [true])
    try b.setLocalDescription(now: .zero)
    #expect(b.transceivers.isEmpty)
  }

  @Test func streamsWithoutNamesShareOne() throws {
    var peer = PeerConnection.make()
    let sections = [
      Foreign.opus(mid: "a", lines: "a=ssrc:1 cname:x"), Foreign.opus(mid: "b"), Foreign.opus(mid: "c", lines: "a=msid:-"),
      Foreign.opus(mid: "d", lines: "a=ssrc:2 msid:plan b"), Foreign.opus(mid: "e", lines: "a=msid:named track"),
    ]
    try peer.setRemoteDescription(.offer, sdp: Foreign.description(sections, bundle: ["a", "b", "c", "d", "e"]), now: .zero)
    let streams = peer.transceivers.map(\.receiveStreamIdentifiers)
    #expect(streams[0].count == 1 && streams[0] == streams[1])
    #expect(streams[2].isEmpty && streams[3] == ["plan"] && streams[4] == ["named"])
    #expect(peer.transceivers[3].receiveTrackIdentifier == "b" && peer.transceivers[4].receiveTrackIdentifier == "track")
  }

  @Test func whatEncodingsMayNotBe() throws {
    var peer = PeerConnection.make()
    func refusal(_ encodings: [SendEncoding]) -> PeerConnectionError.Name? {
      do throws(PeerConnectionError) {
        _ = try peer.addTransceiver(.video, encodings: encodings)
        return nil
      } catch {
        return error.name
      }
    }
    var small = SendEncoding()
    small.scaleResolutionDownBy = 0.5
    var backwards = SendEncoding()
    backwards.maximumFrameRate = -1
    #expect(refusal([small]) == .range && refusal([backwards]) == .range)
    #expect(refusal([SendEncoding(rid: "a"), SendEncoding()]) == .type)
    #expect(refusal([SendEncoding(rid: "a"), SendEncoding(rid: "a")]) == .type)
    #expect(refusal([SendEncoding(rid: "a-b"), SendEncoding(rid: "b")]) == .type)
    #expect(peer.transceivers.isEmpty)
    #expect(refusal([SendEncoding(rid: "a"), SendEncoding(rid: "b")]) == nil)
  }

  @Test func encodersAreToldOfNewParameters() throws {
    var call = Call()
    let video = try call.offerer.addTrack(.video)
    try call.negotiate()
    call.run(for: .seconds(1))
    call.forgetEvents()
    var parameters = call.offerer.transceivers[0].sendParameters
    (parameters.encodings[0].maximumBitrate, parameters.degradationPreference) = (300_000, .maintainResolution)
    try call.offerer.setParameters(parameters, of: video)
    try call.offerer.setParameters(parameters, of: video)
    call.drain()
    let changes = call.offererEvents.count { if case .sendParametersChange(video) = $0 { true } else { false } }
    #expect(changes == 1 && call.offerer.transceiver(video)?.sendParameters == parameters)
    // What is not active is not sent.
    parameters.encodings[0].isActive = false
    try call.offerer.setParameters(parameters, of: video)
    let frame = [UInt8](repeating: 7, count: 100)
    call.offerer.sendVideo(frame.span.bytes, isKeyFrame: true, captureTime: call.now, on: video, now: call.now)
    call.run(for: .milliseconds(100))
    #expect(call.received.isEmpty && call.offerer.discards["rtp.inactiveSender"] == 1)
    parameters.encodings[0].isActive = true
    try call.offerer.setParameters(parameters, of: video)
    call.offerer.sendVideo(frame.span.bytes, isKeyFrame: true, captureTime: call.now, on: video, now: call.now)
    call.run(for: .milliseconds(100))
    #expect(call.received.count == 1)
    parameters.encodings.append(SendEncoding())
    let error = #expect(throws: PeerConnectionError.self) { try call.offerer.setParameters(parameters, of: video) }
    #expect(error?.name == .invalidModification)
  }

  @Test func theJitterBufferTargetHasARange() throws {
    var peer = PeerConnection.make()
    let audio = try peer.addTransceiver(.audio)
    try peer.setJitterBufferTarget(250, of: audio)
    #expect(peer.transceiver(audio)?.jitterBufferTarget == 250)
    for target in [-1, 4_001, Double.nan] {
      let error = #expect(throws: PeerConnectionError.self) { try peer.setJitterBufferTarget(target, of: audio) }
      #expect(error?.name == .range)
    }
    try peer.setJitterBufferTarget(nil, of: audio)
    #expect(peer.transceiver(audio)?.jitterBufferTarget == nil)
    let changes = peer.takeEvents().count { if case .jitterBufferTargetChange = $0 { true } else { false } }
    #expect(changes == 2)
  }

  @Test func thePeerMayLimitWhatItReceives() throws {
    for (lines, limit) in [("b=AS:256\n", 256_000), ("b=AS:256\nb=TIAS:200000\n", 200_000), ("b=AS:99999999999999\n", nil), ("", nil)]
      as [(String, Int?)]
    {
      var peer = PeerConnection.make()
      _ = try peer.addTrack(.audio)
      let offer = Foreign.description([Foreign.opus()]).replacing("a=mid:0\n", with: lines + "a=mid:0\n")
      try peer.setRemoteDescription(.offer, sdp: offer, now: .zero)
      try peer.setLocalDescription(now: .zero)
      #expect(peer.transceivers[0].bandwidthLimit == limit)
    }
  }
}
