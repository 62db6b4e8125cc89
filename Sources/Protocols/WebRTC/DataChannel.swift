import SCTP

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
  /// The SCTP stream (W3C `id`), known from the beginning for a negotiated channel, else once the DTLS roles are.
  public internal(set) var streamIdentifier: UInt16?
  var channel: ChannelIdentifier?
  var bufferedAmountLowThreshold = 0

  init(identifier: DataChannelIdentifier, options: ChannelOptions) {
    (self.identifier, self.options) = (identifier, options)
    streamIdentifier = options.negotiatedIdentifier
  }
}

/// The data channels of a connection that are not closed, the oldest first.
struct DataChannels: Sendable {
  private(set) var list: [DataChannel] = []
  private var names: [ChannelIdentifier: DataChannelIdentifier] = [:]
  private var next = 0
  /// How many have ever been open.
  private(set) var openedCount = 0
  /// How many of those were closed since.
  private(set) var closedCount = 0

  /// The place of a channel in `list`.
  func index(of identifier: DataChannelIdentifier) -> Int? {
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if list[middle].identifier.rawValue < identifier.rawValue { low = middle + 1 } else { high = middle }
    }
    return low < list.count && list[low].identifier == identifier ? low : nil
  }

  /// The place in `list` of a channel of the association.
  func index(of channel: ChannelIdentifier) -> Int? { names[channel].flatMap { index(of: $0) } }

  subscript(index: Int) -> DataChannel {
    _read { yield list[index] }
    _modify { yield &list[index] }
  }

  /// Adds a channel and gives its place.
  mutating func add(_ options: ChannelOptions) -> Int {
    list.append(DataChannel(identifier: DataChannelIdentifier(rawValue: next), options: options))
    next += 1
    return list.count - 1
  }

  /// Ties a channel to one of the association.
  mutating func bind(_ index: Int, to channel: ChannelIdentifier) {
    list[index].channel = channel
    names[channel] = list[index].identifier
  }

  mutating func setOpen(_ index: Int) {
    list[index].state = .open
    openedCount += 1
  }

  /// Takes a channel out of the list; `wasOpen` says whether it had been open before it was closed.
  mutating func remove(_ index: Int, wasOpen: Bool) {
    if wasOpen { closedCount += 1 }
    if let channel = list[index].channel { names[channel] = nil }
    list.remove(at: index)
  }

  mutating func removeAll() {
    (list, names) = ([], [:])
    closedCount = openedCount
  }
}

/// W3C `RTCSctpTransport`.
public struct SCTPTransport: Sendable, Equatable {
  /// W3C `RTCSctpTransportState`.
  public enum State: String, Sendable { case connecting, connected, closed }

  /// Whether data can be sent.
  public var state: State
  /// The largest message that can be sent, in bytes (W3C `maxMessageSize`).
  public var maximumMessageSize: Int
  /// How many channels there can be at once; nil until the association is up (W3C `maxChannels`).
  public var maximumChannels: Int?
}
