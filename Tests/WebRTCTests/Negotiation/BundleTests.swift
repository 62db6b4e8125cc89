import Base
import SDP
import Testing

@testable import WebRTC

/// What other implementations may write into their sections and bundles.
@Suite struct BundleTests {
  private static let h264 = "a=rtpmap:102 H264/90000\na=fmtp:102 packetization-mode=1;profile-level-id=42e01f"
  private static let vp8 = "a=rtpmap:96 VP8/90000\na=rtcp-fb:96 nack\na=rtcp-fb:96 nack pli\na=rtpmap:97 rtx/90000\na=fmtp:97 apt=96"

  private func answer(_ offer: String, configure: (inout PeerConnection) throws -> Void = { _ in }) throws -> SessionDescription {
    var peer = PeerConnection.make()
    try peer.setRemoteDescription(.offer, sdp: offer, now: .zero)
    try configure(&peer)
    try peer.setLocalDescription(now: .zero)
    return peer.localDescription!.description
  }

  private func error(_ offer: String) -> PeerConnectionError? {
    var peer = PeerConnection.make()
    do { try peer.setRemoteDescription(.offer, sdp: offer, now: .zero) } catch { return error }
    return nil
  }

  @Test func unknownLinesAttributesAndSectionsDoNoHarm() throws {
    let offer = Foreign.description(
      [
        Foreign.opus(lines: "a=x-google-flag:conference\na=ptime:20\ni=main microphone\nz=0"),
        "m=text 9 UDP/TLS/RTP/SAVPF 98\na=mid:t\na=rtpmap:98 t140/1000",
        "m=application 9 UDP/BFCP *\na=mid:b\na=setup:actpass", "m=image 9 udptl t38\na=mid:i",
        Foreign.section(
          "video", mid: "1", payloadTypes: "96 97", lines: BundleTests.vp8 + "\na=simulcast:send hi;lo\na=rid:hi send\na=rid:lo send"),
      ], bundle: ["0", "1"], session: "a=x-plan:unified\nb=AS:9000\nk=prompt")
    let answer = try answer(offer)
    #expect(answer.media.map(\.isRejected) == [false, true, true, true, false])
    #expect(answer.media.map(\.mid) == ["0", "t", "b", "i", "1"])
    #expect(answer.media[1].protocolName == "UDP/TLS/RTP/SAVPF" && answer.media[1].formats == ["98"])
    #expect(answer.media[2].protocolName == "UDP/BFCP" && answer.media[3].formats == ["t38"])
    #expect(answer.bundle?.mids == ["0", "1"])
  }

  @Test func aSectionWithoutACommonCodecIsRefusedAndTheOthersGoOn() throws {
    let offer = Foreign.description(
      [
        Foreign.section("video", mid: "v", payloadTypes: "45", lines: "a=rtpmap:45 AV1/90000"), Foreign.opus(mid: "a"),
        Foreign.section("audio", mid: "e", payloadTypes: "101", lines: "a=rtpmap:101 telephone-event/8000"),
      ], bundle: ["v", "a", "e"])
    var peer = PeerConnection.make()
    try peer.setRemoteDescription(.offer, sdp: offer, now: .zero)
    try peer.setLocalDescription(now: .zero)
    let answer = peer.localDescription!.description
    #expect(answer.media.map(\.isRejected) == [true, false, true])
    #expect(answer.bundle?.mids == ["a"])
    #expect(peer.transceivers.map(\.mid) == ["a"])
    // The transport is that of the first section that is accepted.
    #expect(peer.transport.ice.remoteParameters?.usernameFragment == "F7gI")
    #expect(peer.transport.role == .client)
  }

  @Test func bundleOnlySectionsAreAccepted() throws {
    let bare = "a=bundle-only"
    let video = Foreign.section("video", mid: "1", payloadTypes: "96 97", lines: BundleTests.vp8, transport: bare)
      .replacing("m=video 9", with: "m=video 0")
    let answer = try answer(Foreign.description([Foreign.opus(), video], bundle: ["0", "1"]))
    #expect(answer.media.map(\.isRejected) == [false, false])
    #expect(answer.media[1].isBundleOnly == false)
  }

