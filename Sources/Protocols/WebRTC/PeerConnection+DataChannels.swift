import Base
import Bytes
import DTLS
import SCTP
import SDP

extension PeerConnection {
  /// The data channels that are not closed, the oldest first.
  public var dataChannels: [DataChannel] { channels.list }

  /// The data channel of that name; nil once it is closed.
  public func dataChannel(_ identifier: DataChannelIdentifier) -> DataChannel? {
    channels.index(of: identifier).map { channels[$0] }
  }

  /// W3C `sctp`; nil while no description of this side carries data channels.
  public var sctpTransport: SCTPTransport? {
    let sections = negotiation.localDescription?.description.media ?? []
    guard association != nil || sections.contains(where: { $0.kind == .application && !$0.isRejected }) else { return nil }
    guard let association else { return SCTPTransport(state: isClosed ? .closed : .connecting, maximumMessageSize: 65_536) }
    let state: SCTPTransport.State =
      switch association.state {
      case _ where isClosed || isAssociationEnded: .closed
      case .connected, .shutdown: .connected
      case .connecting: .connecting
      case .closed: isAssociationStarted ? .closed : .connecting
      }
    return SCTPTransport(
      state: state, maximumMessageSize: association.remoteMaximumMessageSize, maximumChannels: association.maximumChannels)
  }

  /// W3C `createDataChannel`.
  public mutating func createDataChannel(_ options: ChannelOptions) throws(PeerConnectionError) -> DataChannelIdentifier {
    try checkOpen()
    guard options.label.utf8.count <= 65_535, options.protocolName.utf8.count <= 65_535 else {
      throw PeerConnectionError(.type, "a label or protocol name has more than 65535 bytes")
    }
    if options.maxPacketLifeTime != nil, options.maxRetransmits != nil {
      throw PeerConnectionError(.type, "a channel has a maximum life time or a maximum of retransmissions, not both")
    }
    guard (0...65_535).contains(options.maxPacketLifeTime ?? 0), (0...65_535).contains(options.maxRetransmits ?? 0) else {
      throw PeerConnectionError(.type, "a maximum life time or a maximum of retransmissions is not from 0 to 65535")
    }
    if let wanted = options.negotiatedIdentifier {
      if wanted == .max { throw PeerConnectionError(.type, "65535 is not a channel identifier") }
      if channels.list.contains(where: { $0.streamIdentifier == wanted }) {
        throw PeerConnectionError(.operation, "the channel identifier \(wanted) is in use")
      }
      if let limit = association?.maximumChannels, wanted >= limit {
        throw PeerConnectionError(.operation, "the peer takes channel identifiers below \(limit) only")
      }
    }
    let index = channels.add(options)
    if association != nil {
      do throws(PeerConnectionError) {
        try open(at: index)
      } catch {
        channels.remove(index, wasOpen: false)
        throw error
      }
    }
    negotiation.wantsData = true
    checkNegotiationNeeded()
    return channels[index].identifier
  }

  private mutating func open(at index: Int) throws(PeerConnectionError) {
    do throws(ChannelError) {
      guard let channel = try association?.open(channels[index].options) else { return }
      channels.bind(index, to: channel)
      channels[index].streamIdentifier = association?.streamIdentifier(of: channel)
      association?.setBufferedAmountLowThreshold(channels[index].bufferedAmountLowThreshold, of: channel)
    } catch {
      throw PeerConnectionError(.operation, "\(error)")
    }
  }

  /// W3C `RTCDataChannel.send`.
  public mutating func send(
    _ data: RawSpan, isText: Bool, on identifier: DataChannelIdentifier, now: Instant
  ) throws(PeerConnectionError) {
    guard let index = channels.index(of: identifier), channels[index].state == .open, let channel = channels[index].channel
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
    guard let index = channels.index(of: identifier), let channel = channels[index].channel else { return 0 }
    return association?.bufferedAmount(of: channel) ?? 0
  }

  /// W3C `bufferedAmountLowThreshold`.
  public mutating func setBufferedAmountLowThreshold(_ threshold: Int, of identifier: DataChannelIdentifier) {
    guard let index = channels.index(of: identifier) else { return }
    channels[index].bufferedAmountLowThreshold = threshold
    guard let channel = channels[index].channel else { return }
    association?.setBufferedAmountLowThreshold(threshold, of: channel)
  }

  /// W3C `RTCDataChannel.close()`: what is queued is sent first.
  public mutating func closeDataChannel(_ identifier: DataChannelIdentifier, now: Instant) {
    guard let index = channels.index(of: identifier), channels[index].state == .open || channels[index].state == .connecting else {
      return
    }
    let wasOpen = channels[index].state == .open
    channels[index].state = .closing
    guard let channel = channels[index].channel else { return setClosed(index, wasOpen: wasOpen) }
    association?.close(channel, now: now)
  }

  /// Tells that a channel is closed, and forgets it. One that nobody closed has failed (W3C section 6.2, "closed abruptly").
  private mutating func setClosed(_ index: Int, wasOpen: Bool, failure: PeerConnectionError? = nil) {
    let channel = channels[index]
    channels.remove(index, wasOpen: wasOpen)
    tell(channel, failure)
  }

