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

  @Test func aPageThatDoesNotReadMakesItsPeerWait() async throws {
    let (window, congestion) = (512 << 10, 256 << 10)
    let world = try await World(receiveWindow: window, congestion: congestion)
    let (first, second) = (try world.client(), try world.client())
    let caller = FakeDocument(first, number: 1, origin: World.origin)
    let callee = FakeDocument(second, number: 1, origin: World.origin)
    let channel = caller.identifier()
    _ = try await ConnectedPair.connect(caller, callee) { a, _ in
      caller.post(ChannelCreate(connection: a, channel: channel, label: "bulk"))
    }
    let offered = try await callee.event(ChannelOffered.self)
    _ = try await caller.event(ChannelState.self) { $0.state == .open }
    second.setPaused(true)
    let message = [UInt8](repeating: 7, count: 32 << 10)
    let (total, ahead) = (6 << 20, 256 << 10)
    var (sent, drained) = (0, 0)
    sending: while sent < total {
      caller.send(.dataChannelBinary, target: channel, message)
      sent += message.count
      while sent - drained > ahead {
        // Nothing leaves for longer than a window probe takes: the page is held back.
        guard let more = try? await caller.client.next("drained", seconds: 2, { drainedBytes($0) }) else { break sending }
        drained += more
      }
    }
    // What the socket, the bridge, the window and the sender hold, with room for one batch of messages in each.
    #expect(sent < total)
    #expect(sent <= 2 * (window + congestion + ahead) + 1 << 20)
    #expect(await world.network.loop.perform { world.service.bridge.bufferedByteCount } <= 2 * (window + congestion))

    second.setPaused(false)
    var received = 0
    while received < sent { received += try await callee.frame(.dataChannelBinary, target: offered.channel).payload.count }
    #expect(received == sent)
    #expect(await world.service.statistics().discards["channel.refused"] == 0)
    await world.stop()
  }

  private func drainedBytes(_ frame: BridgeFrame) -> Int? {
    guard frame.kind == .control else { return nil }
    return (try? JSONDecoder().decode(ChannelDrained.self, from: Data(frame.payload)))?.bytes
  }
}
