import BridgeMessages
import Foundation
import Testing

@testable import PageSession

/// What a page or a web process must not achieve, whatever it sends.
@Suite(.serialized) struct AttackTests {
  private func discards(_ world: World, _ name: String) async -> Int { await world.service.statistics().discards[name] }

  @Test func aDocumentThatIsNotOpenEndsItsSender() async throws {
    let world = try await World()
    let (attacker, bystander) = (try world.client(), try world.client())
    let other = FakeDocument(bystander, number: 7, origin: World.origin)
    _ = try await other.event(Clock.self)
    _ = FakeDocument(attacker, number: 1, origin: World.origin)
    // The number is open, but with another sender.
    attacker.send(ConnectionCreate(connection: 1), document: 7)
    try await attacker.end()
    #expect(!bystander.isEnded)
    let devices: DevicesReply = try await other.request(DevicesList(id: other.identifier()))
    #expect(devices.devices.count == 3)
    #expect(await discards(world, "bridge.cutOff") == 1)
    #expect(await world.service.statistics().documents.count == 1)
    await world.stop()
  }

  @Test(
    arguments: [
      [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 9, 7, 0, 0, 0, 1, 0, 0, 0, 0],
      [4, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0],
    ] as [[UInt8]])
  func malformedFramesEndTheirSender(bytes: [UInt8]) async throws {
    let world = try await World()
    let client = try world.client()
    client.send(raw: bytes)
    try await client.end()
    #expect(await discards(world, "bridge.cutOff") == 1)
    await world.stop()
  }

  @Test func anOriginThatIsNotAdmittedIsNotHeard() async throws {
    let world = try await World()
    let client = try world.client()
    let evil = FakeDocument(client, number: 1, origin: "https://evil.example.org")
    evil.post(ConnectionCreate(connection: 1))
    evil.post(TrackOpen(id: 3, track: 5, trackId: "x", kind: .video))
    #expect(try await evil.call(GetCapabilities()) == Document.noAnswer)
    let good = FakeDocument(client, number: 2, origin: World.origin)
    _ = try await good.event(Clock.self)
    #expect(client.pending.isEmpty)
    #expect(await world.service.statistics().documents.map(\.origin) == [World.origin])
    #expect(await discards(world, "document.notAdmitted") == 4)
    evil.close()
    good.close()
    try await world.wait("end of the documents") { await world.service.statistics().documents.isEmpty }
    await world.stop()
  }

