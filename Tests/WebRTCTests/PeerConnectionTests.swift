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
}
