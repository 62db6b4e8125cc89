import Base
import Codecs
import Frames
import WebRTC

/// What feeds one transceiver's sending side: a camera through an encoder of its own, or the microphone.
final class Sender {
  private enum Feed {
    case video(camera: CameraThread, encoder: EncoderThread)
    case audio(microphone: MicrophoneThread, outlet: Int)
  }

  private let feed: Feed
  let codecName: String

  /// Sends what `camera` sees; `output` is called on the encoder's thread.
  init(
    camera: CameraThread, codec: VideoCodec, settings: VideoEncoderSettings,
    output: @escaping @Sendable (EncodedVideoFrame, _ encodeTime: Interval) -> Void
  ) throws(CodecError) {
    let encoder = try EncoderThread(codec: codec, settings: settings, output: output)
    feed = .video(camera: camera, encoder: encoder)
    codecName = codec.rawValue
    encoder.requestKeyFrame()
    camera.add(encoder.mailbox) { [unowned encoder] in encoder.frameArrived() }
  }

  /// Sends what `microphone` hears; `output` is called on the microphone's thread.
  init(
    microphone: MicrophoneThread, codec: AudioCodec, channelCount: Int,
    output: @escaping @Sendable (MicrophoneThread.EncodedAudioFrame) -> Void
  ) throws(CodecError) {
    feed = .audio(microphone: microphone, outlet: try microphone.add(codec, channelCount: channelCount, output: output))
    codecName = codec.rawValue
  }

  var implementationName: String? {
    if case .video(_, let encoder) = feed { encoder.implementationName } else { nil }
  }

  func requestKeyFrame() { if case .video(_, let encoder) = feed { encoder.requestKeyFrame() } }

  func setBitrate(_ bitrate: Int) { if case .video(_, let encoder) = feed { encoder.setBitrate(bitrate) } }

  func setPacketLoss(_ fraction: Double) {
    if case .audio(let microphone, let outlet) = feed { microphone.setPacketLoss(fraction, of: outlet) }
  }

  func stop() {
    switch feed {
    case .video(let camera, let encoder):
      camera.remove(encoder.mailbox)
      encoder.stop()
    case .audio(let microphone, let outlet): microphone.remove(outlet)
    }
  }
}
