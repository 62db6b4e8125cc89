import Base
import Bytes
import Testing

@testable import WebRTC

@Suite struct StatisticsTests {
  @Test func theReportHasTheW3CNamesAndItsReferencesLeadSomewhere() throws {
    var call = Call()
    let video = try call.offerer.addTransceiver(.video)
    let audio = try call.offerer.addTransceiver(.audio)
    _ = try call.offerer.createDataChannel(ChannelOptionsFor.label("chat"))
    try call.negotiate()
    call.run(for: .seconds(1))
    let (picture, sound) = ([UInt8](repeating: 7, count: 3_000), [UInt8](repeating: 0xFC, count: 80))
    for index in 0..<100 as Range<UInt32> {
      call.offerer.sendVideo(picture.span.bytes, isKeyFrame: index == 0, captureTime: call.now, on: video, now: call.now)
      call.offerer.sendAudio(sound.span.bytes, timestamp: index * 960, captureTime: call.now, level: 30, on: audio, now: call.now)
      call.run(for: .milliseconds(33))
    }
    let (sent, received) = (call.offerer.statistics(now: call.now), call.answerer.statistics(now: call.now))
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
    func members(_ report: StatisticsReport, _ type: String, kind: String? = nil) -> [String: StatisticValue] {
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
    #expect(members(sent, "data-channel")["state"] == "open" && members(sent, "sctp-transport")["smoothedRoundTripTime"] != nil)
    #expect(members(sent, "peer-connection")["dataChannelsOpened"] == 1)
  }

  private func text(_ value: StatisticValue?) -> String { if case .text(let text) = value { text } else { "" } }
  private func number(_ value: StatisticValue) -> Double? { if case .number(let number) = value { number } else { nil } }

  @Test func whatIsNoWholeNumberIsNone() {
    #expect(StatisticValue.number(.nan).intValue == nil && StatisticValue.number(.infinity).intValue == nil)
    #expect(StatisticValue.number(1e30).intValue == nil && StatisticValue.number(-2.7).intValue == -2)
    #expect(StatisticValue.text("1").intValue == nil)
  }
}
