import BridgeMessages
import Foundation
import Frames
import Testing

@testable import PageSession

/// Tracks of all kinds on their way from one document to another, and what the page does with them.
@Suite(.serialized) struct MediaTests {
  /// A caller that sends one track, and a callee that receives it.
  private struct Call {
    var world: World
    var pair: ConnectedPair
    var transceiver: UInt32
    var received: UInt32
    var caller: FakeDocument { pair.caller }
    var callee: FakeDocument { pair.callee }
  }

  private func call(sending track: UInt32, kind: TrackKind, open: (FakeDocument) async throws -> Void) async throws -> Call {
    let world = try await World()
    let client = try world.client()
    let caller = FakeDocument(client, number: 1, origin: World.origin)
    let callee = FakeDocument(client, number: 2, origin: World.origin)
    try await open(caller)
    let transceiver = caller.identifier()
    let (pair, offered, _) = try await ConnectedPair.connect(caller, callee) { a, _ in
      caller.post(TransceiverAdd(connection: a, transceiver: transceiver, kind: kind, streams: ["s"], track: track))
    }
    return Call(
      world: world, pair: pair, transceiver: transceiver, received: try #require(offered.transceivers.first).receivingTrack.track)
  }

  private func openCamera(_ page: FakeDocument, track: UInt32, _ change: (inout TrackSettings) -> Void = { _ in }) async throws
    -> TrackSettings
  {
    var settings = TrackSettings()
    change(&settings)
    let reply: TrackReply = try await page.request(
      TrackOpen(id: page.identifier(), track: track, trackId: "camera", kind: .video, settings: settings))
    return reply.settings
  }

  private func picture(width: Int, height: Int, _ color: [UInt8]) -> [UInt8] {
    [0, 0, UInt8(width >> 8), UInt8(width & 255), 0, 0, UInt8(height >> 8), UInt8(height & 255)]
      + (0..<width * height).flatMap { _ in color }
  }

  /// The colour in the middle of what a track shows now.
  private func color(_ page: FakeDocument, _ track: UInt32) async throws -> [Int] {
    let answer = try await page.call(FrameGrab(track: track))
    let (width, height) = (Int(answer[2]) << 8 | Int(answer[3]), Int(answer[6]) << 8 | Int(answer[7]))
    guard width > 0 else { return [] }
    let middle = 8 + (height / 2 * width + width / 2) * 4
    return answer[middle..<middle + 3].map { Int($0) }
  }

  @Test func aSenderChangesItsTrackWithoutNegotiation() async throws {
    let call = try await call(sending: 11, kind: .video) { _ = try await openCamera($0, track: 11) }
    call.callee.post(VideoPlay(video: 5, track: call.received))
    let first = try await call.callee.event(VideoSize.self)
    #expect(first.width == 320)

    call.caller.post(TrackMake(track: 13, trackId: "made", kind: .video))
    let _: NoValue = try await call.caller.request(
      SenderSetTrack(
        id: call.caller.identifier(), connection: call.pair.connections.caller, transceiver: call.transceiver, track: 13, isReplacing: true)
    )
    let red = picture(width: 96, height: 64, [230, 20, 20, 255])
    call.caller.send(.video, target: 13, red)
    let second = try await call.callee.event(VideoSize.self)
    #expect(second.width == 96 && second.height == 64)
    try await call.world.wait("red") {
      call.caller.send(.video, target: 13, red)
      let seen = try await color(call.callee, call.received)
      return seen.count == 3 && seen[0] > 180 && seen[1] < 80 && seen[2] < 80
    }

    // Nothing is sent without a track, and the sender goes on with the next one.
    let _: NoValue = try await call.caller.request(
      SenderSetTrack(
        id: call.caller.identifier(), connection: call.pair.connections.caller, transceiver: call.transceiver, track: nil, isReplacing: true
      ))
    let _: NoValue = try await call.caller.request(
      SenderSetTrack(
        id: call.caller.identifier(), connection: call.pair.connections.caller, transceiver: call.transceiver, track: 11, isReplacing: true)
    )
    let third = try await call.callee.event(VideoSize.self)
    #expect(third.width == 320)
    await #expect(throws: FakeClient.Refused(name: "TypeError", message: "the track is not of kind video")) {
      call.caller.post(TrackMake(track: 15, trackId: "sound", kind: .audio))
      let _: NoValue = try await call.caller.request(
        SenderSetTrack(
          id: call.caller.identifier(), connection: call.pair.connections.caller, transceiver: call.transceiver, track: 15))
    }
    await call.world.stop()
  }

