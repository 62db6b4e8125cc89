import Base
import BridgeMessages
import Net
import SCTP
import WebRTC

/// The numbers under which a page knows a connection's data channels, and what waits to be sent on them.
struct ChannelNumbers {
  private var identifiers: [UInt32: DataChannelIdentifier] = [:]
  private var byIdentifier: [DataChannelIdentifier: UInt32] = [:]
  /// Bytes that the page thinks are buffered, of channels where there are any.
  var buffered: [UInt32: Int] = [:]
  /// Why channels close that nobody closed.
  var errors: [DataChannelIdentifier: ReplyError] = [:]

  var numbers: [UInt32] { Array(identifiers.keys) }

  subscript(number: UInt32) -> DataChannelIdentifier? { identifiers[number] }
  subscript(identifier: DataChannelIdentifier) -> UInt32? { byIdentifier[identifier] }

  mutating func add(_ identifier: DataChannelIdentifier, as number: UInt32) {
    identifiers[number] = identifier
    byIdentifier[identifier] = number
  }

  mutating func remove(_ number: UInt32) {
    if let identifier = identifiers.removeValue(forKey: number) { (byIdentifier[identifier], errors[identifier]) = (nil, nil) }
    buffered[number] = nil
  }
}

extension PageConnection {
  func createChannel(_ message: ChannelCreate) throws(ReplyError) {
    guard document.channels[message.channel] == nil, document.channels.count < Document.channelLimit else {
      throw ReplyError("OperationError", "channel \(message.channel) cannot be made")
    }
    var options = ChannelOptions()
    options.label = message.label
    options.protocolName = message.protocol ?? ""
    options.isOrdered = message.ordered ?? true
    options.maxPacketLifeTime = message.maxPacketLifeTime
    options.maxRetransmits = message.maxRetransmits
    if message.negotiated == true, let identifier = message.identifier {
      guard let stream = UInt16(exactly: identifier) else { throw ReplyError("TypeError", "\(identifier) is not a channel identifier") }
      options.negotiatedIdentifier = stream
    }
    if let priority = message.priority.flatMap(Priority.init(rawValue:)) { options.priority = priority.channelWeight }
    do throws(ReplyError) {
      let identifier = try perform { [options] connection, _ throws(PeerConnectionError) in try connection.createDataChannel(options) }
      channels.add(identifier, as: message.channel)
      document.channels[message.channel] = self
    } catch {
      // The page has the channel already: it learns that it came to nothing.
      document.send(ChannelState(channel: message.channel, state: .closed, identifier: nil, error: error))
      throw error
    }
  }

  func closeChannel(_ number: UInt32) {
    guard let identifier = channels[number] else { return }
    session.withConnection { connection, now in connection.closeDataChannel(identifier, now: now) }
  }

  /// Sends a message of the page.
  func send(_ bytes: [UInt8], isText: Bool, on number: UInt32) {
    guard let identifier = channels[number] else { return document.count("channel.unknown") }
    do throws(PeerConnectionError) {
      try session.withConnection { connection, now throws(PeerConnectionError) in
        try connection.send(bytes.span.bytes, isText: isText, on: identifier, now: now)
      }
      channels.buffered[number, default: 0] += bytes.count
    } catch {
      document.count("channel.refused")
      // A message lost in silence would break the channel's promise: W3C section 6.2 closes it.
      guard error.name != .invalidState else { return }
      Log.info("\(document.origin): a data channel is closed: \(error.message)")
      closeChannel(number)
    }
  }

  /// Tells what left the send buffers.
  func tellDrained() {
    for (number, known) in channels.buffered {
      guard let identifier = channels[number] else { continue }
      let left = session.connection.bufferedAmount(of: identifier)
      guard left < known else { continue }
      channels.buffered[number] = left > 0 ? left : nil
      document.send(ChannelDrained(channel: number, bytes: known - left))
    }
  }

  /// Leaves messages where they are while the page does not read, so that the peer has to wait.
  func setHoldsMessages(_ holds: Bool) {
    session.withConnection { connection, now in
      connection.holdsMessages = holds
      if !holds { connection.handleTimeout(now: now) }
    }
  }

  func takeChannel(_ event: PeerConnectionEvent) {
    switch event {
    case .dataChannel(let identifier): offered(identifier)
    case .dataChannelOpen(let identifier):
      guard let number = channels[identifier] else { return }
      document.send(ChannelState(channel: number, state: .open, identifier: stream(of: identifier)))
    case .dataChannelMessage(let identifier, let bytes, let isText):
      guard let number = channels[identifier] else { return document.count("channel.unknown") }
      document.client.send(isText ? .dataChannelText : .dataChannelBinary, to: document.number, target: number, bytes.span.bytes)
    case .dataChannelClosing(let identifier):
      guard let number = channels[identifier] else { return }
      document.send(ChannelState(channel: number, state: .closing, identifier: stream(of: identifier)))
    case .dataChannelError(let identifier, let error): channels.errors[identifier] = ReplyError(error)
    case .dataChannelClose(let identifier):
      guard let number = channels[identifier] else { return }
      document.send(ChannelState(channel: number, state: .closed, identifier: nil, error: channels.errors[identifier]))
      channels.remove(number)
      document.channels[number] = nil
    default: break
    }
  }

  private func offered(_ identifier: DataChannelIdentifier) {
    guard let channel = session.connection.dataChannel(identifier) else { return }
    let number = document.nextNumber()
    channels.add(identifier, as: number)
    document.channels[number] = self
    document.send(
      ChannelOffered(
        connection: self.number, channel: number, label: channel.options.label, ordered: channel.options.isOrdered,
        maxPacketLifeTime: channel.options.maxPacketLifeTime, maxRetransmits: channel.options.maxRetransmits,
        protocol: channel.options.protocolName, negotiated: false, identifier: channel.streamIdentifier.map { Int($0) }))
  }

  private func stream(of identifier: DataChannelIdentifier) -> Int? {
    session.connection.dataChannel(identifier)?.streamIdentifier.map { Int($0) }
  }

  /// The channels that have their stream.
  var describedChannels: [Snapshot.Channel] {
    session.connection.dataChannels.compactMap { channel in
      guard let number = channels[channel.identifier], let stream = channel.streamIdentifier else { return nil }
      return Snapshot.Channel(channel: number, identifier: Int(stream))
    }
  }

  /// W3C `sctp`.
  var sctpTransport: Snapshot.SCTPTransport? { session.connection.sctpTransport.map { Snapshot.SCTPTransport($0) } }
}

extension Snapshot.SCTPTransport {
  init(_ transport: WebRTC.SCTPTransport) {
    // 0 stands for no limit.
    self.init(
      maxMessageSize: transport.maximumMessageSize > 0 ? transport.maximumMessageSize : nil, maxChannels: transport.maximumChannels,
      state: transport.state.rawValue)
  }
}
