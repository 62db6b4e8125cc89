import Base

/// Figures of an association: W3C `RTCSctpTransportStats` with the transport's sums.
public struct Statistics: Sendable, Equatable {
  /// SCTP packets.
  public var packetsSent = 0
  public var packetsReceived = 0
  /// DATA chunks that were sent again.
  public var retransmittedChunks = 0
  /// User messages of all channels.
  public var messagesSent = 0
  public var messagesReceived = 0
  /// Bytes of user messages of all channels.
  public var bytesSent = 0
  public var bytesReceived = 0
  public var dataChannelsOpened = 0
  public var dataChannelsClosed = 0
  /// Nil before the first measurement.
  public var smoothedRoundTripTime: Interval?
  /// In bytes.
  public var congestionWindow = 0
  /// What the peer said it can still take, in bytes.
  public var receiverWindow = 0
  /// The largest SCTP packet in use, in bytes.
  public var mtu = 0
  /// DATA chunks sent and not yet acknowledged.
  public var unackData = 0
}

/// Figures of a data channel: W3C `RTCDataChannelStats`. Bytes count user data alone.
public struct ChannelStatistics: Sendable, Equatable {
  public var messagesSent = 0
  public var bytesSent = 0
  public var messagesReceived = 0
  public var bytesReceived = 0
}
