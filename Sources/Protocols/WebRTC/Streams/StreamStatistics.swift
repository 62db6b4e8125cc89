import Base
import RTP

/// What a sender counts of one RTP stream, with the names of the W3C's `RTCOutboundRtpStreamStats`.
public struct OutboundStreamStatistics: Sendable, Equatable {
  /// Packets sent, retransmissions included.
  public var packetsSent: Int64 = 0
  /// Payload bytes sent, retransmissions included.
  public var bytesSent: Int64 = 0
  /// Header and padding bytes sent.
  public var headerBytesSent: Int64 = 0
  /// Packets sent again.
  public var retransmittedPacketsSent: Int64 = 0
  /// Payload bytes sent again.
  public var retransmittedBytesSent: Int64 = 0
  /// Frames given to the stream.
  public var framesEncoded: Int64 = 0
  /// Key frames given to the stream.
  public var keyFramesEncoded: Int64 = 0
  /// Frames whose last packet was sent.
  public var framesSent: Int64 = 0
  /// NACK packets received.
  public var nackCount: Int64 = 0
  /// Picture loss indications received.
  public var pliCount: Int64 = 0
  /// Full intra requests received.
  public var firCount: Int64 = 0
  /// Time that all packets sent waited in the queue, together.
  public var totalPacketSendDelay = Interval.zero
  /// Frames refused because the queue was full, or because they did not fit their payload format. (Not a W3C name.)
  public var framesDropped: Int64 = 0
  /// Requests for packets that are no longer kept, or are asked for too often. (Not a W3C name.)
  public var retransmissionsRefused: Int64 = 0
}

/// What the other side says of a stream that we send, with the names of `RTCRemoteInboundRtpStreamStats`.
public struct RemoteInboundStreamStatistics: Sendable, Equatable {
  /// Packets lost since reception began.
  public var packetsLost: Int64 = 0
  /// Packets received, as far as the reports let it be known.
  public var packetsReceived: Int64 = 0
  /// Share of packets lost before the last report, 0…1.
  public var fractionLost = 0.0
  /// Jitter in seconds.
  public var jitter = 0.0
  /// The last round-trip time measured; nil when none was.
  public var roundTripTime: Interval?
  /// Sum of all measurements of the round-trip time.
  public var totalRoundTripTime = Interval.zero
  /// Count of measurements of the round-trip time.
  public var roundTripTimeMeasurements: Int64 = 0
}

/// What a receiver counts of one RTP stream, with the names of `RTCInboundRtpStreamStats`.
public struct InboundStreamStatistics: Sendable, Equatable {
  /// Packets received, retransmissions included, duplicates not.
  public var packetsReceived: Int64 = 0
  /// Payload bytes received.
  public var bytesReceived: Int64 = 0
  /// Header and padding bytes received.
  public var headerBytesReceived: Int64 = 0
  /// Packets expected and not received, before retransmission (RFC 3550).
  public var packetsLost: Int64 = 0
  /// Jitter in seconds.
  public var jitter = 0.0
  /// When the last packet came.
  public var lastPacketReceived: Instant?
  /// Retransmitted packets received.
  public var retransmittedPacketsReceived: Int64 = 0
  /// Payload bytes in retransmitted packets.
  public var retransmittedBytesReceived: Int64 = 0
  /// NACK packets sent.
  public var nackCount: Int64 = 0
  /// Picture loss indications sent.
  public var pliCount: Int64 = 0
  /// Full intra requests sent.
  public var firCount: Int64 = 0
  /// Packets that came twice, or so late that nothing is known of them, and were dropped. (Not a W3C name.)
  public var packetsDuplicated: Int64 = 0
  /// Packets dropped because they broke their format or have a payload type that was not agreed on. (Not a W3C name.)
  public var packetsMalformed: Int64 = 0
  /// Lost packets that asking for did not bring. (Not a W3C name.)
  public var packetsUnrecovered: Int64 = 0
}

/// What the other side says of a stream that it sends, with the names of `RTCRemoteOutboundRtpStreamStats`.
public struct RemoteOutboundStreamStatistics: Sendable, Equatable {
  /// Packets sent.
  public var packetsSent: Int64 = 0
  /// Payload bytes sent.
  public var bytesSent: Int64 = 0
  /// When the last report was sent, by the sender's clock.
  public var remoteTimestamp: NTPTime?
  /// Sender reports received.
  public var reportsSent: Int64 = 0
}
