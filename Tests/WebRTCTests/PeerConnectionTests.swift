import Base
import Bytes
import SCTP
import SDP
import Testing

@testable import WebRTC

@Suite struct PeerConnectionTests {
  @Test func connectsAndCarriesMediaAndDataBothWays() throws {
    var call = Call()
    let video = try call.offerer.addTransceiver(.video, streams: ["s"])
    var options = ChannelOptions()
    options.label = "chat"
    let channel = try call.offerer.createDataChannel(options)
    try call.negotiate()
    call.run(for: .seconds(1))
    #expect(call.offerer.connectionState == .connected)
    #expect(call.answerer.connectionState == .connected)
    #expect(call.offerer.dataChannels[0].state == .open)

    let message = Array("hello".utf8)
    try call.offerer.send(message.span.bytes, isText: true, on: channel, now: call.now)
    let frame = [UInt8](repeating: 7, count: 5_000)
    call.offerer.sendVideo(frame.span.bytes, isKeyFrame: true, captureTime: call.now, on: video, now: call.now)
    call.run(for: .milliseconds(500))

    let texts = call.answererEvents.compactMap { event -> [UInt8]? in
      if case .dataChannelMessage(_, let bytes, isText: true) = event { bytes } else { nil }
    }
    #expect(texts == [message])
    #expect(call.received.count == 5)
    #expect(call.received.allSatisfy { $0.media.codec.name == "VP8" })
    #expect(call.received.last?.media.header.isMarked == true)
    #expect(call.answerer.discards.values.isEmpty, "\(call.answerer.discards.values)")
  }

  @Test func whatThePeerLosesOfTheSoundIsTold() throws {
    var call = Call()
    let audio = try call.offerer.addTransceiver(.audio, streams: ["s"])
    try call.negotiate()
    call.run(for: .seconds(1))
    call.conditions.loss = 0.2
    let payload = [UInt8](repeating: 5, count: 60)
    for index in 0..<200 {
      call.offerer.sendAudio(
        payload.span.bytes, timestamp: UInt32(index * 960), captureTime: call.now, level: 30, on: audio, now: call.now)
      call.run(for: .milliseconds(20))
    }
    let losses = call.offererEvents.compactMap { event -> Double? in
      if case .packetLoss(audio, let fraction) = event { fraction } else { nil }
    }
    #expect(losses.contains { $0 > 0.05 && $0 < 0.6 }, "\(losses)")
  }
}
