import Base
import BridgeMessages
import Call
import Camera
import DTLS
import Foundation
import Frames
import Net
import Sound
import Synchronization

@testable import PageSession
@testable import Stage

/// A page service with synthetic devices and a headless stage, and fake pages that speak to it.
final class World: Sendable {
  static let origin = "https://calls.example.org"

  let network: NetworkThread
  let stage: Stage
  let camera: CameraThread
  let microphone: MicrophoneThread
  /// The microphone's sound with any processing.
  let processed: AudioFanOut
  let playout: PlayoutThread
  let service: PageService
  let folder: String
  private let heard = Mutex<[PageEvent]>([])
  private let loudness = Heard()

  /// How the devices stand, by the test's word.
  struct Watches: Sendable {
    let camera = DeviceWatch()
    let microphone = DeviceWatch()
    let speaker = DeviceWatch()
  }

  final class Heard: Sendable {
    let peak = Mutex(0.0)
  }

  init(
    allowedOrigins: [String] = [],
    grants: @escaping @Sendable (String) -> PageService.Grant = { _ in .init(camera: true, microphone: true) },
    receiveWindow: Int = 5 << 20, congestion: Int = 4 << 20, watches: Watches? = nil
  ) async throws {
    folder = NSTemporaryDirectory() + "page-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    network = await NetworkThread()
    stage = Stage(width: 640, height: 360)
    camera = CameraThread(source: SyntheticCamera(width: 320, height: 180))
    microphone = MicrophoneThread(source: SyntheticMicrophone())
    let processed = AudioFanOut()
    self.processed = processed
    // What is done to voices here: they become half as loud.
    _ = microphone.sound.add { processed.put($0.scaled(from: 0.5, to: 0.5)) }
    let loudness = self.loudness
    playout = PlayoutThread { block, _ in loudness.peak.withLock { $0 = max($0, block.peak) } }
    var session = PeerSession.Configuration(certificate: try Certificate.generate())
    session.includesLoopback = true
    session.receiveWindow = receiveWindow
    var page = PageSettings(url: World.origin + "/room?box=1")
    page.allowedOrigins = allowedOrigins
    let events = Events()
    var configuration = PageService.Configuration(
      runtimeFolder: folder, page: page, session: session, grants: grants, deviceSalt: [1, 2, 3])
    configuration.congestion = congestion
    service = try await PageService(
      configuration: configuration,
      network: network, stage: stage,
      media: PageService.Media(
        cameras: [.init(identifier: "front", label: "Front camera", camera: camera, watch: watches?.camera)],
        microphone: .init(
          identifier: "desk", label: "Desk microphone", watch: watches?.microphone, isExpected: watches != nil,
          processing: VoiceProcessing(),
          sound: { [processed, microphone] in $0.isNeeded ? processed : microphone.sound }),
        speaker: .init(playout: playout, watch: watches?.speaker))
    ) { events.add($0) }
    self.events = events
  }

  final class Events: Sendable {
    private let list = Mutex<[PageEvent]>([])
    func add(_ event: PageEvent) { list.withLock { $0.append(event) } }
    var all: [PageEvent] { list.withLock { $0 } }
  }

  let events: Events

  /// The loudest sample that was played so far, 0 to 1.
  var loudestPlayed: Double { loudness.peak.withLock { $0 } }

  func client() throws -> FakeClient { try FakeClient(path: folder + "/bridge.sock") }

  func stop() async {
    await service.stop()
    camera.stop()
    microphone.stop()
    playout.stop()
    network.stop()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Waits until `condition` holds. The limit only ends a hang.
  func wait(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(300)
    while try await !condition() {
      guard ContinuousClock.now < end else { throw FakeClient.TimedOut(description: "no \(what)") }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// Puts videos over the whole screen, as a page would, and lets the screen show what there is until `isDone`.
  func show(_ videos: [UInt32], until isDone: (Flip) -> Bool) async throws {
    let placements = videos.map { VideoPlacement(video: VideoIdentifier(rawValue: $0), width: 640, height: 360) }
    let surface = SurfaceLayer(
      identifier: 1, bitmap: SurfaceBitmap(width: 640, height: 360), target: Rectangle(x: 0, y: 0, width: 640, height: 360),
      damage: [Rectangle(x: 0, y: 0, width: 640, height: 360)], videos: placements)
    stage.update(layers: LayersUpdate(layers: [surface], isRearranged: true))
    try await wait("picture on the screen") {
      guard let flip = stage.present(now: MonotonicClock.now()) else { return false }
      service.flipped(flip)
      return isDone(flip)
    }
  }
}

/// Two documents with a connection each, which exchange descriptions and candidates.
struct ConnectedPair {
  let caller: FakeDocument
  let callee: FakeDocument
  let connections: (caller: UInt32, callee: UInt32)

  /// Exchanges offer, answer and candidates, and waits until both are connected.
  static func connect(
    _ caller: FakeDocument, _ callee: FakeDocument, prepare: (_ callerConnection: UInt32, _ calleeConnection: UInt32) async throws -> Void,
    prepareAnswer: (_ offered: Snapshot, _ calleeConnection: UInt32) async throws -> Void = { _, _ in }
  ) async throws -> (pair: ConnectedPair, offered: Snapshot, answered: Snapshot) {
    let (a, b) = (caller.identifier(), callee.identifier())
    caller.post(ConnectionCreate(connection: a))
    callee.post(ConnectionCreate(connection: b))
    try await prepare(a, b)
    let pair = ConnectedPair(caller: caller, callee: callee, connections: (a, b))
    let (offered, answered) = try await pair.negotiate(prepareAnswer: prepareAnswer)
    async let one: Void = pair.trickle(from: caller, a, to: callee, b)
    async let other: Void = pair.trickle(from: callee, b, to: caller, a)
    _ = try await (one, other)
    _ = try await caller.event(ConnectionState.self) { $0.connection == a && $0.state == "connected" }
    _ = try await callee.event(ConnectionState.self) { $0.connection == b && $0.state == "connected" }
    return (pair, offered, answered)
  }

  /// One exchange of offer and answer; returns the callee's snapshot of the offer and the caller's of the answer.
  func negotiate(
    prepareAnswer: (_ offered: Snapshot, _ calleeConnection: UInt32) async throws -> Void = { _, _ in }
  ) async throws -> (offered: Snapshot, answered: Snapshot) {
    let (a, b) = connections
    let offer: Description = try await caller.request(CreateOffer(id: caller.identifier(), connection: a))
    let _: Snapshot = try await caller.request(SetLocalDescription(id: caller.identifier(), connection: a, description: offer))
    let offered: Snapshot = try await callee.request(SetRemoteDescription(id: callee.identifier(), connection: b, description: offer))
    try await prepareAnswer(offered, b)
    let answer: Description = try await callee.request(CreateAnswer(id: callee.identifier(), connection: b))
    let _: Snapshot = try await callee.request(SetLocalDescription(id: callee.identifier(), connection: b, description: answer))
    let answered: Snapshot = try await caller.request(SetRemoteDescription(id: caller.identifier(), connection: a, description: answer))
    return (offered, answered)
  }

  private func trickle(from: FakeDocument, _ source: UInt32, to: FakeDocument, _ target: UInt32) async throws {
    while true {
      let found = try await from.event(IceCandidateFound.self) { $0.connection == source }
      let _: Snapshot = try await to.request(AddIceCandidate(id: to.identifier(), connection: target, candidate: found.candidate))
      if found.candidate == nil { return }
    }
  }
}