  private mutating func tell(_ channel: DataChannel, _ failure: PeerConnectionError?) {
    if let failure, channel.state != .closing { events.append(.dataChannelError(channel.identifier, failure)) }
    events.append(.dataChannelClose(channel.identifier))
  }

  private mutating func closeAll(_ failure: PeerConnectionError) {
    let gone = channels.list
    channels.removeAll()
    for channel in gone { tell(channel, failure) }
  }

  /// Closes what waits for a data section that the peer refused.
  mutating func closeRefusedChannels() {
    guard association == nil, !negotiation.wantsData, !negotiation.hasAcceptedData else { return }
    closeAll(PeerConnectionError(.operation, "the peer takes no data channels", detail: .dataChannelFailure))
  }

  /// Makes the association when a data section was agreed on; a later agreement may set another largest message.
  mutating func startAssociation(remote: SessionDescription, role: DTLS.Role) {
    guard
      let index = remote.media.firstIndex(where: { $0.kind == .application && !$0.isRejected && $0.sctpPort != nil }),
      index < negotiation.sections.count, !negotiation.sections[index].isRejected
    else { return }
    if association == nil {
      var configuration = Association.Configuration()
      configuration.remotePort = remote.media[index].sctpPort ?? 5_000
      configuration.maximumMessageSize = self.configuration.maximumMessageSize
      configuration.receiveWindow = self.configuration.receiveWindow
      var made = Association(
        configuration: configuration, isDTLSClient: role == .client, seed: self.configuration.seed ?? UInt64.random(in: .min ... .max))
      made.assignStreams()
      association = made
      announcedSCTPTransport = nil
      for index in channels.list.indices.reversed()
      where channels[index].channel == nil && channels[index].options.negotiatedIdentifier != nil {
        openWaiting(index)
      }
      for identifier in channels.list.filter({ $0.channel == nil && $0.state == .connecting }).map(\.identifier) {
        if let index = channels.index(of: identifier) { openWaiting(index) }
      }
    }
    // RFC 8841 section 6.1: 64 KiB when the attribute is absent, 0 for no limit.
    association?.setRemoteMaximumMessageSize(remote.media[index].maxMessageSize ?? 65_536)
  }

  private mutating func openWaiting(_ index: Int) {
    do throws(PeerConnectionError) {
      try open(at: index)
    } catch {
      setClosed(index, wasOpen: false, failure: PeerConnectionError(.operation, error.message, detail: .dataChannelFailure))
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
      takeAssociationEvents()
      closeAll(
        PeerConnectionError(
          .operation, transport.state == .failed ? "the DTLS transport failed" : "the peer closed the DTLS transport",
          detail: .sctpFailure))
    }
  }

  private mutating func takeAssociationEvents() {
    // At the end what was held is told at once, while its channels are still known.
    while !holdsMessages || isAssociationEnded, let event = association?.pollEvent() {
      switch event {
      case .connected: break
      case .channelOpened(let channel):
        guard let index = channels.index(of: channel) else { continue }
        channels[index].streamIdentifier = association?.streamIdentifier(of: channel)
        if channels[index].state == .connecting {
          channels.setOpen(index)
          events.append(.dataChannelOpen(channels[index].identifier))
        }
      case .channelOffered(let channel, let options, let stream):
        let index = channels.add(options)
        channels.bind(index, to: channel)
        channels[index].streamIdentifier = stream
        channels.setOpen(index)
        events.append(.dataChannel(channels[index].identifier))
        events.append(.dataChannelOpen(channels[index].identifier))
      case .message(let channel, let bytes, let isText):
        guard let index = channels.index(of: channel) else { continue }
        events.append(.dataChannelMessage(channels[index].identifier, bytes, isText: isText))
      case .bufferedAmountLow(let channel):
        guard let index = channels.index(of: channel) else { continue }
        events.append(.dataChannelBufferedAmountLow(channels[index].identifier))
      case .channelClosing(let channel):
        guard let index = channels.index(of: channel), channels[index].state == .open else { continue }
        channels[index].state = .closing
        events.append(.dataChannelClosing(channels[index].identifier))
      case .channelClosed(let channel):
        guard let index = channels.index(of: channel) else { continue }
        let failure = PeerConnectionError(.operation, "the SCTP association ended, or has no stream for the channel", detail: .sctpFailure)
        setClosed(index, wasOpen: channels[index].state != .connecting, failure: failure)
      case .closed(let reason):
        closeAll(PeerConnectionError(.operation, reason ?? "the peer ended the SCTP association", detail: .sctpFailure))
      }
    }
  }

  /// Tells of a change in `sctpTransport`.
  mutating func announceSCTPTransport() {
    let transport = sctpTransport
    guard !isClosed, let transport, transport != announcedSCTPTransport else { return }
    let isNews = association != nil
    announcedSCTPTransport = transport
    if isNews { events.append(.sctpTransportChange(transport)) }
  }

  /// Hands the association's packets to DTLS.
  mutating func drainAssociation(now: Instant) {
    guard transport.isSecure, association != nil else { return }
    while let packet = association?.pollTransmit(now: now) { transport.send(applicationData: packet.span.bytes) }
  }
}
