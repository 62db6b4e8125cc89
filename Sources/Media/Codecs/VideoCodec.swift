/// The video codecs that every WebRTC endpoint must speak (RFC 7742), by their names in SDP.
public enum VideoCodec: String, Sendable, Hashable, CaseIterable {
  case vp8 = "VP8"
  case h264 = "H264"
}

/// The audio codecs that every WebRTC endpoint must speak (RFC 7874), by their names in SDP.
public enum AudioCodec: String, Sendable, Hashable, CaseIterable {
  case opus
  case pcmu = "PCMU"
  case pcma = "PCMA"

  /// The RTP clock rate in Hz: what time stamps count (RFC 7587, RFC 3551).
  public var clockRate: Int { self == .opus ? 48_000 : 8_000 }
}
