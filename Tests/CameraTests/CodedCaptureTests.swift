import Base
import Codecs
import Frames
import Glibc
import ScriptedDevices
import Testing
import V4L2

@testable import Camera

/// A camera that codes H.264 itself.
@Suite struct CodedCaptureTests {
  private typealias Mode = ScriptedVideoDevice.Mode

  private final class CodingCamera {
    let device: ScriptedVideoDevice
    private let encoder: any VideoEncoder
    private let scene = SyntheticCamera(width: 320, height: 180)
    private var index = 0

    init(controls: [VideoControl.Identifier] = [.bitrate, .forceKeyFrame]) throws {
      device = ScriptedVideoDevice(modes: [.capture: [Mode(.yuyv, 320, 180), Mode(.h264, 320, 180), Mode(.h264, 640, 360)]])
      for control in controls {
        device.add(control == .bitrate ? VideoControl(.bitrate, range: 100_000...2_000_000, step: 50_000) : VideoControl(control))
      }
      encoder = try CodecFactory.videoEncoder(.h264, settings: VideoEncoderSettings(width: 320, height: 180, bitrate: 300_000))
    }

    /// The next picture, coded.
    func code(keyFrame: Bool = false) throws -> [UInt8] {
      defer { index += 1 }
      return try #require(try encoder.encode(scene.frame(at: index), forceKeyFrame: keyFrame)).bytes
    }

    @discardableResult
    func deliver(_ bytes: [UInt8], flags: QueueBuffer.Flags = [.monotonic], at time: Instant = .zero) -> Bool {
      device.deliver(flags: flags, time: time, byteCounts: [bytes.count]) { _, memory in
        bytes.withUnsafeBytes { memory.copyMemory(from: $0) }
      }
    }
  }

  private func settings(_ own: CameraSettings.OwnH264 = .automatic) -> CameraSettings {
    var settings = CameraSettings()
    (settings.width, settings.height, settings.ownH264) = (320, 180, own)
    return settings
  }

  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test func itIsUsedWhereSomebodySendsItAndItCanFollow() throws {
    func format(_ own: CameraSettings.OwnH264, takesUnits: Bool, controls: [VideoControl.Identifier] = [.bitrate]) throws -> FourCC {
      let camera = try CodingCamera(controls: controls)
      return try CaptureSession(device: camera.device, settings: settings(own), takesUnits: takesUnits).mode.pixelFormat
    }
    #expect(try format(.automatic, takesUnits: true) == .h264)
    #expect(try format(.automatic, takesUnits: false) == .yuyv)
    #expect(try format(.automatic, takesUnits: true, controls: []) == .yuyv, "a bitrate that nobody can lower")
    #expect(try format(.always, takesUnits: false, controls: []) == .h264)
    #expect(try format(.never, takesUnits: true) == .yuyv)
    var other = settings(.always)
    other.height = 200
    #expect(try CaptureSession(device: CodingCamera().device, settings: other).mode.pixelFormat == .yuyv, "not in another size")
    var mirrored = settings(.always)
    mirrored.isMirrored = true
    #expect(try CaptureSession(device: CodingCamera().device, settings: mirrored).mode.pixelFormat == .yuyv, "not turned over")
  }

  @Test func aCameraThatHasNothingElseIsDecodedForAll() throws {
    let device = ScriptedVideoDevice(modes: [.capture: [Mode(.h264, 640, 360)]])
    let session = try CaptureSession(device: device, settings: settings())
    #expect(session.mode == CaptureMode(.h264, width: 640, height: 360, framesPerSecond: 30) && !session.offersH264)
    #expect(throws: CameraFailure.self) { try CaptureSession(device: device, settings: settings(.never)) }
  }

  @Test func aStreamThatNoDecoderTakesEndsTheSession() throws {
    let camera = try CodingCamera()
    let session = try CaptureSession(device: camera.device, settings: settings(.always))
    // The headers are in order, and the slices are not.
    var broken = try camera.code()
    for index in broken.count / 2..<broken.count { broken[index] = 0xFF }
    var failure: CameraFailure?
    for _ in 0..<3 where failure == nil {
      camera.deliver(broken)
      do throws(CameraFailure) { _ = try session.takePicture(now: { at(0) }) } catch { failure = error }
    }
    guard case .broken(let reason) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(reason.hasPrefix("/dev/video0: its H.264 cannot be decoded: "))
  }

