import Base
import Testing

@testable import SDP

@Suite struct SessionDescriptionTests {
  @Test(arguments: Example.allCases) func isWrittenBackAsItWasMeant(_ example: Example) throws {
    let first = try SessionDescription(parsing: example.text)
    let second = try SessionDescription(parsing: first.description)
    #expect(second == first)
    #expect(second.description == first.description)
    // Nothing is lost and nothing added but directions that the session said.
    let before = Set(example.text.split(separator: "\r\n").map(normalized))
    let after = Set(first.description.split(separator: "\r\n").map(normalized))
    #expect(before.subtracting(after) == [])
    #expect(after.subtracting(before).isSubset(of: ["a=recvonly", "a=sendrecv"]))
  }

  private func normalized(_ line: Substring) -> String { String(line.replacing("msid-semantic: ", with: "msid-semantic:")) }

  @Test(arguments: ["\r\n", "\n", "\r"]) func readsEachKindOfLineEnd(_ ending: String) throws {
    let text = Example.chromium.text.replacing("\r\n", with: ending)
    #expect(try SessionDescription(parsing: text) == SessionDescription(parsing: Example.chromium.text))
    #expect(try SessionDescription(parsing: text + ending + ending) == SessionDescription(parsing: Example.chromium.text))
  }

  @Test func readsChromium() throws {
    let session = try SessionDescription(parsing: Example.chromium.text)
    #expect(session.origin == Origin(sessionIdentifier: 5_208_471_983_140_025_472, sessionVersion: 2))
    #expect(session.bundle == Group(semantics: "BUNDLE", mids: ["0", "1", "2"]))
    #expect(session.extmapAllowMixed)
    #expect(session.msidSemantic == "WMS 3a4f9a1c-77b2-4b0e-8f2d-9f1c1a2b3c4d")
    #expect(session.media.map(\.kind) == [.audio, .video, .application])
    let audio = session.media[0]
    #expect(audio.isRTP && audio.isRTCPMux && audio.isRTCPReducedSize && !audio.isRejected)
    #expect(audio.mid == "0" && audio.direction == .sendrecv && audio.setup == .actpass)
    #expect(audio.formats.count == 8)
    #expect(audio.rtpMap(111) == RTPMap(payloadType: 111, encodingName: "opus", clockRate: 48_000, channels: 2))
    #expect(audio.formatParameters[111]?["useinbandfec"] == "1")
    #expect(audio.formatParameters[111]?.integer("minptime") == 10)
    #expect(audio.formatParameters[63]?.entries == [.init(name: "111/111", value: nil)])
    #expect(audio.msids == [MSID(stream: "3a4f9a1c-77b2-4b0e-8f2d-9f1c1a2b3c4d", track: "0e8a1b2c-1234-4d5e-9f00-aabbccddeeff")])
    #expect(audio.sources.first == SourceAttribute(ssrc: 3_735_928_559, name: "cname", value: "q0xYzLrWb1m2n3o4"))
    #expect(audio.rtcpPort == RTCPPort(port: 9, connection: Connection()))
    #expect(audio.fingerprints.first?.description.hasPrefix("sha-256 19:E2:") == true)
    let video = session.media[1]
    #expect(video.candidates == ["candidate:1467250027 1 udp 2122260223 192.168.0.196 46243 typ host generation 0 network-id 1"])
    #expect(video.feedback(96) == ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"])
    #expect(video.headerExtensions.first == ExtensionMapping(identifier: 14, uri: "urn:ietf:params:rtp-hdrext:toffset"))
    #expect(video.sourceGroups == [SourceGroup(semantics: "FID", ssrcs: [2_231_627_014, 632_943_048])])
    let data = session.media[2]
    #expect(data.isSCTP && !data.isRTP)
    #expect(data.sctpPort == 5000 && data.maxMessageSize == 262_144)
    #expect(data.formats == ["webrtc-datachannel"])
    #expect(session.media.allSatisfy(\.unknown.isEmpty) && session.unknown.isEmpty)
    #expect(!session.description.contains("a=sctp-port:5000\r\na=sendrecv"))
  }

  @Test func readsFirefox() throws {
    let session = try SessionDescription(parsing: Example.firefox.text)
    let video = session.media[0]
    #expect(session.fingerprints(of: video).count == 1 && video.fingerprints.isEmpty)
    #expect(session.iceOptions(of: video) == ["trickle"])
    #expect(video.hasEndOfCandidates)
    #expect(video.headerExtensions[2].direction == .sendonly)
    #expect(video.rids[0] == RID(identifier: "hi", direction: .send, restrictions: FormatParameters("max-width=1280;max-height=720")))
    #expect(video.rids[1] == RID(identifier: "lo", direction: .send, formats: [120], restrictions: FormatParameters("max-width=320")))
    #expect(video.simulcast == Simulcast(send: [[.init(rid: "hi")], [.init(rid: "lo", isPaused: true)]]))
    #expect(video.formatParameters[120]?["MAX-FS"] == "12288")
    #expect(session.media[1].maxMessageSize == 1_073_741_823)
  }

