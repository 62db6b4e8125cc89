import Base
import Frames

/// An encoder in hardware with software behind it, which takes over with a key frame, of the very picture that the hardware failed on.
final class FallbackEncoder: VideoEncoder {
  private struct Request: Sendable {
    var frame: VideoFrame
    var forceKeyFrame: Bool
    var bitrate: Int
    var framesPerSecond: Double
  }
  private typealias Answer = Result<EncodedVideoFrame?, CodecError>

  private let codec: VideoCodec
  private var settings: VideoEncoderSettings
  private let deviceName: String
  private var hardware: CodecWorker<Request, Answer>?
  private var software: (any VideoEncoder)?
  private var size = (width: 0, height: 0)
  private let patience: CodingPatience
  private let onFailure: @Sendable (HardwareFailure) -> Void

  /// Begins to open `device`. `onFailure` is called, once at most, when it is given up.
  init(
    _ codec: VideoCodec, settings: VideoEncoderSettings, device: any CodingDevice, patience: CodingPatience = CodingPatience(),
    onFailure: @escaping @Sendable (HardwareFailure) -> Void
  ) throws(CodecError) {
    try settings.validate()
    (self.codec, self.settings, self.patience) = (codec, settings, patience)
    (self.onFailure, deviceName) = (onFailure, device.name)
    hardware = CodecWorker(name: "parlor-hw-encode") {
      let opened = Result { () throws(CodecError) in try device.makeEncoder(codec, settings: settings) }
      var target = (bitrate: settings.bitrate, framesPerSecond: settings.framesPerSecond)
      return { request in
        Answer { () throws(CodecError) in
          let encoder = try opened.get()
          if (request.bitrate, request.framesPerSecond) != target {
            target = (request.bitrate, request.framesPerSecond)
            try encoder.setBitrate(target.bitrate, framesPerSecond: target.framesPerSecond)
          }
          return try encoder.encode(request.frame, forceKeyFrame: request.forceKeyFrame)
        }
      }
    }
  }

  var implementationName: String { software?.implementationName ?? deviceName }
  var isHardware: Bool { software == nil }

  func setBitrate(_ bitrate: Int, framesPerSecond: Double) throws(CodecError) {
    try VideoEncoderSettings.validate(bitrate: bitrate, framesPerSecond: framesPerSecond)
    (settings.bitrate, settings.framesPerSecond) = (bitrate, framesPerSecond)
    try software?.setBitrate(bitrate, framesPerSecond: framesPerSecond)
  }

  func encode(_ frame: VideoFrame, forceKeyFrame: Bool) throws(CodecError) -> EncodedVideoFrame? {
    if let hardware {
      let isStart = (frame.width, frame.height) != size
      size = (frame.width, frame.height)
      let limit = isStart ? patience.start : patience.frame
      let request = Request(
        frame: frame, forceKeyFrame: forceKeyFrame, bitrate: settings.bitrate, framesPerSecond: settings.framesPerSecond)
      switch hardware.perform(request, within: limit) {
      case .success(let encoded)?: return encoded
      case .failure(.invalidSetting(let text))?: throw .invalidSetting(text)
      case .failure(let error)?: giveUp(HardwareFailure(error))
      case nil: giveUp(.hung("no coded picture within \(Int(limit.milliseconds)) ms"))
      }
    }
    if software == nil { software = try CodecFactory.softwareEncoder(codec, settings: settings) }
    return try software?.encode(frame, forceKeyFrame: forceKeyFrame)
  }

  private func giveUp(_ failure: HardwareFailure) {
    hardware = nil
    onFailure(failure)
  }
}
