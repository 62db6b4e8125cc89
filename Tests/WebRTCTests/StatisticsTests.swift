import Base
import Bytes
import Testing

@testable import WebRTC

@Suite struct StatisticsTests {
  @Test func theReportHasTheW3CNamesAndItsReferencesLeadSomewhere() throws {
    var call = Call()
    let video = try call.offerer.addTransceiver(.video, trackIdentifier: "camera")
    let audio = try call.offerer.addTransceiver(.audio)
    #expect(call.offerer.statistics(now: call.now).values.map { text($0["type"]) }.sorted() == ["media-source", "peer-connection"])
    _ = try call.offerer.createDataChannel(ChannelOptionsFor.label("chat"))
    try call.negotiate()
    call.run(for: .seconds(1))
    let (picture, sound) = ([UInt8](repeating: 7, count: 3_000), [UInt8](repeating: 0xFC, count: 80))
    for index in 0..<100 as Range<UInt32> {
      call.offerer.sendVideo(picture.span.bytes, isKeyFrame: index == 0, captureTime: call.now, on: video, now: call.now)
      call.offerer.sendAudio(sound.span.bytes, timestamp: index * 960, captureTime: call.now, level: 30, on: audio, now: call.now)
      call.run(for: .milliseconds(33))
    }
    try call.offerer.setTrack("other camera", of: video)
    var figures = CodecStatistics()
    figures.source["width"] = 640
    let sent = call.offerer.statistics(codecs: [video: figures], now: call.now)
    let received = call.answerer.statistics(playout: ["totalSamplesCount": 480], now: call.now)
    for report in [sent, received] {
      for (identifier, members) in report {
        #expect(members["id"] == .text(identifier))
        #expect(members["timestamp"] != nil)
        for (name, value) in members where name.hasSuffix("Id") && name != "channelId" {
          guard case .text(let reference) = value else { continue }
          #expect(report[reference] != nil, "\(identifier).\(name) names \(reference)")
        }
      }
    }
    func members(_ report: StatisticsReport, _ type: String, kind: String? = nil) -> StatisticsDictionary {
      report.values.first { $0["type"] == .text(type) && (kind == nil || $0["kind"] == kind.map { .text($0) }) } ?? [:]
    }
    let outbound = members(sent, "outbound-rtp", kind: "video")
    #expect(outbound["framesSent"] == 100 && outbound["packetsSent"] == 300)
    #expect(sent[text(outbound["codecId"])]?["mimeType"] == "video/VP8")
    let inbound = members(received, "inbound-rtp", kind: "video")
    #expect(inbound["packetsReceived"] == 300 && inbound["packetsLost"] == 0 && inbound["nackCount"] == 0)
    #expect(inbound["bytesReceived"] == outbound["bytesSent"])
    #expect(received[text(inbound["codecId"])]?["mimeType"] == "video/VP8")
    #expect(members(received, "inbound-rtp", kind: "audio")["packetsReceived"] == 100)
    #expect(
      (members(sent, "remote-inbound-rtp", kind: "video")["roundTripTime"]).flatMap(number).map { (0.009...0.02).contains($0) } == true)
    #expect(members(received, "remote-outbound-rtp", kind: "video")["reportsSent"] != nil)
    let transport = members(sent, "transport")
    #expect(transport["dtlsState"] == "connected" && transport["iceRole"] == "controlling" && transport["tlsVersion"] == "FEFD")
    #expect(sent[text(transport["selectedCandidatePairId"])]?["state"] == "succeeded")
    #expect(transport["selectedCandidatePairChanges"]?.intValue == 1)
    #expect(
      sent[text(transport["localCertificateId"])]?["base64Certificate"]
        == received[text(members(received, "transport")["remoteCertificateId"])]?["base64Certificate"])
    let certificate = sent[text(transport["localCertificateId"])]
    #expect(
      certificate?["fingerprintAlgorithm"] == "sha-256"
        && "sha-256 \(text(certificate?["fingerprint"]))" == Call.certificates.0.fingerprint().description)
    let pair = sent[text(transport["selectedCandidatePairId"])] ?? [:]
    #expect(pair["lastPacketSentTimestamp"] != nil && pair["lastPacketReceivedTimestamp"] != nil)
    let source = sent[text(outbound["mediaSourceId"])]
    #expect(source?["trackIdentifier"] == "other camera" && source?["width"] == 640 && source?["kind"] == "video")
    #expect(
      outbound["rtxSsrc"] != nil && outbound["encodingIndex"] == 0
        && members(sent, "remote-inbound-rtp", kind: "video")["codecId"] == outbound["codecId"])
    #expect(
      members(received, "inbound-rtp", kind: "audio")["playoutId"] == "AP" && members(received, "media-playout")["totalSamplesCount"] == 480
    )
    #expect(members(sent, "data-channel")["state"] == "open" && members(sent, "sctp-transport")["smoothedRoundTripTime"] != nil)
    #expect(members(sent, "peer-connection")["dataChannelsOpened"] == 1)
  }

  private func text(_ value: StatisticValue?) -> String { if case .text(let text) = value { text } else { "" } }
  private func number(_ value: StatisticValue) -> Double? { if case .number(let number) = value { number } else { nil } }

  @Test func anAddressThatOnlyChecksShowedIsNotTold() throws {
    var call = Call()
    _ = try call.offerer.addTransceiver(.audio)
    try call.offerer.setLocalDescription(now: call.now)
    try call.answerer.setRemoteDescription(.offer, sdp: "\(call.offerer.localDescription!.description)", now: call.now)
    try call.answerer.setLocalDescription(now: call.now)
    try call.offerer.setRemoteDescription(.answer, sdp: "\(call.answerer.localDescription!.description)", now: call.now)
    call.run(for: .milliseconds(100))
    for case .iceCandidate(let candidate) in call.offererEvents { try call.answerer.addIceCandidate(candidate, now: call.now) }
    call.run(for: .milliseconds(500))
    func remote() -> StatisticsDictionary? {
      call.offerer.statistics(now: call.now).values.first { $0["type"] == "remote-candidate" }
    }
    #expect(remote()?["candidateType"] == "prflx" && remote()?["address"] == .null && remote()?["usernameFragment"] == nil)
    for case .iceCandidate(let candidate) in call.answererEvents { try call.offerer.addIceCandidate(candidate, now: call.now) }
    call.run(for: .milliseconds(100))
    #expect(remote()?["address"] == "192.0.2.2" && remote()?["usernameFragment"] != nil)
  }

  @Test func bytesAsText() {
    #expect(base64([]) == "" && base64([102]) == "Zg==" && base64([102, 111]) == "Zm8=" && base64([102, 111, 111]) == "Zm9v")
    #expect(base64(Array("foobar".utf8)) == "Zm9vYmFy" && base64([255, 254]) == "//4=")
  }

  @Test func whatIsNoWholeNumberIsNone() {
    #expect(StatisticValue.number(.nan).intValue == nil && StatisticValue.number(.infinity).intValue == nil)
    #expect(StatisticValue.number(1e30).intValue == nil && StatisticValue.number(-2.7).intValue == -2)
    #expect(StatisticValue.text("1").intValue == nil)
  }
}
