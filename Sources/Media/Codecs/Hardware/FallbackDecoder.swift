import Base
import Frames

/// A decoder in hardware with software behind it, which takes over at the next key frame; one is asked for at once.
final class FallbackDecoder: VideoDecoder {
  private typealias Answer = Result<VideoFrame?, CodecError>

  /// Frames in a row that hardware may refuse before it is taken to be at fault rather than the stream.
  private static let refusalLimit = 3

  private let codec: VideoCodec
  private let threadCount: Int
  private let deviceName: String
  private var hardware: CodecWorker<EncodedVideoFrame, Answer>?
  private var software: (any VideoDecoder)?
  private var hasStarted = false
  private var refusals = 0
  private var goodFrames = 0
  private let patience: CodingPatience
  private let onFailure: @Sendable (HardwareFailure) -> Void

  /// Begins to open `device`. `onFailure` is called, once at most, when it is given up.
  init(
    _ codec: VideoCodec, threadCount: Int = 1, device: any CodingDevice, patience: CodingPatience = CodingPatience(),
    onFailure: @escaping @Sendable (HardwareFailure) -> Void
  ) {
    (self.codec, self.threadCount, self.patience) = (codec, threadCount, patience)
    (self.onFailure, deviceName) = (onFailure, device.name)
    hardware = CodecWorker(name: "parlor-hw-decode") {
      let opened = Result { () throws(CodecError) in try device.makeDecoder(codec) }
      return { frame in Answer { () throws(CodecError) in try opened.get().decode(frame) } }
    }
  }

  var implementationName: String { software?.implementationName ?? deviceName }
  var isHardware: Bool { software == nil }
  /// The devices do not tell; software does.
  var lastQuantizer: Int? { software?.lastQuantizer }

  func decode(_ frame: EncodedVideoFrame) throws(CodecError) -> VideoFrame? {
    guard let hardware else { return try softwareDecoder().decode(frame) }
    // A key frame may bring another size, for which the device is set up anew.
    let limit = hasStarted && !frame.isKeyFrame ? patience.frame : patience.start
    let failure: HardwareFailure
    switch hardware.perform(frame, within: limit) {
    case .success(let picture)?:
      hasStarted = true
      goodFrames += 1
      if goodFrames >= 100 { refusals = 0 }
      return picture
    case .failure(.keyFrameRequired)?: throw .keyFrameRequired
    case .failure(.malformed(let text))?:
      // Most often the stream is to blame, and its next key frame heals it.
      goodFrames = 0
      refusals += 1
      let takes = frame.isKeyFrame ? try? CodecFactory.softwareDecoder(codec, threadCount: threadCount) : nil
      let isDeviceAtFault = refusals >= FallbackDecoder.refusalLimit || (takes.map { (try? $0.decode(frame)) != nil } ?? false)
      guard isDeviceAtFault else { throw .malformed(text) }
      failure = .failed("refuses good frames: \(text)")
    case .failure(let error)?: failure = HardwareFailure(error)
    case nil: failure = .hung("no picture within \(Int(limit.milliseconds)) ms")
    }
    self.hardware = nil
    onFailure(failure)
    return try softwareDecoder().decode(frame)
  }

  private func softwareDecoder() throws(CodecError) -> any VideoDecoder {
    if let software { return software }
    let made = try CodecFactory.softwareDecoder(codec, threadCount: threadCount)
    software = made
    return made
  }
}
