import BridgeMessages
import Foundation
import Frames
import Testing

@testable import PageSession

/// Two documents that call each other through the bridge, with real threads and sockets.
@Suite(.serialized) struct CallTests {
  @Test func twoDocumentsTalkOverADataChannel() async throws {
    let world = try await World()
    let (first, second) = (try world.client(), try world.client())
    let caller = FakeDocument(first, number: 1, origin: World.origin)
    let callee = FakeDocument(second, number: 1, origin: World.origin)
    _ = try await caller.event(Clock.self)
    let channel = caller.identifier()
    let (pair, _, answered) = try await ConnectedPair.connect(caller, callee) { a, _ in
      caller.post(ChannelCreate(connection: a, channel: channel, label: "chat"))
    }
    #expect(answered.signalingState == "stable" && answered.currentLocal?.type == .offer && answered.currentRemote?.type == .answer)
    #expect(answered.sctp?.maxMessageSize == 262_144)
    let offered = try await callee.event(ChannelOffered.self)
    #expect(offered.label == "chat" && offered.channel % 2 == 0 && offered.connection == pair.connections.callee)
    let open = try await caller.event(ChannelState.self) { $0.channel == channel && $0.state == .open }
    #expect(open.identifier != nil)

    caller.send(.dataChannelText, target: channel, Array("Grüß Gott".utf8))
    let text = try await callee.frame(.dataChannelText, target: offered.channel)
    #expect(String(decoding: text.payload, as: UTF8.self) == "Grüß Gott")
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    callee.send(.dataChannelBinary, target: offered.channel, bytes)
    let back = try await caller.frame(.dataChannelBinary, target: channel)
    #expect(back.payload == bytes)
    var drained = 0
    while drained < bytes.count { drained += try await callee.event(ChannelDrained.self).bytes }
    #expect(drained == bytes.count)

    caller.post(ChannelClose(channel: channel))
    _ = try await callee.event(ChannelState.self) { $0.channel == offered.channel && $0.state == .closed }
    _ = try await caller.event(ChannelState.self) { $0.channel == channel && $0.state == .closed }
    #expect(await world.service.statistics().documents.allSatisfy { $0.channels == 0 })
    await world.stop()
  }

  @Test func aCameraIsSeenOnTheStage() async throws {
    let world = try await World()
    let client = try world.client()
    let caller = FakeDocument(client, number: 1, origin: World.origin)
    let callee = FakeDocument(client, number: 2, origin: World.origin)
    let track = caller.identifier()
    let opened: TrackReply = try await caller.request(TrackOpen(id: caller.identifier(), track: track, trackId: "camera-1", kind: .video))
    #expect(opened.label == "Front camera" && opened.settings.width == 320 && opened.settings.frameRate == 30)
    let transceiver = caller.identifier()
    let (pair, offered, answered) = try await ConnectedPair.connect(caller, callee) { a, _ in
      caller.post(
        TransceiverAdd(
          connection: a, transceiver: transceiver, kind: .video, streams: ["room"], track: track, isAddedByTrack: true))
    }
    let received = try #require(offered.transceivers.first)
    #expect(received.remoteStreams == ["room"] && received.receivingTrack.trackId == "camera-1" && received.remoteIsSending)
    #expect(received.transceiver % 2 == 0 && received.receivingTrack.track % 2 == 0)
    #expect(answered.transceivers.first?.transceiver == transceiver && answered.transceivers.first?.currentDirection == .sendonly)

    let video: UInt32 = 4_000_000_007
    callee.post(VideoPlay(video: video, track: received.receivingTrack.track))
    let unmuted = try await callee.event(Receiving.self)
    #expect(unmuted.track == received.receivingTrack.track && !unmuted.isMuted)
    let size = try await callee.event(VideoSize.self)
    #expect(size.video == video && size.width == 320 && size.height == 180)
    callee.post(VideoWatch(video: video, isWatched: true))
    var shown = 0
    try await world.show([video]) { flip in
      shown += flip.videos.count
      return shown >= 10
    }
    let frame = try await callee.event(VideoFrameShown.self)
    #expect(frame.video == video && frame.width == 320 && frame.presentedFrames >= 1 && frame.receiveTime != nil)

    let grabbed = try await callee.call(FrameGrab(track: received.receivingTrack.track))
    #expect(grabbed.count == 8 + 320 * 180 * 4)

    struct Report: Decodable { var report: [Entry] }
    struct Entry: Decodable { var type: String, id: String, framesDecoded: Int?, framesEncoded: Int?, kind: String? }
    let all: Report = try await callee.request(GetStats(id: callee.identifier(), connection: pair.connections.callee))
    #expect(all.report.contains { $0.type == "inbound-rtp" && ($0.framesDecoded ?? 0) >= 10 })
    #expect(all.report.contains { $0.type == "transport" } && all.report.contains { $0.type == "peer-connection" })
    let sender: Report = try await caller.request(
      GetStats(id: caller.identifier(), connection: pair.connections.caller, transceiver: transceiver, side: .sender))
    #expect(sender.report.contains { $0.type == "outbound-rtp" } && !sender.report.contains { $0.type == "peer-connection" })

    callee.post(VideoPlay(video: video, track: nil))
    caller.post(ConnectionClose(connection: pair.connections.caller))
    callee.post(ConnectionClose(connection: pair.connections.callee))
    try await world.wait("end of the connections") { await world.service.statistics().peerConnections.isEmpty }
    await world.stop()
  }
}
