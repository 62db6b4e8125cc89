import Base
import Bytes
import DTLS
import SCTP
import SDP

/// A data channel's standing: W3C `RTCDataChannel`.
public struct DataChannel: Sendable {
  /// W3C `RTCDataChannelState`.
  public enum State: String, Sendable { case connecting, open, closing, closed }

  /// Its name within the connection.
  public let identifier: DataChannelIdentifier
  /// What it was opened with.
  public let options: ChannelOptions
  /// Its state.
  public internal(set) var state = State.connecting
  /// The SCTP stream, once it is known.
  public internal(set) var streamIdentifier: UInt16?
  var channel: ChannelIdentifier?
  var bufferedAmountLowThreshold = 0
  var hasOpened = false
}

extension PeerConnection {
  /// All data channels ever opened, the closed ones too.
  public var dataChannels: [DataChannel] { channels }

  /// W3C `createDataChannel`.
  public mutating func createDataChannel(_ options: ChannelOptions) throws(PeerConnectionError) -> DataChannelIdentifier {
    try checkOpen()
    guard options.label.utf8.count <= 65_535, options.protocolName.utf8.count <= 65_535 else {
      throw PeerConnectionError(.type, "a label or protocol name has more than 65535 bytes")
    }
    if options.maxPacketLifeTime != nil, options.maxRetransmits != nil {
      throw PeerConnectionError(.type, "a channel has a maximum life time or a maximum of retransmissions, not both")
    }
    if let wanted = options.negotiatedIdentifier {
      if wanted == .max { throw PeerConnectionError(.type, "65535 is not a channel identifier") }
      let isTaken = channels.contains { $0.state != .closed && ($0.streamIdentifier ?? $0.options.negotiatedIdentifier) == wanted }
      if isTaken { throw PeerConnectionError(.operation, "the channel identifier \(wanted) is in use") }
    }
    let identifier = DataChannelIdentifier(rawValue: channels.count)
    channels.append(DataChannel(identifier: identifier, options: options))
    if association != nil {
      do throws(PeerConnectionError) {
        try open(at: channels.count - 1)
      } catch {
        channels.removeLast()
        throw error
      }
    }
    negotiation.wantsData = true
    checkNegotiationNeeded()
    return identifier
  }

  private mutating func open(at index: Int) throws(PeerConnectionError) {
    do throws(ChannelError) {
      guard let channel = try association?.open(channels[index].options) else { return }
      channels[index].channel = channel
      association?.setBufferedAmountLowThreshold(channels[index].bufferedAmountLowThreshold, of: channel)
    } catch {
      throw PeerConnectionError(.operation, "\(error)")
    }
  }

  /// W3C `RTCDataChannel.send`.
  public mutating func send(
    _ data: RawSpan, isText: Bool, on identifier: DataChannelIdentifier, now: Instant
  ) throws(PeerConnectionError) {
    guard channels.indices.contains(identifier.rawValue), channels[identifier.rawValue].state == .open,
      let channel = channels[identifier.rawValue].channel
    else { throw PeerConnectionError(.invalidState, "the data channel is not open") }
    do throws(ChannelError) {
      try association?.send(data, isText: isText, on: channel, now: now)
    } catch .messageTooLarge(let maximum) {
      throw PeerConnectionError(.type, "the peer takes no message larger than \(maximum) bytes")
    } catch {
      throw PeerConnectionError(.operation, "\(error)")
    }
  }

  /// W3C `bufferedAmount`: bytes given to `send` that have not gone to the network.
  public func bufferedAmount(of identifier: DataChannelIdentifier) -> Int {
    guard channels.indices.contains(identifier.rawValue), let channel = channels[identifier.rawValue].channel else { return 0 }
    return association?.bufferedAmount(of: channel) ?? 0
  }

  /// W3C `bufferedAmountLowThreshold`.
  public mutating func setBufferedAmountLowThreshold(_ threshold: Int, of identifier: DataChannelIdentifier) {
    guard channels.indices.contains(identifier.rawValue) else { return }
    channels[identifier.rawValue].bufferedAmountLowThreshold = threshold
    guard let channel = channels[identifier.rawValue].channel else { return }
    association?.setBufferedAmountLowThreshold(threshold, of: channel)
  }

