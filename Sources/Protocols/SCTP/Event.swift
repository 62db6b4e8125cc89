/// What happened on an association.
public enum Event: Sendable {
  /// The association is up. Comes again when the peer restarts; all channels have been closed then.
  case connected
  /// A channel that we opened can send.
  case channelOpened(ChannelIdentifier)
  /// The peer opened a channel; it can send.
  case channelOffered(ChannelIdentifier, ChannelOptions, streamIdentifier: UInt16)
  /// A message arrived.
  case message(ChannelIdentifier, [UInt8], isText: Bool)
  /// The buffered amount fell to the channel's threshold.
  case bufferedAmountLow(ChannelIdentifier)
  /// The peer closes an open channel: nothing more can be sent on it.
  case channelClosing(ChannelIdentifier)
  /// A channel is closed in both directions; its identifier names nothing any more.
  case channelClosed(ChannelIdentifier)
  /// The association is closed for good. The reason is nil when both ends wanted it.
  case closed(reason: String?)
}