  @Test func aDisabledTrackIsBlackAndAnEnabledOneIsNot() async throws {
    let call = try await call(sending: 11, kind: .video) { _ = try await openCamera($0, track: 11) }
    call.callee.post(VideoPlay(video: 5, track: call.received))
    _ = try await call.callee.event(VideoSize.self)
    func isBlack() async throws -> Bool { try await color(call.callee, call.received).reduce(0, +) < 24 }
    try await call.world.wait("a picture") { try await !isBlack() }
    call.caller.post(TrackEnable(track: 11, isEnabled: false))
    try await call.world.wait("black") { try await isBlack() }
    call.caller.post(TrackEnable(track: 11, isEnabled: true))
    try await call.world.wait("a picture again") { try await !isBlack() }
    await call.world.stop()
  }

  @Test func tracksOfOneCameraHaveTheirOwnSizes() async throws {
    let world = try await World()
    let page = FakeDocument(try world.client(), number: 1, origin: World.origin)
    let small = try await openCamera(page, track: 1) { ($0.width, $0.height, $0.frameRate) = (160, 120, 10) }
    #expect(small.width == 160 && small.height == 120 && small.frameRate == 10 && small.resizeMode == "crop-and-scale")
    let whole = try await openCamera(page, track: 3)
    #expect(whole.width == 320 && whole.height == 180 && whole.frameRate == 30)
    page.post(TrackClone(track: 5, from: 1, trackId: "clone"))
    for (video, track) in [(UInt32(7), UInt32(1)), (9, 3), (11, 5)] { page.post(VideoPlay(video: video, track: track)) }
    var sizes: [UInt32: [Int]] = [:]
    while sizes.count < 3 {
      let size = try await page.event(VideoSize.self)
      sizes[size.video] = [size.width, size.height]
    }
    #expect(sizes == [7: [160, 120], 9: [320, 180], 11: [160, 120]])
    var wider = TrackSettings()
    (wider.width, wider.height) = (200, 100)
    let applied: TrackReply = try await page.request(TrackApply(id: page.identifier(), track: 1, settings: wider))
    #expect(applied.settings.width == 200 && applied.settings.frameRate == 30)
    let changed = try await page.event(VideoSize.self)
    #expect(changed.video == 7 && changed.width == 200)
    // The camera is read while someone looks, and no longer.
    for video in [UInt32(7), 9, 11] { page.post(VideoPlay(video: video, track: nil)) }
    try await world.wait("rest") { world.camera.pictures.sinkCount == 0 }
    await world.stop()
  }

  @Test func soundIsHeardAsLoudAsItsElementSays() async throws {
    let call = try await call(sending: 11, kind: .audio) { page in
      let _: TrackReply = try await page.request(TrackOpen(id: page.identifier(), track: 11, trackId: "microphone", kind: .audio))
    }
    call.callee.post(AudioTap(tap: 21, track: call.received))
    // A tap hears what arrives, whether it is played or not.
    var loudest = 0
    while loudest < 1_000 {
      let block = try await call.callee.frame(.audio, target: 21)
      #expect(block.payload.count == 960)
      for index in stride(from: 0, to: 960, by: 2) {
        loudest = max(loudest, abs(Int(Int16(bitPattern: UInt16(block.payload[index]) | UInt16(block.payload[index + 1]) << 8))))
      }
    }
    #expect(call.world.loudestPlayed == 0)
    call.callee.post(AudioPlay(element: 31, tracks: [call.received], volume: 0.8, isMuted: true))
    let _: DevicesReply = try await call.callee.request(DevicesList(id: call.callee.identifier()))
    #expect(call.world.loudestPlayed == 0)
    call.callee.post(AudioPlay(element: 31, tracks: [call.received], volume: 0.8))
    try await call.world.wait("sound") { call.world.loudestPlayed > 0.02 }
    call.callee.post(AudioUntap(tap: 21))
    call.callee.post(AudioPlay(element: 31, tracks: []))

    struct Report: Decodable { var report: [Entry] }
    struct Entry: Decodable { var type: String, kind: String?, totalSamplesReceived: Int?, totalAudioEnergy: Double? }
    let report: Report = try await call.callee.request(GetStats(id: call.callee.identifier(), connection: call.pair.connections.callee))
    #expect(report.report.contains { $0.type == "inbound-rtp" && ($0.totalSamplesReceived ?? 0) > 0 })
    let sent: Report = try await call.caller.request(GetStats(id: call.caller.identifier(), connection: call.pair.connections.caller))
    #expect(sent.report.contains { $0.type == "media-source" && $0.kind == "audio" && ($0.totalAudioEnergy ?? 0) > 0 })
    await call.world.stop()
  }

