import Base
import RTP
import SDP
import Testing

@testable import WebRTC

@Suite struct SimulcastTests {
  private static let encodings = [SendEncoding(rid: "low"), SendEncoding(rid: "mid"), SendEncoding(rid: "high")]

  /// The answer of `answerer` to `offerer`'s offer, with these encodings taken.
  private func answer(_ offerer: inout PeerConnection, _ answerer: inout PeerConnection, taking rids: [String]) throws {
    try offerer.setLocalDescription(now: .zero)
    try answerer.setRemoteDescription(.offer, sdp: "\(offerer.localDescription!.description)", now: .zero)
    try answerer.setLocalDescription(now: .zero)
    var answer = answerer.localDescription!.description
    answer.media[0].rids = rids.map { RID(identifier: $0, direction: .recv) }
    if !rids.isEmpty { answer.media[0].simulcast = Simulcast(receive: rids.map { [Simulcast.Alternative(rid: $0)] }) }
    try offerer.setRemoteDescription(.answer, sdp: "\(answer)", now: .zero)
  }

  private func rids(_ transceiver: Transceiver) -> [String?] { transceiver.sendParameters.encodings.map(\.rid) }

  /// A peer's offer to receive these encodings.
  private func offer(_ simulcast: String, kind: String = "video") -> String {
    let codec = kind == "video" ? "a=rtpmap:96 VP8/90000" : "a=rtpmap:96 opus/48000/2"
    let names = simulcast.split { ",;".contains($0) }
    let lines = ([codec] + names.map { "a=rid:\($0) recv" } + ["a=simulcast:recv \(simulcast)"]).joined(separator: "\n")
    return Foreign.description([Foreign.section(kind, mid: "0", payloadTypes: "96", lines: lines)], bundle: ["0"])
  }

