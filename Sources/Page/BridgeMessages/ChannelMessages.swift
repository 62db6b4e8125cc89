// Page → run and back: data channels (W3C WebRTC 1.0, section 6). Their messages are frames of their own kinds.

/// W3C `createDataChannel`.
public struct ChannelCreate: ControlMessage {
  public static let type = "channel.create"
  /// The connection's number.
  public var connection: UInt32
  /// The channel's number.
  public var channel: UInt32
  /// The label, at most 65,535 bytes.
  public var label: String
  /// Whether messages arrive in the order in which they were sent.
  public var ordered: Bool?
  /// In milliseconds.
  public var maxPacketLifeTime: Int?
  /// How often a message is sent again.
  public var maxRetransmits: Int?
  /// The subprotocol, at most 65,535 bytes.
  public var `protocol`: String?
  /// Whether the peer makes the channel with the same identifier by itself.
  public var negotiated: Bool?
  /// The SCTP stream, of a negotiated channel.
  public var identifier: Int?
  /// W3C `RTCPriorityType`.
  public var priority: String?

  /// The message.
  public init(connection: UInt32, channel: UInt32, label: String, ordered: Bool? = nil) {
    (self.connection, self.channel, self.label, self.ordered) = (connection, channel, label, ordered)
  }
}

/// W3C `RTCDataChannel.close`.
public struct ChannelClose: ControlMessage {
  public static let type = "channel.close"
  /// The channel's number.
  public var channel: UInt32

  /// The message.
  public init(channel: UInt32) { self.channel = channel }
}

/// The peer opened a channel.
public struct ChannelOffered: ControlMessage {
  public static let type = "connection.channel"
  public var connection: UInt32
  public var channel: UInt32
  public var label: String
  public var ordered: Bool
  @ExplicitNull public var maxPacketLifeTime: Int?
  @ExplicitNull public var maxRetransmits: Int?
  public var `protocol`: String
  public var negotiated: Bool
  @ExplicitNull public var identifier: Int?

  /// The message.
  public init(
    connection: UInt32, channel: UInt32, label: String, ordered: Bool, maxPacketLifeTime: Int?, maxRetransmits: Int?,
    protocol: String, negotiated: Bool, identifier: Int?
  ) {
    (self.connection, self.channel, self.label, self.ordered) = (connection, channel, label, ordered)
    (self.maxPacketLifeTime, self.maxRetransmits) = (maxPacketLifeTime, maxRetransmits)
    (self.`protocol`, self.negotiated, self.identifier) = (`protocol`, negotiated, identifier)
  }
}

/// A channel opened, is closing, or closed.
public struct ChannelState: ControlMessage {
  /// W3C `RTCDataChannelState`, without the state that a channel begins in.
  public enum State: String, Codable, Sendable { case open, closing, closed }

  public static let type = "channel.state"
  public var channel: UInt32
  public var state: State
  /// The SCTP stream, once it is known.
  @ExplicitNull public var identifier: Int?
  /// Why it closed, when that was no one's wish.
  public var error: ReplyError?

  /// The message.
  public init(channel: UInt32, state: State, identifier: Int?, error: ReplyError? = nil) {
    (self.channel, self.state, self.identifier, self.error) = (channel, state, identifier, error)
  }
}

/// So many bytes left a channel's send buffer.
public struct ChannelDrained: ControlMessage {
  public static let type = "channel.drained"
  public var channel: UInt32
  /// Bytes of messages.
  public var bytes: Int

  /// The message.
  public init(channel: UInt32, bytes: Int) { (self.channel, self.bytes) = (channel, bytes) }
}
