import Base
import Camera
import Codecs
import DTLS
import Frames
import Glibc
import Net
import ScriptedDevices
import Testing
import V4L2
import WebRTC

@testable import Call

/// Calls with a camera that codes H.264 itself, over the loopback.
@Suite(.serialized) struct CodingCameraCallTests {
  /// What somebody sees.
  private final class Seen: Sendable {
    private let state = Guarded((count: 0, exact: 0, codes: 0, last: VideoFrame?.none))
    let camera: CodingCamera
    init(_ camera: CodingCamera) { self.camera = camera }
    func take(_ frame: VideoFrame) {
      let (isExact, isCode) = (camera.hasCoded(frame.buffer), TimeCode.read(from: frame.buffer) != nil)
      state.with { $0 = ($0.count + 1, $0.exact + (isExact ? 1 : 0), $0.codes + (isCode ? 1 : 0), frame) }
    }
    var count: Int { state.with { $0.count } }
    /// Pictures that are to the last bit what the camera coded.
    var exact: Int { state.with { $0.exact } }
    /// Pictures whose time code can be read.
    var codes: Int { state.with { $0.codes } }
    var width: Int { state.with { $0.last?.width ?? 0 } }
    var isBlack: Bool {
      state.with { $0.last.map { abs(Int($0.buffer.luma[0]) - 16) < 4 && abs(Int($0.buffer.luma[5_000]) - 16) < 4 } ?? false }
    }
  }

  /// A box that sends, and a peer that looks.
  private final class Pair: Sendable {
    let (box, peer): (PeerSession, PeerSession)
    private let networks: [NetworkThread]
    private let sending = Guarded<TransceiverIdentifier?>(nil)
    private let receiving = Guarded<TransceiverIdentifier?>(nil)
    /// Candidates that came before both sides knew each other's description; nil from then on.
    private let early = Guarded<[@Sendable () -> Void]?>([])

    init(_ source: VideoFanOut, to seen: Seen, codec: @escaping @Sendable (CodecCapability) -> Bool) async throws {
      networks = [await NetworkThread(), await NetworkThread()]
      var configuration = PeerSession.Configuration(certificate: try Certificate.generate())
      configuration.includesLoopback = true
      configuration.codecs = CodecCapability.all.filter(codec)
      let (one, other, settings) = (networks[0], networks[1], configuration)
      box = await one.loop.perform { PeerSession(on: one, configuration: settings) }
      peer = await other.loop.perform { PeerSession(on: other, configuration: settings) }
      for (session, remote) in [(box, peer), (peer, box)] {
        await session.loop.perform { [receiving, early] in
          session.onEvent = { [unowned session, unowned remote] event in
            switch event {
            case .iceCandidate(let candidate):
              let add: @Sendable () -> Void = { [unowned remote] in
                remote.loop.run { try? remote.withConnection { connection, now in try connection.addIceCandidate(candidate, now: now) } }
              }
              if early.with({ $0?.append(add) }) == nil { add() }
            case .track(let identifier):
              receiving.with { $0 = identifier }
              session.show(identifier) { seen.take($0) }
            default: break
            }
          }
        }
      }
      let offer = try await box.loop.perform { [box, sending] () -> Result<String, any Error> in
        Result {
          let identifier = try box.withConnection { connection, _ in try connection.addTransceiver(.video, direction: .sendonly) }
          sending.with { $0 = identifier }
          box.send(.video(source), on: identifier)
          return try Pair.describe(box)
        }
      }.get()
      let answer = try await peer.loop.perform { [peer] () -> Result<String, any Error> in
        Result {
          try peer.withConnection { connection, now in try connection.setRemoteDescription(.offer, sdp: offer, now: now) }
          return try Pair.describe(peer)
        }
      }.get()
      try await box.loop.perform { [box] () -> Result<Void, any Error> in
        Result { try box.withConnection { connection, now in try connection.setRemoteDescription(.answer, sdp: answer, now: now) } }
      }.get()
      for add in early.with({ early in
        defer { early = nil }
        return early ?? []
      }) { add() }
    }

    private static func describe(_ session: PeerSession) throws -> String {
      try session.withConnection { connection, now in
        try connection.setLocalDescription(now: now)
        return connection.localDescription?.description.description ?? ""
      }
    }

    /// The peer lost its picture.
    func requestKeyFrame() async {
      await peer.loop.perform { [peer, receiving] in if let identifier = receiving.with({ $0 }) { peer.requestKeyFrame(of: identifier) } }
    }

    func setLimits(_ limits: EncodingLimits) async {
      await box.loop.perform { [box, sending] in if let identifier = sending.with({ $0 }) { box.setLimits(limits, on: identifier) } }
    }

    /// W3C `encoderImplementation`.
    var implementation: String? {
      get async { await box.loop.perform { [box] in box.senders.values.first?.implementation?.name } }
    }

    func end() async {
      await box.loop.perform { [box] in box.close() }
      await peer.loop.perform { [peer] in peer.close() }
      for network in networks { network.stop() }
    }
  }

