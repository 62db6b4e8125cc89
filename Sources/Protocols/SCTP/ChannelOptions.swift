/// Names a data channel of one association. Never used again.
public struct ChannelIdentifier: Sendable, Hashable {
  /// A number that only the association gives out.
  public let rawValue: Int
}

/// How a data channel is opened: the members of W3C `RTCDataChannelInit`, with the label.
public struct ChannelOptions: Sendable, Equatable {
  /// The channel's label: at most 65,535 bytes of UTF-8.
  public var label = ""
  /// The subprotocol's name: at most 65,535 bytes of UTF-8.
  public var protocolName = ""
  /// Whether messages arrive in the order in which they were sent.
  public var isOrdered = true
  /// For how many milliseconds a message is sent and sent again; nil means until it arrives. Not together with `maxRetransmits`.
  public var maxPacketLifeTime: Int?
  /// How often a message is sent again; nil means until it arrives.
  public var maxRetransmits: Int?
  /// The stream identifier that both ends agreed on by other means, 0 to 65,534: the channel is then not announced to the peer.
  public var negotiatedIdentifier: UInt16?
  /// The weight among the association's channels: 128 very low, 256 low, 512 medium, 1,024 high (RFC 8831 section 6.4).
  public var priority: UInt16 = 256

  /// An ordered, reliable channel without a label, announced to the peer.
  public init() {}
}

/// Why a data channel did not do what was asked.
public enum ChannelError: Error, Sendable, Equatable {
  /// The identifier names no channel of this association, or one that was closed.
  case unknownChannel
  /// The channel is not open yet, or closing.
  case notOpen
  /// The association is closed.
  case associationClosed
  /// Both a life time and a number of retransmissions were given, or one of them is out of range (0 to 65,535).
  case invalidReliability
  /// Label or protocol name have more than 65,535 bytes.
  case nameTooLong
  /// The negotiated identifier is 65,535, which SCTP does not have as a stream of a channel.
  case invalidIdentifier(UInt16)
  /// A channel with this negotiated identifier exists.
  case identifierInUse(UInt16)
  /// All stream identifiers of our side are in use.
  case noIdentifierLeft
  /// The message is larger than the peer accepts, in bytes.
  case messageTooLarge(maximum: Int)
  /// Too much waits to be sent already, in bytes.
  case bufferFull(maximum: Int)
}
