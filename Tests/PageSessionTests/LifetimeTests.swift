import Base
import BridgeMessages
import Call
import Foundation
import Testing

@testable import PageSession

/// Nothing is left of what is closed, and nothing grows without bounds while a page does not read.
@Suite(.serialized) struct LifetimeTests {
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
      page.client.forget()
    }
    try await cycle()
    _ = await world.service.statistics()
    // Other tests of this process open and close descriptors too: only those of this network thread are counted.
    let watched = await world.network.loop.perform { world.network.loop.watchCount }
    for _ in 0..<1_000 { try await cycle() }
    let left = PageStatistics.Document(origin: World.origin, url: World.origin + "/", connections: 0, tracks: 0, channels: 0)
    try await world.wait("end of the connections") { await world.service.statistics().documents == [left] }
    #expect(await world.network.loop.perform { world.network.loop.watchCount } == watched)
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
}