  @Test func soundOfThePageIsSentAndPlayed() async throws {
    let call = try await call(sending: 11, kind: .audio) { $0.post(TrackMake(track: 11, trackId: "made", kind: .audio)) }
    call.caller.post(AudioPlay(element: 33, tracks: [11]))
    call.callee.post(AudioTap(tap: 21, track: call.received))
    let tone = (0..<480).flatMap { index -> [UInt8] in
      let value = Int16(12_000 * sin(2 * Double.pi * Double(index) / 48))
      return [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }
    try await call.world.wait("the tone at the other end") {
      call.caller.send(.audio, target: 11, tone)
      let heard = call.callee.client.pending.contains { frame in
        frame.kind == .audio && frame.target == 21
          && stride(from: 0, to: frame.payload.count, by: 2).contains { frame.payload[$0 + 1] > 0x20 && frame.payload[$0 + 1] < 0x60 }
      }
      try await Task.sleep(for: .milliseconds(8))
      return heard && call.world.loudestPlayed > 0.3
    }
    call.caller.send(.audio, target: 11, [1, 2, 3])
    call.caller.send(.audio, target: 12, tone)
    let _: DevicesReply = try await call.caller.request(DevicesList(id: call.caller.identifier()))
    let discards = await call.world.service.statistics().discards
    #expect(discards["track.malformed"] == 1 && discards["track.unknown"] == 1)
    await call.world.stop()
  }

  @Test func aRollbackTakesAwayWhatTheOfferBrought() async throws {
    let world = try await World()
    let client = try world.client()
    let caller = FakeDocument(client, number: 1, origin: World.origin)
    let callee = FakeDocument(client, number: 2, origin: World.origin)
    caller.post(ConnectionCreate(connection: 1))
    callee.post(ConnectionCreate(connection: 1))
    caller.post(TransceiverAdd(connection: 1, transceiver: 3, kind: .video, receivingTrack: .init(track: 5, trackId: "mine")))
    let offer: Description = try await caller.request(CreateOffer(id: 7, connection: 1))
    let offered: Snapshot = try await callee.request(SetRemoteDescription(id: 7, connection: 1, description: offer))
    #expect(offered.transceivers.count == 1 && offered.signalingState == "have-remote-offer" && offered.pendingRemote?.type == .offer)
    let back: Snapshot = try await callee.request(
      SetRemoteDescription(id: 9, connection: 1, description: Description(type: .rollback, sdp: "")))
    #expect(back.transceivers.isEmpty && back.signalingState == "stable")
    let mine: Snapshot = try await caller.request(SetLocalDescription(id: 9, connection: 1, description: offer))
    #expect(mine.transceivers.first?.receivingTrack == .init(track: 5, trackId: "mine"))
    #expect(await world.service.statistics().documents.map(\.tracks).sorted() == [0, 1])
    await world.stop()
  }

  @Test func certificatesAndCapabilities() async throws {
    let world = try await World()
    let page = FakeDocument(try world.client(), number: 1, origin: World.origin)
    let soon = (Date().timeIntervalSince1970 + 86_400) * 1_000
    let made: CertificateReply = try await page.request(
      CertificateGenerate(id: page.identifier(), certificate: 3, algorithm: .ecdsa, expires: soon))
    #expect(made.fingerprints.first?.algorithm == "sha-256" && made.expires == soon)
    page.post(ConnectionCreate(connection: 1, configuration: ConnectionConfiguration(certificate: 3)))
    page.post(ChannelCreate(connection: 1, channel: 5, label: ""))
    let offer: Description = try await page.request(CreateOffer(id: page.identifier(), connection: 1))
    #expect(offer.sdp.lowercased().contains(try #require(made.fingerprints.first?.value)))
    let capabilities = try JSONDecoder().decode(CapabilitiesReply.self, from: Data(try await page.call(GetCapabilities())))
    #expect(
      capabilities.video.codecs.contains { $0.mimeType == "video/VP8" }
        && capabilities.audio.codecs.contains { $0.mimeType == "audio/opus" })
    #expect(capabilities.video.headerExtensions.contains { $0.uri == "urn:3gpp:video-orientation" })
    page.post(CertificateRelease(certificate: 3))
    await world.stop()
  }
}
