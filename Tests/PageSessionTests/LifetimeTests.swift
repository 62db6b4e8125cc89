import Base
import BridgeMessages
import Call
import Foundation
import Testing

@testable import PageSession

/// Nothing is left of what is closed, and nothing grows without bounds while a page does not read.
@Suite(.serialized) struct LifetimeTests {
  private func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
  private func threads() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count }

  @Test func aThousandConnectionsLeaveNothing() async throws {
    let world = try await World()
    let page = FakeDocument(try world.client(), number: 1, origin: World.origin)
    func cycle() async throws {
      let connection = page.identifier()
      page.post(ConnectionCreate(connection: connection))
      page.post(ChannelCreate(connection: connection, channel: page.identifier(), label: "x"))
      page.post(TransceiverAdd(connection: connection, transceiver: page.identifier(), kind: .video))
      page.post(TransceiverAdd(connection: connection, transceiver: page.identifier(), kind: .audio))
      let _: Snapshot = try await page.request(SetLocalDescription(id: page.identifier(), connection: connection))
      page.post(ConnectionClose(connection: connection))
    }
    try await cycle()
    _ = await world.service.statistics()
    let (files, running) = (try descriptors(), try threads())
    for _ in 0..<1_000 { try await cycle() }
    let statistics = await world.service.statistics()
    #expect(statistics.documents == [.init(origin: World.origin, url: World.origin + "/", connections: 0, tracks: 0, channels: 0)])
    #expect(try descriptors() == files && threads() == running)
    await world.stop()
  }

  @Test func closedConnectionsAndDocumentsAreFreed() async throws {
    let world = try await World()
    let client = try world.client()
    let page = FakeDocument(client, number: 1, origin: World.origin)
    let other = FakeDocument(client, number: 2, origin: World.origin)
    let _: TrackReply = try await page.request(TrackOpen(id: page.identifier(), track: 11, trackId: "camera", kind: .video))
    let (pair, offered, _) = try await ConnectedPair.connect(page, other) { a, _ in
      page.post(TransceiverAdd(connection: a, transceiver: page.identifier(), kind: .video, track: 11))
      page.post(ChannelCreate(connection: a, channel: page.identifier(), label: "x"))
    }
    other.post(VideoPlay(video: 5, track: try #require(offered.transceivers.first).receivingTrack.track))
    _ = try await other.event(VideoSize.self)

    final class Watched: @unchecked Sendable {
      weak var document: Document?
      weak var connection: PageConnection?
      weak var session: PeerSession?
      weak var track: Track?
      weak var video: PlayedVideo?
    }
    let watched = Watched()
    await world.network.loop.perform {
      let document = world.service.bridge.document(of: 5)
      watched.document = document
      watched.connection = document?.connections[pair.connections.callee]
      watched.session = watched.connection?.session
      watched.track = document?.tracks.values.first
      watched.video = document?.videos[5]
    }
    #expect(watched.session != nil && watched.track != nil && watched.video != nil)
    other.close()
    try await world.wait("end of the document") { await world.service.statistics().documents.count == 1 }
    try await world.wait("freedom") {
      watched.document == nil && watched.connection == nil && watched.session == nil && watched.track == nil && watched.video == nil
    }
    // A web process that dies takes its documents along.
    client.close()
    try await world.wait("end of all documents") { await world.service.statistics().documents.isEmpty }
    try await world.wait("rest of the camera") { world.camera.pictures.sinkCount == 0 }
    await world.stop()
  }

  @Test func aPageThatDoesNotReadMakesItsPeerWait() async throws {
    let world = try await World()
    let (first, second) = (try world.client(), try world.client())
    let caller = FakeDocument(first, number: 1, origin: World.origin)
    let callee = FakeDocument(second, number: 1, origin: World.origin)
    let channel = caller.identifier()
    let (_, _, _) = try await ConnectedPair.connect(caller, callee) { a, _ in
      caller.post(ChannelCreate(connection: a, channel: channel, label: "bulk"))
    }
    let offered = try await callee.event(ChannelOffered.self)
    _ = try await caller.event(ChannelState.self) { $0.state == .open }
    second.setPaused(true)
    // More than sockets, the bridge's limit and the receive window hold together; at most 8 MiB wait at the sender at a time.
    let message = [UInt8](repeating: 7, count: 64 << 10)
    let total = 24 << 20
    var (sent, drained) = (0, 0)
    while sent < total, sent - drained < 8 << 20 {
      caller.send(.dataChannelBinary, target: channel, message)
      sent += message.count
      while let more = try? await drainedNow(caller) { drained += more }
    }
    try await world.wait("a sender that has to wait") {
      let before = drained
      while let more = try? await drainedNow(caller) { drained += more }
      try await Task.sleep(for: .milliseconds(300))
      while let more = try? await drainedNow(caller) { drained += more }
      return drained == before
    }
    #expect(drained < sent)
    let waiting = await world.network.loop.perform { world.service.bridge.bufferedByteCount }
    #expect(waiting <= BridgeClient.congestion + 6 << 20)

    second.setPaused(false)
    var received = 0
    while received < sent { received += try await callee.frame(.dataChannelBinary, target: offered.channel).payload.count }
    #expect(received == sent)
    await world.stop()
  }

  /// A drain message that is there already.
  private func drainedNow(_ page: FakeDocument) async throws -> Int {
    try await page.client.next("drained", seconds: 0.002) { frame in
      frame.kind == .control ? (try? JSONDecoder().decode(ChannelDrained.self, from: Data(frame.payload)))?.bytes : nil
    }
  }
}