  private func until(_ what: String, _ condition: () async -> Bool) async throws {
    for _ in 0..<6_000 {
      if await condition() { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("in 30 seconds not: \(what)")
  }

  private func thread(_ machine: CodingCamera) -> CameraThread {
    var settings = CameraSettings()
    (settings.width, settings.height) = (CodingCamera.width, CodingCamera.height)
    return CameraThread(settings: settings, devices: machine.devices)
  }

  private static let h264: @Sendable (CodecCapability) -> Bool = { $0.name == "H264" && $0.parameter("packetization-mode") == "1" }

  @Test func thePeerSeesToTheLastBitWhatTheCameraCoded() async throws {
    let machine = CodingCamera()
    let camera = thread(machine)
    try await until("a camera that gives pictures") { camera.watch.state.isRunning }
    #expect(camera.statistics.format == "YU12" && machine.coded == 0, "nobody sends what it would code")
    let seen = Seen(machine)
    let pair = try await Pair(camera.pictures, to: seen, codec: CodingCameraCallTests.h264)
    try await until("what the camera coded") { seen.exact > 10 }
    #expect(await pair.implementation == "camera" && camera.statistics.format == "H264")
    #expect(!camera.pictures.needs.pictures && camera.pictures.newest == nil, "nobody looks, so nothing is decoded")
    try await until("a bitrate that follows the network") { (machine.devices.streaming?.value(.bitrate) ?? 0) > 50_000 }
    let requests = machine.requests
    try await until("a key frame that the camera is asked for") {
      await pair.requestKeyFrame()
      return machine.requests > requests
    }

    // The box's own screen shows it too.
    let screen = Seen(machine)
    let sink = camera.pictures.add(isOnlooker: true) { screen.take($0) }
    try await until("the box's own picture") { screen.exact > 10 }
    camera.pictures.remove(sink)
    var exact = seen.exact
    try await until("the call that goes on") { seen.exact > exact + 10 }
    #expect(!camera.pictures.needs.pictures)

    // What arrives damaged is left out, and the peer sees nothing that is broken.
    exact = seen.exact
    machine.damageNext()
    try await until("pictures after a damaged one") { camera.statistics.figures.discards[.flagged] == 1 && seen.exact > exact + 10 }
    #expect(seen.exact >= seen.count - 40, "all but what was coded here before the camera did")
    await pair.end()
    camera.stop()
    machine.stop()
  }

  @Test func whoTakesOtherPicturesGetsThem() async throws {
    let machine = CodingCamera()
    let camera = thread(machine)
    let (first, second) = (Seen(machine), Seen(machine))
    let pair = try await Pair(camera.pictures, to: first, codec: CodingCameraCallTests.h264)
    try await until("what the camera coded") { first.exact > 10 }
    let other = try await Pair(camera.pictures, to: second) { $0.name == "VP8" }
    try await until("what a peer with VP8 sees") { second.codes > 10 }
    #expect(await other.implementation != "camera" && camera.statistics.format == "H264")
    var exact = first.exact
    try await until("the first call that goes on") { first.exact > exact + 10 }
    await other.end()

    var limits = EncodingLimits()
    limits.scaleDownBy = 2
    await pair.setLimits(limits)
    try await until("pictures of half the size") { first.width == CodingCamera.width / 2 }
    #expect(await pair.implementation != "camera")
    limits.scaleDownBy = 1
    await pair.setLimits(limits)
    exact = first.exact
    try await until("the camera's own again") { first.exact > exact + 10 }
    #expect(await pair.implementation == "camera")

    // A camera that is pulled out shows black, and goes on when it is back.
    machine.devices.set([])
    machine.devices.streaming?.unplug()
    try await until("black") { first.isBlack }
    exact = first.exact
    machine.devices.set([VideoNode(path: "/dev/video1")])
    try await until("the camera's own after it was away") { first.exact > exact + 10 }
    await pair.end()
    camera.stop()
    machine.stop()
  }

  /// Whatever it is that a camera codes: what is of no use is not tried for ever.
  @Test func aCameraThatCodesNothingOfUseIsUsedAsOneThatDoesNot() async throws {
    let devices = ScriptedVideoDevices { path in
      let modes = [FourCC.yuyv, .h264].map { ScriptedVideoDevice.Mode($0, 64, 32) }
      return ScriptedVideoDevice(name: path, modes: [.capture: modes])
    }
    let feeder = WorkerThread(name: "feeder") { thread in
      while !thread.isStopping {
        devices.streaming?.deliver(time: MonotonicClock.now())
        usleep(5_000)
      }
    }
    var settings = CameraSettings()
    (settings.width, settings.height, settings.ownH264) = (64, 32, .always)
    var patience = CameraRecovery.Patience()
    (patience.firstPicture, patience.closing) = (.milliseconds(300), .milliseconds(300))
    let camera = CameraThread(settings: settings, devices: devices, patience: patience)
    try await until("pictures") { camera.watch.state.isRunning }
    #expect(camera.statistics.format == "YUYV" && (camera.statistics.figures.discards[.short] ?? 0) > 0)
    camera.stop()
    feeder.stop()
  }
}
