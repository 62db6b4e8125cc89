/// How the media of one payload type is laid into RTP payloads.
public enum PayloadFormat: Sendable, Hashable {
  /// Opus (RFC 7587).
  case opus
  /// G.711 µ-law (RFC 3551 section 4.5.14).
  case pcmu
  /// G.711 A-law.
  case pcma
  /// VP8 (RFC 7741).
  case vp8
  /// H.264 (RFC 6184). Mode 0 knows single NAL units only, mode 1 also aggregation (STAP-A) and fragmentation (FU-A).
  case h264(packetizationMode: Int)
  /// Redundant audio (RFC 2198).
  case red
  /// Retransmission of another payload type (RFC 4588).
  case rtx
  /// DTMF digits (RFC 4733).
  case telephoneEvent
  /// Comfort noise (RFC 3389).
  case comfortNoise

  /// The format with an encoding name of `a=rtpmap` (letter case does not matter); nil for one that is not understood.
  public init?(encodingName: String, packetizationMode: Int = 0) {
    switch encodingName.lowercased() {
    case "opus": self = .opus
    case "pcmu": self = .pcmu
    case "pcma": self = .pcma
    case "vp8": self = .vp8
    case "h264" where (0...1).contains(packetizationMode): self = .h264(packetizationMode: packetizationMode)
    case "red": self = .red
    case "rtx": self = .rtx
    case "telephone-event": self = .telephoneEvent
    case "cn": self = .comfortNoise
    default: return nil
    }
  }

  /// The encoding name as session descriptions spell it.
  public var encodingName: String {
    switch self {
    case .opus: "opus"
    case .pcmu: "PCMU"
    case .pcma: "PCMA"
    case .vp8: "VP8"
    case .h264: "H264"
    case .red: "red"
    case .rtx: "rtx"
    case .telephoneEvent: "telephone-event"
    case .comfortNoise: "CN"
    }
  }

  /// Whether the payload is a video frame or a part of one.
  public var isVideo: Bool {
    switch self {
    case .vp8, .h264: true
    default: false
    }
  }
}

/// An RTP payload that does not keep to its format. The packet is to be discarded and counted.
public enum MalformedPayload: Error, Sendable, Equatable, CustomStringConvertible {
  /// The payload ends before the named field.
  case truncated(String)
  /// The named field holds a value that the format forbids, or that its user did not agree to.
  case value(String)
  /// A fragment of a NAL unit whose first fragment is missing.
  case fragmentWithoutStart

  public var description: String {
    switch self {
    case .truncated(let field): "payload ends before \(field)"
    case .value(let field): "forbidden value in \(field)"
    case .fragmentWithoutStart: "fragment without its first part"
    }
  }
}

/// What a payload says of itself, beside the RTP header.
public struct PayloadDescriptor: Sendable, Equatable {
  /// Where the media begins in the payload, behind a payload descriptor.
  public var mediaOffset = 0
  /// Whether a frame may begin with this payload. For VP8 and audio that is certain. An H.264 frame can begin with each of several NAL units
  /// in turn (SPS, PPS, slice): its first packet is the one whose predecessor has another RTP time stamp.
  public var isFrameStart = true
  /// Whether a frame begins that can be decoded without any other: for H.264 a packet with an SPS or the start of an IDR picture.
  public var isKeyFrameStart = true
  /// Whether the payload ends its frame for certain. Video says so by the marker bit in the RTP header only.
  public var isFrameEnd = true
  /// Whether no other frame depends on this one.
  public var isDiscardable = false
  /// VP8 picture identifier: 7 or 15 bits, one more for each frame.
  public var pictureIdentifier: UInt16?
  /// Whether `pictureIdentifier` has 15 bits.
  public var isLongPictureIdentifier = false
  /// VP8 TL0PICIDX: counts the frames of the base temporal layer.
  public var baseLayerIndex: UInt8?
  /// Temporal layer, 0…3.
  public var temporalIdentifier: UInt8?
  /// Whether the frame depends on the base layer only.
  public var isLayerSync = false
  /// VP8 KEYIDX: counts key frames, 0…31.
  public var keyIndex: UInt8?
  /// VP8 partition, 0…7.
  public var partition: UInt8 = 0
  /// Picture width in pixels, where the start of a VP8 key frame tells it.
  public var width: Int?
  /// Picture height in pixels, where the start of a VP8 key frame tells it.
  public var height: Int?

  /// A whole audio frame.
  public init() {}
}