  @Test func readsTheOthers() throws {
    let aiortc = try SessionDescription(parsing: Example.aiortc.text)
    #expect(aiortc.media[0].candidates.count == 2 && aiortc.media[0].hasEndOfCandidates)
    #expect(aiortc.media[0].fingerprints.map(\.algorithm) == ["sha-256", "sha-384"])
    #expect(aiortc.media[0].setup == .active)
    let janus = try SessionDescription(parsing: Example.janus.text)
    #expect(janus.sessionName == "Janus EchoTest")
    #expect(janus.media(mid: "v")?.isRejected == true)
    #expect(janus.media(mid: "v")?.direction == .inactive)
    #expect(janus.media(mid: "x") == nil)
    let gstreamer = try SessionDescription(parsing: Example.gstreamer.text)
    #expect(gstreamer.media[0].unknown == [Attribute(name: "framerate", value: "30")])
    #expect(gstreamer.media[0].isRTCPMuxOnly)
    #expect(gstreamer.media[0].formatParameters[96]?["sprop-parameter-sets"] == "Z0LAFdoFB+hAAAADAEAAAA8DxYuo,aM4PyA==")
    #expect(gstreamer.media[1].isBundleOnly && !gstreamer.media[1].isRejected)
  }

  @Test func mediaFallBackToTheSession() throws {
    let session = try SessionDescription(parsing: Example.iceLite.text)
    #expect(session.isICELite)
    #expect(session.times.count == 2)
    #expect(session.bandwidth == [Bandwidth(type: "AS", value: 4000), Bandwidth(type: "TIAS", value: 3_500_000)])
    #expect(session.otherLines.map(\.type) == ["i", "u", "e", "p", "r", "z", "k"])
    #expect(session.unknown == [Attribute(name: "tool", value: "made by hand"), Attribute(name: "x-flag")])
    let audio = session.media[0]
    #expect(session.usernameFragment(of: audio) == "lite" && session.password(of: audio) == "litelitelitelitelitelite")
    #expect(session.setup(of: audio) == .passive)
    #expect(session.connection(of: audio) == Connection(addressType: "IP6", address: "2001:db8::1"))
    #expect(audio.direction == .recvonly && session.media[1].direction == .sendonly)
    #expect(audio.port == 5004 && audio.portCount == 2)
    #expect(audio.ptime == 20 && audio.maxptime == 2.5)
    #expect(audio.feedback(0) == ["nack"])
    #expect(audio.formatParameters[18]?["annexb"] == "no")
    #expect(session.media[2].kind == .other("text"))
  }

  @Test(arguments: [
    ("", 1, "", "the description is empty"),
    ("v=1\r\n", 1, "v=1", "only version 0 is known"),
    ("o=- 1 1 IN IP4 0.0.0.0\r\n", 1, "o=- 1 1 IN IP4 0.0.0.0", "a description begins with v=0"),
    ("v=0\r\ns=-\r\n", 3, "", "the description has no o= line"),
    ("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n", 3, "", "the description has no s= line"),
    ("v=0\r\nv=0\r\n", 2, "v=0", "a second v="),
    ("v=0\r\nnonsense\r\n", 2, "nonsense", "a line is a letter, “=” and a value"),
    ("v=0\r\n=x\r\n", 2, "=x", "a line is a letter, “=” and a value"),
    (
      "v=0\no=- 1 18446744073709551616 IN IP4 0.0.0.0", 2, "o=- 1 18446744073709551616 IN IP4 0.0.0.0",
      "o= holds a name, two numbers, a network type, an address type and an address"
    ),
  ]) func aBrokenDescriptionIsRefusedAtItsLine(_ text: String, _ line: Int, _ shown: String, _ reason: String) {
    #expect(throws: ParseError(line: line, text: shown, reason: reason)) { try SessionDescription(parsing: text) }
  }

