import Codecs

/// What `parlor peer` is to do.
public struct PeerOptions: Sendable, Equatable {
  /// Which side writes the offer.
  public enum Role: Sendable { case offer, answer }

  /// Whether this side offers or answers.
  public var role = Role.offer
  /// The only video codec named; nil for all.
  public var videoCodec: VideoCodec?
  /// For H.264, the packetization mode that is preferred.
  public var packetizationMode = 1
  /// The only audio codec named; nil for all.
  public var audioCodec: AudioCodec?
  /// Whether there is video, sound, a data channel.
  public var hasVideo = true, hasAudio = true, hasData = true
  /// Whether media is sent and received.
  public var sends = true, receives = true
  /// How long the call lasts once it is connected, in seconds.
  public var seconds = 5.0
  /// How long to wait for a connection, in seconds.
  public var connectSeconds = 30.0
  /// STUN and TURN servers.
  public var iceServers: [ICEServer] = []
  /// Only relayed candidates.
  public var isRelayOnly = false
  /// Candidates bear mDNS names.
  public var concealsAddresses = false
  /// Files of certificate authorities for TURN over TLS.
  public var authorities: [String] = []
  /// The synthetic camera's size and rate.
  public var width = 640, height = 360, framesPerSecond = 30.0
  /// Bits per second of video.
  public var bitrate = 1_500_000
  /// A file (Y4M) to keep the received pictures in.
  public var recording: String?

  /// The defaults.
  public init() {}
}