  /// W3C `RTCDataChannel.close()`: what is queued is sent first.
  public mutating func closeDataChannel(_ identifier: DataChannelIdentifier, now: Instant) {
    let index = identifier.rawValue
    guard channels.indices.contains(index), channels[index].state == .open || channels[index].state == .connecting else { return }
    channels[index].state = .closing
    guard let channel = channels[index].channel else { return setClosed(index) }
    association?.close(channel, now: now)
  }

  private mutating func setClosed(_ index: Int) {
    guard channels[index].state != .closed else { return }
    channels[index].state = .closed
    events.append(.dataChannelClose(channels[index].identifier))
  }

  /// Closes what waits for a data section that the peer refused.
  mutating func closeRefusedChannels() {
    guard association == nil, !negotiation.wantsData, !negotiation.hasAcceptedData else { return }
    for index in channels.indices { setClosed(index) }
  }

  /// Makes the association when a data section was agreed on.
  mutating func startAssociation(remote: SessionDescription, role: DTLS.Role) {
    guard
      let index = remote.media.firstIndex(where: { $0.kind == .application && !$0.isRejected && $0.sctpPort != nil }),
      index < negotiation.sections.count, !negotiation.sections[index].isRejected
    else { return }
    guard association == nil else { return }
    var configuration = Association.Configuration()
    configuration.remotePort = remote.media[index].sctpPort ?? 5_000
    configuration.maximumMessageSize = self.configuration.maximumMessageSize
    var made = Association(
      configuration: configuration, isDTLSClient: role == .client, seed: self.configuration.seed ?? UInt64.random(in: .min ... .max))
    // RFC 8841 section 6.1: 64 KiB when the attribute is absent, 0 for no limit.
    made.setRemoteMaximumMessageSize(remote.media[index].maxMessageSize ?? 65_536)
    association = made
    for index in channels.indices where channels[index].channel == nil && channels[index].state == .connecting {
      do throws(PeerConnectionError) { try open(at: index) } catch { setClosed(index) }
    }
  }

  mutating func receiveApplicationData(now: Instant) {
    while let packet = transport.pollApplicationData() {
      if association == nil {
        transport.counters.count("sctp.early")
      } else {
        association?.receive(packet.span.bytes, now: now)
      }
    }
    if association?.state == .closed, transport.isSecure, !isAssociationStarted {
      isAssociationStarted = true
      association?.start(now: now)
    }
    takeAssociationEvents()
    // Without DTLS nothing can be sent or received any more.
    if transport.state == .closed || transport.state == .failed, !isAssociationEnded {
      isAssociationEnded = true
      association?.abort(now: now)
      for index in channels.indices { setClosed(index) }
    }
  }

  private mutating func takeAssociationEvents() {
    while let event = association?.pollEvent() {
      switch event {
      case .connected: break
      case .channelOpened(let channel):
        guard let index = index(of: channel) else { continue }
        channels[index].streamIdentifier = association?.streamIdentifier(of: channel)
        channels[index].hasOpened = true
        if channels[index].state == .connecting {
          channels[index].state = .open
          events.append(.dataChannelOpen(channels[index].identifier))
        }
      case .channelOffered(let channel, let options, let stream):
        var offered = DataChannel(identifier: DataChannelIdentifier(rawValue: channels.count), options: options)
        (offered.channel, offered.streamIdentifier, offered.state, offered.hasOpened) = (channel, stream, .open, true)
        channels.append(offered)
        events.append(.dataChannel(offered.identifier))
        events.append(.dataChannelOpen(offered.identifier))
      case .message(let channel, let bytes, let isText):
        guard let index = index(of: channel) else { continue }
        events.append(.dataChannelMessage(channels[index].identifier, bytes, isText: isText))
      case .bufferedAmountLow(let channel):
        guard let index = index(of: channel) else { continue }
        events.append(.dataChannelBufferedAmountLow(channels[index].identifier))
      case .channelClosed(let channel):
        if let index = index(of: channel) { setClosed(index) }
      case .closed:
        for index in channels.indices { setClosed(index) }
      }
    }
  }

  private func index(of channel: ChannelIdentifier) -> Int? { channels.lastIndex { $0.channel == channel } }

  /// Hands the association's packets to DTLS.
  mutating func drainAssociation(now: Instant) {
    guard transport.isSecure, association != nil else { return }
    while let packet = association?.pollTransmit(now: now) { transport.send(applicationData: packet.span.bytes) }
  }
}
