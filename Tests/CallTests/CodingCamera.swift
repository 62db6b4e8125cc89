import Base
import Camera
import Codecs
import Frames
import Glibc
import Net
import ScriptedDevices
import V4L2

@testable import Call

/// A machine with a camera that can code H.264 itself, 320 by 180 pixels, and somebody who gives its pictures, 30 a second: time codes tell which each is.
final class CodingCamera: Sendable {
  let devices: ScriptedVideoDevices
  private let feeder: WorkerThread
  private let state: Guarded<State>

  private struct State {
    /// What a decoder that loses nothing shows of each picture that was coded.
    var shown: [UInt32: [UInt8]] = [:]
    var requests = 0
    var coded = 0
    var isDamaging = false
  }

  static let width = 320
  static let height = 180

  init() {
    let devices = ScriptedVideoDevices { path in
      let modes = [FourCC.yuv420, .h264].map { ScriptedVideoDevice.Mode($0, CodingCamera.width, CodingCamera.height) }
      let device = ScriptedVideoDevice(name: path, card: "Coding camera", modes: [.capture: modes])
      device.add(VideoControl(.bitrate, range: 50_000...8_000_000, defaultValue: 50_000))
      device.add(VideoControl(.forceKeyFrame))
      return device
    }
    let state = Guarded(State())
    (self.devices, self.state) = (devices, state)
    feeder = WorkerThread(name: "feeder") { thread in
      let scene = SyntheticCamera(width: CodingCamera.width, height: CodingCamera.height)
      var coder: Coder?
      var index = 0
      while !thread.isStopping {
        usleep(33_000)
        guard let device = devices.streaming else { continue }
        let frame = scene.frame(at: index)
        index += 1
        if device.currentFormat()?.pixelFormat == .h264 {
          if coder?.device !== device { coder = Coder(device) }
          coder?.code(frame, UInt32(index - 1), state)
        } else {
          device.deliver(time: MonotonicClock.now()) { _, memory in CodingCamera.copy(frame.buffer, to: memory) }
        }
      }
    }
  }

  private static func copy(_ picture: VideoBuffer, to memory: UnsafeMutableRawBufferPointer) {
    var offset = 0
    func plane(_ start: UnsafeMutablePointer<UInt8>, _ stride: Int, _ width: Int, _ height: Int) {
      for row in 0..<height {
        memcpy(memory.baseAddress! + offset, start + row * stride, width)
        offset += width
      }
    }
    plane(picture.luma, picture.lumaStride, picture.width, picture.height)
    plane(picture.chromaU, picture.chromaStride, picture.chromaWidth, picture.chromaHeight)
    plane(picture.chromaV, picture.chromaStride, picture.chromaWidth, picture.chromaHeight)
  }

  /// The encoder inside one opened device.
  private final class Coder {
    let device: ScriptedVideoDevice
    private let encoder: any VideoEncoder
    private let decoder: any VideoDecoder
    private var bitrate: Int64 = 0

    init(_ device: ScriptedVideoDevice) {
      self.device = device
      encoder = try! CodecFactory.videoEncoder(.h264, settings: VideoEncoderSettings(width: width, height: height, bitrate: 300_000))
      decoder = try! CodecFactory.videoDecoder(.h264)
    }

    func code(_ frame: VideoFrame, _ index: UInt32, _ state: Guarded<State>) {
      if let value = device.value(.bitrate), value != bitrate {
        bitrate = value
        try! encoder.setBitrate(Int(value), framesPerSecond: 30)
      }
      let isRequested = device.value(.forceKeyFrame) == 1
      if isRequested {
        try? device.set([ControlSetting(.forceKeyFrame, 0)])
        state.with { $0.requests += 1 }
      }
      guard let coded = try! encoder.encode(frame, forceKeyFrame: isRequested), let shown = try! decoder.decode(coded) else { return }
      let luma = CodingCamera.luma(shown.buffer)
      let isDamaged = state.with { state in
        defer { state.isDamaging = false }
        state.shown[index] = luma
        state.coded += 1
        return state.isDamaging
      }
      device.deliver(
        flags: isDamaged ? [.monotonic, .error] : [.monotonic], time: MonotonicClock.now(), byteCounts: [coded.bytes.count]
      ) { _, memory in coded.bytes.withUnsafeBytes { memory.copyMemory(from: $0) } }
    }
  }

  static func luma(_ picture: VideoBuffer) -> [UInt8] {
    (0..<picture.height).flatMap { UnsafeBufferPointer(start: picture.luma + $0 * picture.lumaStride, count: picture.width) }
  }

  /// How many key frames it was asked for.
  var requests: Int { state.with { $0.requests } }
  /// How many pictures it coded.
  var coded: Int { state.with { $0.coded } }
  /// Whether this is, to the last bit, what comes out of what it coded.
  func hasCoded(_ picture: VideoBuffer) -> Bool {
    guard let index = TimeCode.read(from: picture)?.index else { return false }
    let luma = CodingCamera.luma(picture)
    return state.with { $0.shown[index] == luma }
  }
  /// Has the next picture arrive damaged.
  func damageNext() { state.with { $0.isDamaging = true } }
  func stop() { feeder.stop() }
}