  @Test func anOfferNamesTheEncodings() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTransceiver(.video, streams: ["desk"], trackIdentifier: "camera", encodings: SimulcastTests.encodings)
    let media = try peer.createOffer(now: .zero).media[0]
    #expect(media.simulcast?.description == "send low;mid;high")
    #expect(media.rids.map(\.description) == ["low send", "mid send", "high send"])
    // The sources are told apart by their rids, so they are not named.
    #expect(media.sources.isEmpty && media.msids.count == 1)
    #expect(media.headerExtensions.contains { $0.uri == HeaderExtension.rid.uri })
  }

  @Test func anAnswerNarrowsWhatIsSent() throws {
    for (taken, left) in [(["high", "low"], ["low", "high"]), (["mid"], ["mid"]), ([], ["low"]), (["other"], ["low"])] {
      var a = PeerConnection.make(seed: 1)
      var b = PeerConnection.make(seed: 2)
      _ = try a.addTransceiver(.video, encodings: SimulcastTests.encodings)
      try answer(&a, &b, taking: taken)
      #expect(rids(a.transceivers[0]) == left)
      #expect(a.takeEvents().negotiationsNeeded == 0)
    }
  }

  @Test func aPauseNarrowsNothing() throws {
    var a = PeerConnection.make(seed: 1)
    var b = PeerConnection.make(seed: 2)
    let video = try a.addTransceiver(.video, encodings: SimulcastTests.encodings)
    try answer(&a, &b, taking: ["low", "mid", "high"])
    try a.setDirection(.inactive, of: video)
    try exchange(&a, &b)
    #expect(rids(a.transceivers[0]) == ["low", "mid", "high"])
    try b.setDirection(.inactive, of: b.transceivers[0].identifier)
    try a.setDirection(.sendonly, of: video)
    try exchange(&a, &b)
    #expect(rids(a.transceivers[0]) == ["low", "mid", "high"])
  }

  @Test func thePeerMayAskForASimulcast() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTrack(.video)
    try peer.setRemoteDescription(.offer, sdp: offer("foo,other;bar,foo;foo;no-rid"), now: .zero)
    #expect(peer.transceivers.count == 1 && rids(peer.transceivers[0]) == ["foo", "bar"])
    #expect(peer.transceivers[0].sendParameters.encodings.map(\.scaleResolutionDownBy) == [2, 1])
    try peer.setRemoteDescription(.rollback, sdp: "", now: .zero)
    #expect(rids(peer.transceivers[0]) == [nil])
    try peer.setRemoteDescription(.offer, sdp: offer("foo;bar"), now: .zero)
    try peer.setLocalDescription(now: .zero)
    let media = peer.localDescription!.description.media[0]
    #expect(media.simulcast?.description == "send foo;bar" && media.rids.map(\.description) == ["foo send", "bar send"])
    #expect(rids(peer.transceivers[0]) == ["foo", "bar"])
    // A later offer narrows with its answer, and widens nothing.
    try peer.setRemoteDescription(.offer, sdp: offer("new;bar"), now: .zero)
    #expect(rids(peer.transceivers[0]) == ["foo", "bar"])
    try peer.setLocalDescription(now: .zero)
    #expect(rids(peer.transceivers[0]) == ["bar"])
    #expect(peer.localDescription!.description.media[0].simulcast?.description == "send bar")
  }

  @Test func soundIsNoSimulcast() throws {
    var peer = PeerConnection.make()
    _ = try peer.addTrack(.audio)
    try peer.setRemoteDescription(.offer, sdp: offer("foo;bar", kind: "audio"), now: .zero)
    #expect(rids(peer.transceivers[0]) == [nil])
    try peer.setLocalDescription(now: .zero)
    #expect(peer.localDescription!.description.media[0].simulcast == nil)
    #expect(throws: PeerConnectionError.self) { try peer.addTransceiver(.audio, encodings: SimulcastTests.encodings) }
  }

  @Test func aTransceiverOfTheOfferForgetsTheSimulcastWithIt() throws {
    var peer = PeerConnection.make()
    try peer.setRemoteDescription(.offer, sdp: offer("foo;bar"), now: .zero)
    let own = try peer.addTrack(.video)
    #expect(peer.transceivers.map(\.identifier) == [own] && rids(peer.transceivers[0]) == ["foo", "bar"])
    try peer.setRemoteDescription(.rollback, sdp: "", now: .zero)
    #expect(peer.transceivers.map(\.identifier) == [own] && rids(peer.transceivers[0]) == [nil])
  }

  @Test func eachEncodingHasAStreamOfItsOwn() throws {
    var call = Call()
    let video = try call.offerer.addTransceiver(.video, trackIdentifier: "camera", encodings: SimulcastTests.encodings)
    try call.offerer.setLocalDescription(now: call.now)
    call.drain()
    try call.answerer.setRemoteDescription(.offer, sdp: "\(call.offerer.localDescription!.description)", now: call.now)
    try call.answerer.setLocalDescription(now: call.now)
    call.drain()
    var answer = call.answerer.localDescription!.description
    answer.media[0].simulcast = Simulcast(receive: ["low", "high"].map { [Simulcast.Alternative(rid: $0)] })
    answer.media[0].rids = ["low", "high"].map { RID(identifier: $0, direction: .recv) }
    try call.offerer.setRemoteDescription(.answer, sdp: "\(answer)", now: call.now)
    call.run(for: .seconds(1))
    for (encoding, size) in [100, 300, 500].enumerated() {
      let frame = [UInt8](repeating: 7, count: size)
      call.offerer.sendVideo(frame.span.bytes, isKeyFrame: true, captureTime: call.now, encoding: encoding, on: video, now: call.now)
    }
    call.run(for: .milliseconds(200))
    #expect(call.received.count == 2 && call.offerer.discards["rtp.inactiveSender"] == 1)
    let map = try #require(call.answerer.transceivers[0].negotiated).extensionMap
    let heard = call.received.map { packet in
      HeaderExtensions(parsing: packet.packet.span.bytes, header: packet.media.header, map: map).rid
    }
    #expect(heard == ["low", "high"] && Set(call.received.map(\.media.header.ssrc)).count == 2)
    let report = call.offerer.statistics(now: call.now).values.filter { $0["type"] == "outbound-rtp" }
    #expect(
      report.allSatisfy { $0["rid"] == "low" || $0["rid"] == "high" } && report.count == 2
        && report.compactMap { $0["encodingIndex"]?.intValue }.sorted() == [0, 1])
    #expect(report.allSatisfy { $0["mediaSourceId"] == "S0" })
    // One of them rests.
    var parameters = call.offerer.transceivers[0].sendParameters
    parameters.encodings[0].isActive = false
    try call.offerer.setParameters(parameters, of: video)
    let frame = [UInt8](repeating: 7, count: 100)
    for encoding in 0..<2 {
      call.offerer.sendVideo(frame.span.bytes, isKeyFrame: true, captureTime: call.now, encoding: encoding, on: video, now: call.now)
    }
    call.run(for: .milliseconds(200))
    #expect(call.received.count == 3 && call.offerer.discards["rtp.inactiveSender"] == 2)
  }
}
