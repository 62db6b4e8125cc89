/// How a sender sends: W3C `RTCRtpSendParameters`, in what encoders and streams follow.
public struct SendParameters: Sendable, Hashable {
  /// The encodings, at least one; several with names are a simulcast.
  public var encodings = [SendEncoding()]
  /// What suffers first when the network or the processor does not bear all; nil leaves it to the encoder.
  public var degradationPreference: DegradationPreference?

  /// One encoding without limits.
  public init(encodings: [SendEncoding] = [SendEncoding()], degradationPreference: DegradationPreference? = nil) {
    (self.encodings, self.degradationPreference) = (encodings, degradationPreference)
  }
}

/// One encoding of a sent track: W3C `RTCRtpEncodingParameters`.
public struct SendEncoding: Sendable, Hashable {
  /// The restriction identifier (RFC 8852): letters and digits; nil for the only encoding.
  public var rid: String?
  /// Whether it is sent.
  public var isActive = true
  /// Most bits per second, headers of transports not counted; nil for no limit of its own.
  public var maximumBitrate: Int?
  /// Most pictures per second, 0 or more; nil for no limit.
  public var maximumFrameRate: Double?
  /// How many times smaller than the track each side of a picture is, 1 or more; nil means 1.
  public var scaleResolutionDownBy: Double?
  /// The share of the bandwidth that it gets among all encodings (W3C WebRTC Priority section 3).
  public var priority = Priority.low
  /// The marking of its packets (RFC 8837).
  public var networkPriority = Priority.low

  /// An active encoding without limits.
  public init(rid: String? = nil) { self.rid = rid }
}

/// How much something matters among its like: W3C `RTCPriorityType`.
public enum Priority: String, Sendable, Hashable, CaseIterable {
  case veryLow = "very-low"
  case low, medium, high

  /// The weight of a data channel of this priority (RFC 8831 section 6.4).
  public var channelWeight: UInt16 {
    switch self {
    case .veryLow: 128
    case .low: 256
    case .medium: 512
    case .high: 1_024
    }
  }

  /// The priority that a data channel's weight stands for.
  public init(channelWeight: UInt16) {
    self =
      switch channelWeight {
      case ...128: .veryLow
      case ...256: .low
      case ...512: .medium
      default: .high
      }
  }
}

/// What an encoder keeps up when it cannot keep up everything: W3C `RTCDegradationPreference` (WebRTC Extensions section 4).
public enum DegradationPreference: String, Sendable, Hashable, CaseIterable {
  /// Fewer pixels before fewer pictures.
  case maintainFrameRate = "maintain-framerate"
  /// Fewer pictures before fewer pixels.
  case maintainResolution = "maintain-resolution"
  /// Both in turn.
  case balanced
  /// Neither: the quality of each picture suffers alone.
  case maintainFrameRateAndResolution = "maintain-framerate-and-resolution"
}