  @Test func everyUnitIsHandedOnAndPicturesAreMadeForWhoLooks() throws {
    let camera = try CodingCamera()
    let session = try CaptureSession(device: camera.device, settings: settings(), takesUnits: true)
    #expect(session.isCoded && session.width == 320 && session.height == 180)
    let coded = try [camera.code(), camera.code(), camera.code()]
    for (index, bytes) in coded.enumerated() { camera.deliver(bytes, at: at(Int64(index) * 33)) }
    var taken: [AccessUnit] = []
    #expect(try session.takeUnits(now: { at(70) }, wantsPicture: false, unit: { taken.append($0) }) == nil)
    #expect(taken.map(\.frame.bytes) == coded)
    #expect(taken.map { $0.frame.ledger[.capture] } == [at(0), at(33), at(66)])
    #expect(session.figures.frames == 3 && session.figures.discardCount == 0 && camera.device.waitingCount() == 5)

    // Somebody looks now: what comes next refers to what was not decoded, so the camera is asked for a key frame.
    camera.deliver(try camera.code())
    #expect(try session.takeUnits(now: { at(100) }, wantsPicture: true, unit: { _ in }) == nil)
    #expect(camera.device.value(.forceKeyFrame) == 1)
    camera.deliver(try camera.code(keyFrame: true), at: at(133))
    let picture = try #require(try session.takeUnits(now: { at(135) }, wantsPicture: true, unit: { _ in }))
    #expect(TimeCode.read(from: picture.buffer)?.index == 4 && picture.ledger[.capture] == at(133))
  }

  @Test func damagedUnitsAreCountedAndAKeyFrameIsAskedFor() throws {
    let camera = try CodingCamera()
    let session = try CaptureSession(device: camera.device, settings: settings(), takesUnits: true)
    var taken: [AccessUnit] = []
    func take(_ milliseconds: Int64) throws {
      _ = try session.takeUnits(now: { at(milliseconds) }, wantsPicture: false, unit: { taken.append($0) })
    }
    camera.deliver(try camera.code())
    try take(0)
    #expect(camera.device.value(.forceKeyFrame) == 0)
    camera.deliver(try camera.code(), flags: [.monotonic, .error])
    try take(33)
    #expect(camera.device.value(.forceKeyFrame) == 1 && session.figures.discards == [.flagged: 1])
    camera.deliver([])
    camera.deliver([UInt8](repeating: 9, count: 50))
    camera.deliver(Array(try camera.code().prefix(6)))
    try take(66)
    #expect(session.figures.discards == [.flagged: 1, .short: 2, .corrupt: 1])
    #expect(taken.count == 1)
    // It is asked again while none comes.
    try camera.device.set([ControlSetting(.forceKeyFrame, 0)])
    try take(283)
    #expect(camera.device.value(.forceKeyFrame) == 1)
    camera.deliver(try camera.code(keyFrame: true))
    try take(300)
    #expect(taken.count == 2 && taken[1].frame.isKeyFrame && taken[1].number > taken[0].number + 1)
  }

  /// Some drivers keep what is damaged to themselves.
  @Test func aUnitThatTheDriverNeverGaveIsNoticed() throws {
    let camera = try CodingCamera()
    let session = try CaptureSession(device: camera.device, settings: settings(), takesUnits: true)
    func take(_ milliseconds: Int64) throws -> VideoFrame? {
      try session.takeUnits(now: { at(milliseconds) }, wantsPicture: true, unit: { _ in })
    }
    for number in 0..<2 {
      camera.deliver(try camera.code())
      #expect(try take(Int64(number) * 33) != nil)
    }
    _ = try camera.code()
    camera.deliver(try camera.code())
    #expect(try take(99) == nil, "it refers to what is not there")
    #expect(session.figures.discards == [.missing: 1] && camera.device.value(.forceKeyFrame) == 1)
    camera.deliver(try camera.code())
    #expect(try take(132) == nil)
    camera.deliver(try camera.code(keyFrame: true))
    #expect(try TimeCode.read(from: #require(try take(165)).buffer)?.index == 5)
    #expect(session.figures.discards == [.missing: 1])
  }

  @Test func aCameraWithoutTheControlIsStartedAnewForAKeyFrame() throws {
    let camera = try CodingCamera(controls: [.bitrate])
    let session = try CaptureSession(device: camera.device, settings: settings(), takesUnits: true)
    func take(_ milliseconds: Int64) throws { _ = try session.takeUnits(now: { at(milliseconds) }, wantsPicture: false, unit: { _ in }) }
    func starts() -> Int { camera.device.calls.count { $0 == "VIDIOC_STREAMON" } }
    session.requestKeyFrame()
    try take(0)
    #expect(starts() == 2 && camera.device.isStreaming() && camera.device.waitingCount() == 5)
    session.requestKeyFrame()
    try take(1_000)
    #expect(starts() == 2, "not more often than others can bear")
    try take(2_000)
    #expect(starts() == 3)
    camera.deliver(try camera.code(keyFrame: true))
    try take(2_033)
    try take(5_000)
    #expect(starts() == 3)
  }

  @Test func theBitrateFollowsInTheCamerasSteps() throws {
    let camera = try CodingCamera()
    let session = try CaptureSession(device: camera.device, settings: settings(), takesUnits: true)
    session.setBitrate(777_000)
    #expect(camera.device.value(.bitrate) == 750_000)
    session.setBitrate(790_000)
    #expect(camera.device.value(.bitrate) == 750_000, "too little a change")
    session.setBitrate(50_000_000)
    #expect(camera.device.value(.bitrate) == 2_000_000)
    session.setBitrate(1_000)
    #expect(camera.device.value(.bitrate) == 100_000)
  }
}