  @Test func withoutAGrantNothingIsCaptured() async throws {
    let world = try await World(grants: { _ in .init(camera: false, microphone: true) })
    let page = FakeDocument(try world.client(), number: 1, origin: World.origin)
    await #expect(throws: FakeClient.Refused(name: "NotAllowedError", message: "this origin has no grant for the camera")) {
      let _: TrackReply = try await page.request(TrackOpen(id: page.identifier(), track: 3, trackId: "x", kind: .video))
    }
    let sound: TrackReply = try await page.request(TrackOpen(id: page.identifier(), track: 5, trackId: "y", kind: .audio))
    #expect(sound.label == "Desk microphone")
    let devices: DevicesReply = try await page.request(DevicesList(id: page.identifier()))
    let camera = try #require(devices.devices.first { $0.kind == .videoinput })
    #expect(camera.deviceId.isEmpty && camera.label.isEmpty && camera.capabilities == nil)
    #expect(devices.grants == .init(camera: false, microphone: true))
    #expect(world.events.all.contains(.mediaDenied(origin: World.origin, device: .camera)))
    await world.stop()
  }

  @Test func forgedAndRepeatedNumbersChangeNothing() async throws {
    let world = try await World()
    let client = try world.client()
    let page = FakeDocument(client, number: 1, origin: World.origin)
    let other = FakeDocument(client, number: 2, origin: World.origin)
    page.post(ConnectionCreate(connection: 1))
    page.post(ConnectionCreate(connection: 1))
    // Another document's connection, channel, track and video do not exist here.
    await #expect(throws: FakeClient.Refused.self) {
      let _: Description = try await other.request(CreateOffer(id: other.identifier(), connection: 1))
    }
    page.post(ChannelCreate(connection: 1, channel: 3, label: ""))
    page.post(ChannelCreate(connection: 1, channel: 3, label: ""))
    other.send(.dataChannelBinary, target: 3, [1, 2, 3])
    other.post(ChannelClose(channel: 3))
    let _: TrackReply = try await page.request(TrackOpen(id: page.identifier(), track: 5, trackId: "x", kind: .video))
    await #expect(throws: FakeClient.Refused.self) {
      let _: TrackReply = try await page.request(TrackOpen(id: page.identifier(), track: 5, trackId: "x", kind: .video))
    }
    page.post(VideoPlay(video: 99, track: 5))
    other.post(TrackMake(track: 5, trackId: "z", kind: .video))
    other.post(VideoPlay(video: 99, track: 5))
    other.post(VideoPlay(video: 0, track: 5))
    other.post(VideoPlay(video: 98, track: 777))
    other.post(VideoWatch(video: 99, isWatched: true))
    other.post(TrackStop(track: 777))
    other.post(ConnectionClose(connection: 1))
    let _: DevicesReply = try await other.request(DevicesList(id: other.identifier()))
    let statistics = await world.service.statistics()
    #expect(statistics.peerConnections.count == 1)
    #expect(statistics.documents.map(\.channels).reduce(0, +) == 1)
    #expect(statistics.discards["channel.unknown"] == 2)
    #expect(statistics.discards["video.refused"] == 2 && statistics.discards["video.unknown"] == 1)
    #expect(statistics.discards["track.unknown"] == 2)
    #expect(statistics.discards["connection.unknown"] == 1)
    #expect(statistics.discards["connection.refused"] == 2)
    await world.stop()
  }

  @Test func messagesThatCannotBeReadAreAnsweredOrCounted() async throws {
    let world = try await World()
    let client = try world.client()
    let page = FakeDocument(client, number: 1, origin: World.origin)
    let deep = String(repeating: "[", count: 200_000)
    for text in ["", "{", "[]", "null", "{}", #"{"type": 3}"#, #"{"type": "no.such"}"#, #"{"type": "connection.create"}"#, deep, "\u{0}"] {
      client.send(BridgeFrame(control: text, document: 1))
    }
    client.send(BridgeFrame(kind: .control, document: 1, payload: [0xFF, 0xFE, 0x80]))
    client.send(BridgeFrame(kind: .callAnswer, document: 1, payload: []))
    client.send(
      BridgeFrame(
        control: #"{"type": "connection.addIceCandidate", "id": 41, "connection": 1, "candidate": {"candidate": 5}}"#, document: 1))
    struct Answer: Decodable { var type: String, id: UInt32, error: ReplyError }
    let answer = try await client.next("refusal") { try? JSONDecoder().decode(Answer.self, from: Data($0.payload)) }
    #expect(answer.id == 41 && answer.error.name == "TypeError" && answer.error.message.hasPrefix("candidate.candidate: "))
    let _: DevicesReply = try await page.request(DevicesList(id: page.identifier()))
    #expect(await discards(world, "bridge.malformed") == 12)
    #expect(await discards(world, "bridge.unexpectedKind") == 1)
    await world.stop()
  }

  @Test func noOneSpeaksAsTheHostBesideIt() async throws {
    let world = try await World()
    let host = try world.client()
    host.send(HostHello(version: "1", process: 77))
    let settings = try await host.next("settings") { try? JSONDecoder().decode(PageSettings.self, from: Data($0.payload)) }
    #expect(settings.url == World.origin + "/room?box=1")
    // A second host, a web process that speaks as the host, a host with documents.
    let second = try world.client()
    second.send(HostHello(version: "1", process: 78))
    try await second.end()
    let web = try world.client()
    _ = FakeDocument(web, number: 1, origin: World.origin)
    web.send(PageTitle(title: "forged"))
    try await web.end()
    host.send(PageTitle(title: "true"))
    try await world.wait("title") { world.events.all.contains(.title("true")) }
    #expect(!world.events.all.contains(.title("forged")))
    _ = FakeDocument(host, number: 1, origin: World.origin)
    try await host.end()
    try await world.wait("loss of the host") { world.events.all.contains(.hostLost) }
    await world.stop()
  }

  @Test func aFloodDoesNotKeepOthersWaiting() async throws {
    let world = try await World()
    let (flooding, client) = (try world.client(), try world.client())
    let flood = FakeDocument(flooding, number: 1, origin: World.origin)
    let page = FakeDocument(client, number: 1, origin: World.origin)
    var frames: [UInt8] = []
    for _ in 0..<5_000 { BridgeFrame(control: #"{"type": "track.stop", "track": 12345}"#, document: 1).append(to: &frames) }
    let all = frames
    let sending = Task.detached { flooding.send(raw: all) }
    let _: DevicesReply = try await page.request(DevicesList(id: page.identifier()))
    await sending.value
    let _: DevicesReply = try await flood.request(DevicesList(id: flood.identifier()))
    #expect(await discards(world, "track.unknown") == 5_000)
    await world.stop()
  }
}