  @Test func aRefusedSectionInTheOfferStaysRefused() throws {
    let video = Foreign.section("video", mid: "1", payloadTypes: "96 97", lines: BundleTests.vp8).replacing("m=video 9", with: "m=video 0")
    var peer = PeerConnection.make()
    try peer.setRemoteDescription(.offer, sdp: Foreign.description([Foreign.opus(), video], bundle: ["0"]), now: .zero)
    try peer.setLocalDescription(now: .zero)
    #expect(peer.localDescription!.description.media.map(\.isRejected) == [false, true])
    #expect(peer.transceivers.count == 1)
  }

  @Test func withoutABundleOnlyOneSectionCanBeHad() throws {
    let offer = Foreign.description([Foreign.opus(), Foreign.section("video", mid: "1", payloadTypes: "96 97", lines: BundleTests.vp8)])
    let answer = try answer(offer)
    #expect(answer.media.map(\.isRejected) == [false, true])
    #expect(answer.bundle == nil)
  }

  @Test func anOfferWithoutMidsIsAnsweredWithoutMids() throws {
    let offer = Foreign.description([Foreign.opus(mid: nil)])
    let answer = try answer(offer)
    #expect(answer.media[0].mid == nil && !answer.media[0].isRejected)
  }

  @Test func theTransportStandsInTheBundlesFirstSectionWhereverThatIs() throws {
    let other = Foreign.transport.replacing("F7gI", with: "late")
    let offer = Foreign.description(
      [Foreign.section("video", mid: "1", payloadTypes: "96 97", lines: BundleTests.vp8, transport: other), Foreign.opus()],
      bundle: ["0", "1"])
    var peer = PeerConnection.make()
    try peer.setRemoteDescription(.offer, sdp: offer, now: .zero)
    try peer.setLocalDescription(now: .zero)
    #expect(peer.transport.ice.remoteParameters?.usernameFragment == "F7gI")
    #expect(peer.localDescription!.description.bundle?.mids == ["0", "1"])
  }

  @Test func anAnswerThatLeavesASectionOutOfTheBundleLosesThatSection() throws {
    var peer = PeerConnection.make()
    let (audio, video) = (try peer.addTransceiver(.audio), try peer.addTransceiver(.video))
    try peer.setLocalDescription(now: .zero)
    let mids = peer.localDescription!.description.media.map { $0.mid! }
    let number = peer.localDescription!.description.media[1].rtpMaps.first { $0.encodingName == "VP8" }!.payloadType
    let answer = Foreign.description(
      [
        Foreign.opus(mid: mids[0]),
        Foreign.section("video", mid: mids[1], payloadTypes: "\(number)", lines: "a=rtpmap:\(number) VP8/90000"),
      ], bundle: [mids[0]]
    ).replacing("actpass", with: "active")
    try peer.setRemoteDescription(.answer, sdp: answer, now: .zero)
    #expect(peer.transceiver(audio)?.currentDirection == .sendrecv)
    #expect(peer.transceiver(video)?.isStopped == true)
    // The peer still takes it for accepted: it has to be told.
    #expect(peer.takeEvents().negotiationsNeeded == 1)
    let next = try peer.createOffer(now: .zero)
    #expect(next.media[1].isRejected && next.media[1].mid == mids[1])
  }

  @Test func whatADescriptionMustHaveIsNamedWhenItIsMissing() {
    let bad: [(lines: String, says: String)] = [
      (Foreign.transport.replacing("a=ice-ufrag:F7gI", with: "a=x"), "ICE user name fragment"),
      (Foreign.transport.replacing("a=ice-pwd", with: "a=x-pwd"), "ICE user name fragment"),
      (Foreign.transport.replacing("a=fingerprint", with: "a=x-fingerprint"), "DTLS fingerprint"),
    ]
    for (transport, says) in bad {
      let section = Foreign.section("audio", mid: "0", payloadTypes: "0", lines: "", transport: transport)
      let error = error(Foreign.description([section], bundle: ["0"]))
      #expect(error?.name == .invalidAccess)
      #expect(error?.message.contains(says) == true, "\(String(describing: error))")
    }
    let unmultiplexed = error(Foreign.description([Foreign.opus().replacing("a=rtcp-mux", with: "a=x")], bundle: ["0"]))
    #expect(unmultiplexed?.message.contains("rtcp-mux") == true)
    let doubled = error(Foreign.description([Foreign.opus(), Foreign.opus()], bundle: ["0"]))
    #expect(doubled?.message.contains("same mid") == true)
    let unreadable = error("v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0\nm=audio nine UDP/TLS/RTP/SAVPF 0\n")
    #expect(unreadable?.name == .operation && unreadable?.message.contains("line 5") == true, "\(String(describing: unreadable))")
  }

