/// Makes the encoders and decoders that this machine has, and says which those are.
public enum CodecFactory {
  /// An encoder for `codec`.
  public static func videoEncoder(_ codec: VideoCodec, settings: VideoEncoderSettings) throws(CodecError) -> any VideoEncoder {
    switch codec {
    case .vp8: try VP8Encoder(settings: settings)
    case .h264: try H264Encoder(settings: settings)
    }
  }

  /// A decoder for `codec`; `threadCount` (1 to 16) counts for VP8 only.
  public static func videoDecoder(_ codec: VideoCodec, threadCount: Int = 1) throws(CodecError) -> any VideoDecoder {
    guard (1...16).contains(threadCount) else { throw .invalidSetting("\(threadCount) threads, accepted are 1 to 16") }
    switch codec {
    case .vp8: return try VP8Decoder(threadCount: threadCount)
    case .h264: return try H264Decoder()
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

  /// What can be both sent and received, best first, in the terms of SDP.
  public static let capabilities = CodecCapabilities(
    video: [CodecCapability(name: "VP8", clockRate: 90_000)]
      + [("42e01f", "1"), ("42e01f", "0"), ("42001f", "1"), ("42001f", "0"), ("4d001f", "1"), ("4d001f", "0")].map { profile, mode in
        CodecCapability(
          name: "H264", clockRate: 90_000,
          parameters: [("level-asymmetry-allowed", "1"), ("packetization-mode", mode), ("profile-level-id", profile)])
      },
    audio: [
      CodecCapability(name: "opus", clockRate: 48_000, channelCount: 2, parameters: [("minptime", "10"), ("useinbandfec", "1")]),
      CodecCapability(name: "PCMU", clockRate: 8_000, channelCount: 1),
      CodecCapability(name: "PCMA", clockRate: 8_000, channelCount: 1),
    ])
}

/// The codecs that can be negotiated.
public struct CodecCapabilities: Sendable, Equatable {
  /// Video codecs, best first.
  public var video: [CodecCapability]
  /// Audio codecs, best first.
  public var audio: [CodecCapability]
}

/// One codec in the terms of SDP (W3C `RTCRtpCodec`).
public struct CodecCapability: Sendable, Hashable {
  /// The encoding name, such as `VP8`.
  public var name: String
  /// The RTP clock rate in Hz.
  public var clockRate: Int
  /// Channels, for audio.
  public var channelCount: Int?
  /// Format parameters in the order in which SDP lists them.
  public var parameters: [Parameter]

  /// One format parameter.
  public struct Parameter: Sendable, Hashable {
    /// Its name, such as `packetization-mode`.
    public var name: String
    /// Its value as written.
    public var value: String
  }

  /// A codec from its parts.
  public init(name: String, clockRate: Int, channelCount: Int? = nil, parameters: [(String, String)] = []) {
    (self.name, self.clockRate, self.channelCount) = (name, clockRate, channelCount)
    self.parameters = parameters.map { Parameter(name: $0.0, value: $0.1) }
  }
}
