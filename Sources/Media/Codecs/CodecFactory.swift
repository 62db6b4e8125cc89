/// Makes the encoders and decoders that this machine has, and says which those are.
public enum CodecFactory {
  /// An encoder for `codec`: hardware that the probe saw work, with software behind it; else software.
  public static func videoEncoder(_ codec: VideoCodec, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    try HardwareCodecs.shared.videoEncoder(codec, settings: settings)
  }

  /// A decoder for `codec`, chosen like an encoder; `threadCount` (1 to 16) counts for VP8 in software only.
  public static func videoDecoder(_ codec: VideoCodec, threadCount: Int = 1) throws(CodecError) -> any VideoDecoder {
    guard (1...16).contains(threadCount) else { throw .invalidSetting("\(threadCount) threads, accepted are 1 to 16") }
    return try HardwareCodecs.shared.videoDecoder(codec, threadCount: threadCount)
  }

  /// An encoder for `codec` in software.
  static func softwareEncoder(_ codec: VideoCodec, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    switch codec {
    case .vp8: try VP8Encoder(settings: settings)
    case .h264: try H264Encoder(settings: settings)
    }
  }

  /// A decoder for `codec` in software.
  static func softwareDecoder(_ codec: VideoCodec, threadCount: Int = 1) throws(CodecError) -> any VideoDecoder {
    switch codec {
    case .vp8: try VP8Decoder(threadCount: threadCount)
    case .h264: try H264Decoder()
    }
  }

  /// The library that codes `codec` in software.
  static func softwareName(_ codec: VideoCodec) -> String {
    switch codec {
    case .vp8: "libvpx"
    case .h264: "OpenH264"
    }
  }

  /// An encoder for `codec`.
  public static func audioEncoder(_ codec: AudioCodec, settings: AudioEncoderSettings = AudioEncoderSettings()) throws(CodecError)
    -> any AudioEncoder
  {
    switch codec {
    case .opus: try OpusEncoder(settings: settings)
    case .pcmu: G711Encoder(law: .mu)
    case .pcma: G711Encoder(law: .a)
    }
  }

  /// A decoder for `codec` that puts out `channelCount` channels; G.711 is always mono.
  public static func audioDecoder(_ codec: AudioCodec, channelCount: Int = 1) throws(CodecError) -> any AudioDecoder {
    switch codec {
    case .opus: try OpusDecoder(channelCount: channelCount)
    case .pcmu: G711Decoder(law: .mu)
    case .pcma: G711Decoder(law: .a)
    }
  }
}
