import RTP
import SDP

/// Audio or video.
public enum MediaKind: String, Sendable, Hashable {
  /// Sound.
  case audio
  /// Pictures.
  case video
}

/// A codec that this side can send or receive: W3C `RTCRtpCodec`, with the RTCP feedback that goes with it.
public struct CodecCapability: Sendable, Hashable {
  /// Audio or video.
  public var kind: MediaKind
  /// The encoding name as in `a=rtpmap`, compared without case: `VP8`, `H264`, `opus`.
  public var name: String
  /// RTP clock rate in Hz.
  public var clockRate: Int
  /// Audio channels; nil for video and where one is meant.
  public var channelCount: Int?
  /// The value of `a=fmtp`, empty when there is none: `minptime=10;useinbandfec=1`.
  public var parameters: String
  /// Values of `a=rtcp-fb`, such as `nack pli`.
  public var feedback: [String]
  /// The payload type that offers use unless the peer chose another; 0 to 127.
  public var preferredPayloadType: UInt8

  /// A capability; `feedback` defaults to what the media kind usually has.
  public init(
    kind: MediaKind, name: String, clockRate: Int, channelCount: Int? = nil, parameters: String = "", feedback: [String]? = nil,
    preferredPayloadType: UInt8
  ) {
    (self.kind, self.name, self.clockRate, self.channelCount) = (kind, name, clockRate, channelCount)
    (self.parameters, self.preferredPayloadType) = (parameters, preferredPayloadType)
    self.feedback =
      feedback ?? (kind == .video ? ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"] : ["transport-cc"])
  }

  /// `video/VP8`, as W3C `mimeType`.
  public var mimeType: String { "\(kind.rawValue)/\(name)" }

  /// Whether the codec only repairs or accompanies another one.
  public var isAuxiliary: Bool { ["rtx", "red", "ulpfec", "telephone-event", "cn"].contains(name.lowercased()) }

  /// How payloads of this codec are cut and put together; nil for a codec this stack has no payload format for.
  public var payloadFormat: PayloadFormat? {
    switch name.lowercased() {
    case "opus": .opus
    case "pcmu": .pcmu
    case "pcma": .pcma
    case "vp8": .vp8
    case "h264": .h264(packetizationMode: Int(parameter("packetization-mode") ?? "0") ?? 0)
    default: nil
    }
  }

  /// The value of one `a=fmtp` parameter.
  public func parameter(_ key: String) -> String? { CodecCapability.parameter(key, in: parameters) }

  static func parameter(_ key: String, in parameters: String) -> String? {
    for part in parameters.split(separator: ";") {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard let name = pair.first?.trimmed(), name.lowercased() == key.lowercased() else { continue }
      return pair.count > 1 ? pair[1].trimmed() : ""
    }
    return nil
  }

  /// Whether a codec in the peer's description is this one: name, rate, channels, and for H.264 profile and packetization mode (RFC 6184 section 8.2.2).
  func matches(name: String, clockRate: Int, channelCount: Int?, parameters: String) -> Bool {
    guard self.name.lowercased() == name.lowercased(), self.clockRate == clockRate, (self.channelCount ?? 1) == (channelCount ?? 1) else {
      return false
    }
    guard name.lowercased() == "h264" else { return true }
    return H264Profile.isCompatible(FormatParameters(parameters), FormatParameters(self.parameters))
  }
}

extension CodecCapability {
  /// What this stack has payload formats for, in the order that offers name it.
  public static let all: [CodecCapability] = [
    CodecCapability(
      kind: .audio, name: "opus", clockRate: 48_000, channelCount: 2, parameters: "minptime=10;useinbandfec=1", preferredPayloadType: 111),
    CodecCapability(kind: .audio, name: "PCMU", clockRate: 8_000, preferredPayloadType: 0),
    CodecCapability(kind: .audio, name: "PCMA", clockRate: 8_000, preferredPayloadType: 8),
    CodecCapability(kind: .audio, name: "telephone-event", clockRate: 48_000, feedback: [], preferredPayloadType: 110),
    CodecCapability(kind: .audio, name: "telephone-event", clockRate: 8_000, feedback: [], preferredPayloadType: 126),
    CodecCapability(kind: .video, name: "VP8", clockRate: 90_000, preferredPayloadType: 96),
    h264(profile: "42e01f", packetizationMode: 1, payloadType: 102),
    h264(profile: "42e01f", packetizationMode: 0, payloadType: 104),
    h264(profile: "42001f", packetizationMode: 1, payloadType: 106),
    h264(profile: "42001f", packetizationMode: 0, payloadType: 108),
    h264(profile: "4d001f", packetizationMode: 1, payloadType: 112),
    h264(profile: "4d001f", packetizationMode: 0, payloadType: 114),
  ]

  private static func h264(profile: String, packetizationMode: Int, payloadType: UInt8) -> CodecCapability {
    CodecCapability(
      kind: .video, name: "H264", clockRate: 90_000,
      parameters: "level-asymmetry-allowed=1;packetization-mode=\(packetizationMode);profile-level-id=\(profile)",
      preferredPayloadType: payloadType)
  }
}

extension StringProtocol {
  func trimmed() -> String {
    var part = self[...]
    while let first = part.first, first.isWhitespace { part = part.dropFirst() }
    while let last = part.last, last.isWhitespace { part = part.dropLast() }
    return String(part)
  }
}
