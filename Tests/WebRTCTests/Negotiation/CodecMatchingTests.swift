import Base
import SDP
import Testing

@testable import WebRTC

@Suite struct CodecMatchingTests {
  private static let chromiumH264 = """
    a=rtpmap:103 H264/90000
    a=rtcp-fb:103 nack
    a=rtcp-fb:103 nack pli
    a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
    a=rtpmap:104 rtx/90000
    a=fmtp:104 apt=103
    a=rtpmap:107 H264/90000
    a=fmtp:107 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f
    a=rtpmap:108 rtx/90000
    a=fmtp:108 apt=107
    a=rtpmap:115 H264/90000
    a=fmtp:115 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c1f
    """

  private func answer(_ payloadTypes: String, _ lines: String) throws -> (MediaDescription, Transceiver?) {
    var peer = PeerConnection.make()
    let section = Foreign.section("video", mid: "0", payloadTypes: payloadTypes, lines: lines)
    try peer.setRemoteDescription(.offer, sdp: Foreign.description([section], bundle: ["0"]), now: .zero)
    try peer.setLocalDescription(now: .zero)
    return (peer.localDescription!.description.media[0], peer.transceivers.first)
  }

  @Test func chromiumsProfilesAreMatchedAndTheirPayloadTypesKept() throws {
    let (media, transceiver) = try answer("103 104 107 108 115", CodecMatchingTests.chromiumH264)
    // 640c1f is constrained high, which this side does not encode.
    #expect(media.formats == ["103", "104", "107", "108"])
    #expect(transceiver?.sendCodec?.payloadType == 103)
    #expect(transceiver?.sendCodec?.retransmissionPayloadType == 104)
    #expect(transceiver?.sendCodec?.capability.feedback == ["nack", "nack pli"])
    #expect(transceiver?.sendCodec?.capability.payloadFormat == .h264(packetizationMode: 1))
    #expect(media.formatParameters[107]?["packetization-mode"] == "0")
  }

  @Test func firefoxNamesItsLevelAndWhatItDoesNotSayIsAssumed() throws {
    let (media, transceiver) = try answer(
      "126 97 120",
      """
      a=rtpmap:126 H264/90000
      a=fmtp:126 profile-level-id=42e01f;level-asymmetry-allowed=1;packetization-mode=1
      a=rtpmap:97 H264/90000
      a=fmtp:97 profile-level-id=42e01f;level-asymmetry-allowed=1
      a=rtpmap:120 VP8/90000
      a=fmtp:120 max-fs=12288;max-fr=60
      """)
    #expect(media.formats == ["126", "97", "120"])
    #expect(transceiver?.sendCodec?.capability.payloadFormat == .h264(packetizationMode: 1))
    #expect(transceiver?.negotiatedCodecs[1].capability.payloadFormat == .h264(packetizationMode: 0))
    // What the peer wants of its VP8 is kept for the encoder.
    #expect(transceiver?.negotiatedCodecs[2].capability.parameter("max-fs") == "12288")
  }

  @Test func aiortcsSecondProfileIsTheSameCodec() throws {
    // aiortc and many SFUs write 42e01f beside 42001f, and 42c01f means 42e01f.
    let (media, transceiver) = try answer(
      "99 101",
      "a=rtpmap:99 H264/90000\na=fmtp:99 packetization-mode=1;profile-level-id=42c01f\na=rtpmap:101 H264/90000\na=fmtp:101 packetization-mode=1;profile-level-id=42001f"
    )
    #expect(media.formats == ["99", "101"])
    #expect(transceiver?.sendCodec?.payloadType == 99)
  }

  @Test func withoutLevelAsymmetryTheLowerLevelHolds() throws {
    let (media, _) = try answer("99", "a=rtpmap:99 H264/90000\na=fmtp:99 packetization-mode=1;profile-level-id=42e00d")
    #expect(media.formatParameters[99]?["profile-level-id"] == "42e00d")
    let (higher, _) = try answer(
      "99", "a=rtpmap:99 H264/90000\na=fmtp:99 packetization-mode=1;profile-level-id=42e034;level-asymmetry-allowed=1")
    #expect(higher.formatParameters[99]?["profile-level-id"] == "42e01f")
  }

  @Test func highProfileAloneIsRefused() throws {
    let (media, transceiver) = try answer("99", "a=rtpmap:99 H264/90000\na=fmtp:99 packetization-mode=1;profile-level-id=640028")
    #expect(media.isRejected && transceiver == nil)
  }

  @Test func theAnswerFollowsTheOffersOrderUnlessThisSideHasPreferences() throws {
    let lines = "a=rtpmap:96 VP8/90000\na=rtpmap:102 H264/90000\na=fmtp:102 packetization-mode=1;profile-level-id=42e01f"
    let offer = Foreign.description([Foreign.section("video", mid: "0", payloadTypes: "102 96", lines: lines)], bundle: ["0"])
    var peer = PeerConnection.make()
    try peer.setRemoteDescription(.offer, sdp: offer, now: .zero)
    let identifier = peer.transceivers[0].identifier
    #expect(try peer.createAnswer(now: .zero).media[0].formats == ["102", "96"])
    let vp8 = peer.configuration.codecs.filter { $0.name == "VP8" }
    try peer.setCodecPreferences(vp8 + peer.configuration.codecs.filter { $0.name == "H264" }, of: identifier)
    #expect(try peer.createAnswer(now: .zero).media[0].formats == ["96", "102"])
    try peer.setCodecPreferences(vp8, of: identifier)
    try peer.setLocalDescription(now: .zero)
    #expect(peer.localDescription?.description.media[0].formats == ["96"])
    #expect(peer.transceivers[0].sendCodec?.capability.name == "VP8")
  }