  @Test(arguments: [
    "m=audio", "m=audio 9 UDP/TLS/RTP/SAVPF 128", "m=audio 9 UDP/TLS/RTP/SAVPF x", "m=audio 65536 RTP/AVP 0", "m=audio -1 RTP/AVP 0",
    "m=audio 9/x RTP/AVP 0", "c=IN IP4", "b=AS", "b=AS:x", "b=:1", "a=mid:", "a=mid", "a=rtpmap:96", "a=rtpmap:128 VP8/90000",
    "a=rtpmap:96 VP8", "a=rtpmap:96 VP8/0", "a=rtpmap:96 VP8/+90000", "a=rtpmap:96 opus/48000/0", "a=fmtp:x a=b", "a=fmtp:96",
    "a=rtcp-fb:200 nack", "a=rtcp-fb:96", "a=extmap:0 urn:x", "a=extmap:x urn:x", "a=extmap:1", "a=extmap:1/both urn:x", "a=ssrc:x cname:y",
    "a=ssrc:4294967296 cname:y", "a=ssrc-group:", "a=ssrc-group:FID 1 x", "a=msid:", "a=msid:a b c", "a=rid:1", "a=rid:1 both",
    "a=rid:1 send pt=200", "a=simulcast:send", "a=simulcast:send ;", "a=simulcast:send ,", "a=simulcast:send 1 send 2",
    "a=simulcast:both 1", "a=setup:maybe", "a=fingerprint:sha-256", "a=ice-ufrag:", "a=ice-pwd: ", "a=sctp-port:65536",
    "a=max-message-size:many", "a=ptime:0", "a=ptime:nan", "a=maxptime:-1", "a=rtcp:x", "a=rtcp:9 IN",
  ]) func aSenselessLineIsNamed(_ line: String) {
    let text = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 96\r\n\(line)\r\n"
    do throws(ParseError) {
      _ = try SessionDescription(parsing: text)
      Issue.record("\(line) was accepted")
    } catch {
      #expect(error.line == 6)
      #expect(error.text == line)
      #expect(error.description.contains(line))
    }
  }

  @Test func hugeMessageSizesMeanTheLargest() throws {
    let text = Example.chromium.text.replacing("262144", with: "99999999999999999999999")
    #expect(try SessionDescription(parsing: text).media[2].maxMessageSize == .max)
  }

  @Test func accentsCannotHideASeparator() throws {
    let text = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=\u{301}name\r\na=tool:\u{301}x\r\na=\u{301}y\r\n"
    let session = try SessionDescription(parsing: text)
    #expect(session.unknown.first == Attribute(name: "tool", value: "\u{301}x"))
    #expect(try SessionDescription(parsing: session.description) == session)
  }

  @Test func valuesCannotSmuggleInLines() throws {
    var session = SessionDescription(origin: Origin(sessionIdentifier: 1, sessionVersion: 1))
    session.sessionName = "x\r\na=ice-lite"
    session.unknown = [Attribute(name: "tool", value: "y\na=setup:active")]
    let copy = try SessionDescription(parsing: session.description)
    #expect(!copy.isICELite && copy.setup == nil)
    #expect(copy.unknown == [Attribute(name: "tool", value: "ya=setup:active")])
  }

  @Test func anyDamageIsReadOrRefused() throws {
    var random = RandomSource(seed: 11)
    var refused = 0
    for round in 0..<1_500 {
      let example = Example.allCases[round % Example.allCases.count]
      var bytes = Array(example.text.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.removeSubrange(index..<min(bytes.count, index + 20))
        }
      }
      guard let session = try? SessionDescription(parsing: String(decoding: bytes, as: UTF8.self)) else {
        refused += 1
        continue
      }
      let text = session.description
      #expect(try SessionDescription(parsing: text).description == text)
    }
    #expect(refused > 100 && refused < 1_400)
  }
}

@Suite struct FormatParametersTests {
  @Test func settingKeepsTheOrder() {
    var parameters = FormatParameters("minptime=10; useinbandfec=1;stereo")
    #expect(parameters["USEINBANDFEC"] == "1")
    parameters["useinbandfec"] = "0"
    #expect(parameters.text == "minptime=10;useinbandfec=0;stereo")
    parameters["minptime"] = nil
    parameters["maxaveragebitrate"] = "32000"
    #expect(parameters.text == "useinbandfec=0;stereo;maxaveragebitrate=32000")
    #expect(parameters.integer("maxaveragebitrate") == 32_000)
    #expect(parameters["missing"] == nil && parameters.integer("stereo") == nil)
  }
}

@Suite struct DirectionTests {
  @Test func reversesAndIntersects() {
    #expect(Direction.sendonly.reversed == .recvonly && Direction.sendrecv.reversed == .sendrecv)
    #expect(Direction.sendonly.intersection(.recvonly) == .inactive)
    #expect(Direction.sendrecv.intersection(.recvonly) == .recvonly)
  }
}
