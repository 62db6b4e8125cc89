import Base
import Codecs
import Frames
import SDP
import WebRTC

/// Where a sender's media comes from; it can be exchanged for another one of its kind while the sender runs.
public enum SenderSource: Sendable {
  /// Pictures.
  case video(VideoFanOut)
  /// Sound.
  case audio(AudioFanOut)
}

/// What one transceiver sends: a source, through an encoder of its own.
final class Sender {
  private enum Encoder {
    case video(EncoderThread)
    case audio(AudioEncoding)
  }

  private let encoder: Encoder
  private var detach: () -> Void = {}
  private var limits = EncodingLimits()
  let codecName: String
  /// The parameters that the peer wrote for it.
  var codecParameters = ""
  /// What its source gives.
  let figures = SourceFigures()

  /// Sends pictures, and what a camera codes itself as far as the peer takes it: `accepted` says of H.264 what it does, nil: none. `output` is called on the encoder's
  /// thread.
  init(
    video codec: VideoCodec, settings: VideoEncoderSettings, accepted: H264Profile?,
    output: @escaping @Sendable (EncodedVideoFrame, _ encodeTime: Interval) -> Void
  ) throws(CodecError) {
    encoder = .video(try EncoderThread(codec: codec, settings: settings, accepted: accepted, output: output))
    codecName = codec.rawValue
  }

  /// Sends sound; `output` is called on the source's thread.
  init(audio codec: AudioCodec, output: @escaping @Sendable (AudioEncoding.Packet) -> Void) throws(CodecError) {
    encoder = .audio(try AudioEncoding(codec: codec, output: output))
    codecName = codec.rawValue
  }

  /// Takes its media from `source` from now on; with nil it sends nothing.
  func setSource(_ source: SenderSource?) {
    detach()
    detach = {}
    switch (encoder, source) {
    case (.video(let encoder), .video(let pictures)):
      encoder.requestKeyFrame()
      let sink = encoder.passesUnits ? takeUnits(of: pictures, encoder) : takePictures(of: pictures, encoder)
      detach = {
        encoder.connect(nil)
        pictures.remove(sink)
        _ = encoder.mailbox.take()
      }
    case (.audio(let encoding), .audio(let sound)) where limits.isActive:
      let sink = sound.add { [figures] block in
        figures.count(block)
        encoding.encode(block)
      }
      detach = { sound.remove(sink) }
    default: break
    }
  }

  private func takePictures(of pictures: VideoFanOut, _ encoder: EncoderThread) -> Int {
    pictures.add { [figures] frame in
      figures.count(frame)
      encoder.mailbox.put(frame)
      encoder.frameArrived()
    }
  }

  private func takeUnits(of pictures: VideoFanOut, _ encoder: EncoderThread) -> Int {
    let generation = encoder.begin(pictures.unitFormat)
    let sink = pictures.add(
      needs: VideoNeeds(pictures: !pictures.givesUnits, units: true),
      units: { [figures] unit in
        if let unit { figures.count(unit) }
        encoder.unitArrived(unit, generation: generation)
      },
      pictures: { [figures, weak pictures] frame in
        // What comes both ways is one picture.
        if pictures?.givesUnits != true { figures.count(frame) }
        encoder.mailbox.put(frame)
        encoder.frameArrived()
      })
    encoder.connect(
      EncoderThread.Source(setNeeds: { pictures.setNeeds($0, of: sink) }, requestKeyFrame: { pictures.requestKeyFrame() }))
    return sink
  }

  /// Keeps to `limits` from now on; `source` is what it sends.
  func setLimits(_ limits: EncodingLimits, source: SenderSource?) {
    let wasActive = self.limits.isActive
    self.limits = limits
    switch encoder {
    case .video(let encoder):
      encoder.setLimits(limits)
      if limits.isActive, !wasActive { encoder.requestKeyFrame() }
    case .audio(let encoding):
      if let maximum = limits.maximumBitrate { encoding.setBitrate(min(max(maximum, 6_000), AudioEncoderSettings().bitrate)) }
      if limits.isActive != wasActive { setSource(source) }
    }
  }

  var isVideo: Bool { if case .video = encoder { true } else { false } }

  /// Who encodes pictures; nil: it sends sound.
  var implementation: CodecImplementation? {
    if case .video(let encoder) = encoder { encoder.implementation } else { nil }
  }

  func requestKeyFrame() { if case .video(let encoder) = encoder { encoder.requestKeyFrame() } }

  func setBitrate(_ bitrate: Int) { if case .video(let encoder) = encoder { encoder.setBitrate(bitrate) } }

  func setPacketLoss(_ fraction: Double) { if case .audio(let encoding) = encoder { encoding.setPacketLoss(fraction) } }

  func stop() {
    detach()
    detach = {}
    if case .video(let encoder) = encoder { encoder.stop() }
  }
}
