import Base

extension VideoJitterBuffer {
  /// What happened in the buffer, under the names of W3C `RTCInboundRtpStreamStats`.
  public struct Counters: Sendable, Equatable {
    /// Whole frames received, those included that were dropped afterwards.
    public var framesReceived = 0
    /// Key frames among those that were released.
    public var keyFramesReleased = 0
    /// Frames given up: incomplete, or depending on a frame that was.
    public var framesDropped = 0
    /// Packets that came too late, twice, or could not be kept.
    public var packetsDiscarded = 0
    /// Packets whose payload does not keep to its format.
    public var packetsMalformed = 0
    /// Released frames that came in more than one packet.
    public var framesAssembledFromMultiplePackets = 0
    /// Time from the first packet's arrival to the last one's, over those frames.
    public var totalAssemblyTime = Interval.zero
    /// Time from the first packet's arrival to the release, over all released frames.
    public var jitterBufferDelay = Interval.zero
    /// Frames released.
    public var jitterBufferEmittedCount = 0
    /// How often a gap was not filled in time, so that the picture stood until the next key frame.
    public var gapsGivenUp = 0
    /// Key-frame requests that `pollKeyFrameRequest` called for.
    public var keyFrameRequests = 0
  }
}