  @Test func preferencesOfAnotherKindAreRefused() throws {
    var peer = PeerConnection.make()
    let video = try peer.addTransceiver(.video)
    for bad in [[peer.configuration.codecs.first { $0.name == "opus" }!], []] + [
      peer.configuration.codecs.filter { $0.name == "telephone-event" }
    ] {
      if bad.isEmpty {
        try peer.setCodecPreferences(bad, of: video)
      } else {
        #expect(throws: PeerConnectionError.self) { try peer.setCodecPreferences(bad, of: video) }
      }
    }
    let vp8 = peer.configuration.codecs.first { $0.name == "VP8" }!
    try peer.setCodecPreferences([vp8, vp8], of: video)
    #expect(try peer.createOffer(now: .zero).media[0].rtpMaps.map(\.encodingName) == ["VP8", "rtx"])
  }

  @Test func offersHaveRetransmissionForEachVideoCodecAndDistinctPayloadTypes() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTransceiver(.audio)
    _ = try peer.addTransceiver(.video)
    let offer = try peer.createOffer(now: .zero)
    let all = offer.media.flatMap(\.formats)
    #expect(Set(all).count == all.count)
    // 64 to 95 would be read as RTCP.
    #expect(all.allSatisfy { !(64...95).contains(Int($0)!) })
    let video = offer.media[1]
    for map in video.rtpMaps where map.encodingName != "rtx" {
      #expect(video.rtpMaps.contains { $0.encodingName == "rtx" && video.formatParameters[$0.payloadType]?["apt"] == "\(map.payloadType)" })
    }
  }

  @Test func thePeersNumbersAreUsedInLaterOffersOfThisSide() throws {
    // The peer's numbers are those that this side would have given to others.
    let lines = """
      a=rtpmap:102 VP8/90000
      a=rtcp-fb:102 nack
      a=rtpmap:96 rtx/90000
      a=fmtp:96 apt=102
      a=rtpmap:97 H264/90000
      a=fmtp:97 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42c02a
      a=extmap:9 urn:ietf:params:rtp-hdrext:sdes:mid
      """
    var peer = PeerConnection.make()
    let section = Foreign.section("video", mid: "x", payloadTypes: "102 96 97", lines: lines)
    try peer.setRemoteDescription(.offer, sdp: Foreign.description([section], bundle: ["x"]), now: .zero)
    try peer.setLocalDescription(now: .zero)
    _ = try peer.addTransceiver(.video)
    let offer = try peer.createOffer(now: .zero)
    for media in offer.media {
      #expect(media.rtpMap(102)?.encodingName == "VP8")
      #expect(media.rtpMap(96)?.encodingName == "rtx" && media.formatParameters[96]?["apt"] == "102")
      #expect(media.rtpMap(97)?.encodingName == "H264")
      #expect(media.headerExtensions.first { $0.uri.hasSuffix("sdes:mid") }?.identifier == 9)
      #expect(Set(media.headerExtensions.map(\.identifier)).count == media.headerExtensions.count)
      #expect(Set(media.formats).count == media.formats.count)
    }
  }

  @Test func anAnswerMayUseOtherNumbersForWhatItReceives() throws {
    var peer = PeerConnection.make()
    let audio = try peer.addTransceiver(.audio)
    try peer.setLocalDescription(now: .zero)
    let mid = peer.localDescription!.description.media[0].mid
    let section = Foreign.section("audio", mid: mid, payloadTypes: "120", lines: "a=rtpmap:120 opus/48000/2", direction: "sendrecv")
    try peer.setRemoteDescription(
      .answer, sdp: Foreign.description([section.replacing("actpass", with: "active")], bundle: [mid!]), now: .zero)
    // Sent with the peer's number, received with this side's.
    #expect(peer.transceiver(audio)?.sendCodec?.payloadType == 120)
    #expect(peer.transceiver(audio)?.negotiated?.receivePayloadTypes[111] != nil)
    #expect(peer.transceiver(audio)?.negotiated?.receivePayloadTypes[120] == nil)
  }

  @Test func soundOfAnotherRateOrWithOtherChannelsIsAnotherCodec() throws {
    for lines in ["a=rtpmap:111 opus/48000", "a=rtpmap:111 opus/16000/2", "a=rtpmap:111 OPUS/48000/6"] {
      var peer = PeerConnection.make()
      let section = Foreign.section("audio", mid: "0", payloadTypes: "111", lines: lines)
      try peer.setRemoteDescription(.offer, sdp: Foreign.description([section], bundle: ["0"]), now: .zero)
      try peer.setLocalDescription(now: .zero)
      #expect(peer.localDescription?.description.media[0].isRejected == true, "\(lines)")
    }
  }
}