  @Test func credentialsOfTheSessionStandForItsSections() throws {
    let answer = try answer(
      Foreign.description(
        [Foreign.section("audio", mid: "0", payloadTypes: "0", lines: "", transport: "")], bundle: ["0"], session: Foreign.transport))
    #expect(!answer.media[0].isRejected && answer.media[0].setup == .active)
    #expect(answer.media[0].rtpMaps.map(\.encodingName) == ["PCMU"])
  }

  @Test func aSectionCannotChangeItsKindOrItsMid() throws {
    var peer = PeerConnection.make()
    try peer.setRemoteDescription(.offer, sdp: Foreign.description([Foreign.opus()], bundle: ["0"]), now: .zero)
    try peer.setLocalDescription(now: .zero)
    for changed in [Foreign.section("video", mid: "0", payloadTypes: "96 97", lines: BundleTests.vp8), Foreign.opus(mid: "7")] {
      let mid = changed.contains("mid:7") ? "7" : "0"
      #expect(throws: PeerConnectionError.self) {
        try peer.setRemoteDescription(.offer, sdp: Foreign.description([changed], bundle: [mid]), now: .zero)
      }
      #expect(peer.signalingState == .stable && peer.transceivers.map(\.mid) == ["0"])
    }
    #expect(throws: PeerConnectionError.self) { try peer.setRemoteDescription(.offer, sdp: Foreign.description([]), now: .zero) }
  }

  @Test func anAnswerWithTooFewOrOtherSectionsIsRefused() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTransceiver(.audio)
    _ = try peer.addTransceiver(.video)
    try peer.setLocalDescription(now: .zero)
    for sections in [[Foreign.opus()], [Foreign.opus(), Foreign.opus(mid: "1")]] {
      #expect(throws: PeerConnectionError.self) {
        try peer.setRemoteDescription(.answer, sdp: Foreign.description(sections, bundle: ["0", "1"]), now: .zero)
      }
      #expect(peer.signalingState == .haveLocalOffer)
    }
  }

  @Test func theSameExtensionIdentifierMayMeanOtherThingsInOtherSections() throws {
    let mid = "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid"
    let level = "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    let offer = Foreign.description(
      [
        Foreign.opus(lines: level + "\n" + mid),
        Foreign.section(
          "video", mid: "1", payloadTypes: "96 97", lines: BundleTests.vp8 + "\na=extmap:1 urn:3gpp:video-orientation\n" + mid),
      ], bundle: ["0", "1"])
    var peer = PeerConnection.make()
    try peer.setRemoteDescription(.offer, sdp: offer, now: .zero)
    try peer.setLocalDescription(now: .zero)
    #expect(peer.transceivers[0].negotiated?.extensions == [.audioLevel: 1, .mid: 4])
    #expect(peer.transceivers[1].negotiated?.extensions == [.videoOrientation: 1, .mid: 4])
  }

  @Test func extensionDirectionsAreSeenFromTheOtherSide() throws {
    let offer = Foreign.description(
      [
        Foreign.opus(
          lines: "a=extmap:1/sendonly urn:ietf:params:rtp-hdrext:ssrc-audio-level\na=extmap:4096 urn:ietf:params:rtp-hdrext:sdes:mid")
      ], bundle: ["0"])
    let answer = try answer(offer)
    #expect(answer.media[0].headerExtensions.map(\.description) == ["1/recvonly urn:ietf:params:rtp-hdrext:ssrc-audio-level"])
  }
}
