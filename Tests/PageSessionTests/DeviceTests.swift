import BridgeMessages
import Call
import Foundation
import Frames
import Testing

@testable import PageSession

/// Devices that come, go and come back, as pages see them.
@Suite(.serialized) struct DeviceTests {
  private struct Page {
    var world: World
    var watches: World.Watches
    var document: FakeDocument

    init(camera: DeviceState, microphone: DeviceState = .running(name: "Desk"), speaker: DeviceState = .running(name: "Loud")) async throws
    {
      watches = World.Watches()
      watches.camera.set(camera)
      watches.microphone.set(microphone)
      watches.speaker.set(speaker)
      world = try await World(watches: watches)
      document = FakeDocument(try world.client(), number: 1, origin: World.origin)
    }

    func devices() async throws -> [DevicesReply.Device] {
      let reply: DevicesReply = try await document.request(DevicesList(id: document.identifier()))
      return reply.devices
    }

    func open(_ kind: TrackKind, track: UInt32, deviceId: String? = nil, settings: TrackSettings? = nil) async throws -> TrackReply {
      try await document.request(
        TrackOpen(
          id: document.identifier(), track: track, trackId: "t\(track)", deviceId: deviceId, kind: kind, settings: settings))
    }

    /// Waits until everything that was posted so far was handled.
    func flush() async throws {
      await #expect(throws: FakeClient.Refused.self) {
        let _: TrackReply = try await document.request(TrackApply(id: document.identifier(), track: 99, settings: TrackSettings()))
      }
    }
  }

  @Test func aCameraThatIsPulledOutMutesItsTracksUntilItIsBack() async throws {
    let page = try await Page(camera: .running(name: "HD Webcam"))
    let listed = try await page.devices()
    #expect(listed.map(\.label) == ["Desk", "HD Webcam", "Loud"] && listed.allSatisfy { $0.isAbsent == nil })
    let opened = try await page.open(.video, track: 1)
    #expect(opened.label == "HD Webcam" && opened.isMuted == nil)
    page.document.post(TrackClone(track: 3, from: 1, trackId: "clone"))
    try await page.flush()

    page.watches.camera.set(.absent(reason: "unplugged"))
    for track in [UInt32(1), 3] {
      let muted = try await page.document.event(TrackMuted.self) { $0.track == track }
      #expect(muted.isMuted)
    }
    _ = try await page.document.event(DevicesChanged.self)
    let away = try await page.devices()
    #expect(away.map(\.isAbsent) == [nil, true, nil], "it is not listed to pages, and can be opened all the same")
    let later = try await page.open(.video, track: 5, deviceId: away[1].deviceId)
    #expect(later.isMuted == true)

    // Looked for again: nothing that pages would hear of, until it comes to something.
    page.watches.camera.set(.starting)
    page.watches.camera.set(.busy(reason: "held"))
    _ = try await page.document.event(DevicesChanged.self)
    #expect(try await page.devices().map(\.isAbsent) == [nil, nil, nil])
    page.watches.camera.set(.running(name: "Another"))
    for track in [UInt32(1), 3, 5] {
      let back = try await page.document.event(TrackMuted.self) { $0.track == track && !$0.isMuted }
      #expect(back.settings?.width == 320 && back.capabilities?.width?.max == 320)
    }
    let devices = try await page.devices()
    #expect(devices[1].label == "Another" && devices[1].deviceId == listed[1].deviceId, "it takes the place of the first one")
    let ended = page.document.client.pending.filter { String(decoding: $0.payload, as: UTF8.self).contains(TrackEnded.type) }
    #expect(ended.isEmpty)
    await page.world.stop()
  }

  @Test func aBoxThatNeverHadACameraSaysSoUntilOneComes() async throws {
    let page = try await Page(camera: .absent(reason: "none"), microphone: .absent(reason: "none"), speaker: .absent(reason: "none"))
    let first = try await page.devices()
    #expect(first.map(\.kind) == [.audioinput] && first[0].isAbsent == true, "the microphone is one that the owner named")
    await #expect(throws: FakeClient.Refused(name: "NotFoundError", message: "there is no such camera")) {
      _ = try await page.open(.video, track: 1)
    }
    let sound = try await page.open(.audio, track: 3)
    #expect(sound.isMuted == true && sound.label == "Desk microphone")
    page.watches.camera.set(.running(name: "HD Webcam"))
    _ = try await page.document.event(DevicesChanged.self)
    #expect(try await page.devices().map(\.kind) == [.audioinput, .videoinput])
    #expect(try await page.open(.video, track: 1).isMuted == nil)
    page.watches.microphone.set(.running(name: "Desk"))
    #expect(try await page.document.event(TrackMuted.self) { $0.track == 3 }.isMuted == false)
    await page.world.stop()
  }

  @Test func aPageThatAsksWhileTheBoxStartsWaitsForTheDevices() async throws {
    let page = try await Page(camera: .starting)
    async let listed = page.devices()
    try await page.flush()
    page.watches.camera.set(.running(name: "HD Webcam"))
    #expect(try await listed.map(\.label) == ["Desk", "HD Webcam", "Loud"])
    await page.world.stop()
  }

  @Test func aDocumentWithoutAGrantLearnsNoNames() async throws {
    let watches = World.Watches()
    for watch in [watches.camera, watches.microphone, watches.speaker] { watch.set(.running(name: "Secret")) }
    let world = try await World(grants: { _ in .init() }, watches: watches)
    let document = FakeDocument(try world.client(), number: 1, origin: World.origin)
    let reply: DevicesReply = try await document.request(DevicesList(id: document.identifier()))
    #expect(reply.devices.count == 3 && reply.devices.allSatisfy { $0.label == "" && $0.deviceId == "" && $0.capabilities == nil })
    await world.stop()
  }

  @Test func eachTrackHasItsVoiceProcessed() async throws {
    let page = try await Page(camera: .running(name: "HD Webcam"))
    let capabilities = try #require(try await page.devices()[0].capabilities)
    #expect(capabilities.echoCancellation == [true, false] && capabilities.autoGainControl == [true, false])
    let clean = try await page.open(.audio, track: 1)
    #expect(clean.settings.echoCancellation == true && clean.settings.noiseSuppression == true && clean.settings.autoGainControl == true)
    var plain = TrackSettings()
    (plain.echoCancellation, plain.noiseSuppression, plain.autoGainControl) = (false, false, false)
    #expect(try await page.open(.audio, track: 3, settings: plain).settings.noiseSuppression == false)
    page.document.post(AudioTap(tap: 21, track: 1))
    page.document.post(AudioTap(tap: 23, track: 3))
    _ = try await page.document.frame(.audio, target: 21)
    _ = try await page.document.frame(.audio, target: 23)
    // The processing of this box itself is one more listener to the microphone.
    #expect(page.world.processed.sinkCount == 1 && page.world.microphone.sound.sinkCount == 2)

    var halfway = plain
    halfway.noiseSuppression = true
    let applied: TrackReply = try await page.document.request(TrackApply(id: page.document.identifier(), track: 3, settings: halfway))
    #expect(applied.settings.noiseSuppression == true && applied.settings.echoCancellation == false)
    #expect(page.world.processed.sinkCount == 2 && page.world.microphone.sound.sinkCount == 1)
    page.document.client.forget()
    _ = try await page.document.frame(.audio, target: 23)

    let back: TrackReply = try await page.document.request(TrackApply(id: page.document.identifier(), track: 1, settings: plain))
    #expect(back.settings.echoCancellation == false)
    #expect(page.world.processed.sinkCount == 1 && page.world.microphone.sound.sinkCount == 2)
    page.document.post(TrackStop(track: 1))
    page.document.post(TrackStop(track: 3))
    try await page.flush()
    #expect(page.world.processed.sinkCount == 0 && page.world.microphone.sound.sinkCount == 1)
    await page.world.stop()
  }
}
