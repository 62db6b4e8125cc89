/// A data channel of an association.
struct Channel: Sendable {
  enum State: Sendable {
    /// The association is not up.
    case waiting
    case open
    /// Still sends what is queued; then its stream is reset.
    case closing
  }

  let identifier: ChannelIdentifier
  var options: ChannelOptions
  /// The stream in both directions; nil before our role is known.
  var stream: UInt16?
  var state = State.waiting
  /// Whether the peer is known to know the channel: until then all messages are ordered (RFC 8832 section 6).
  var isAcknowledged = false
  /// Whether OPEN was queued.
  var isAnnounced = false
  /// Messages not yet sent in full, as places in the pool.
  var queue = Ring<Int>()
  var bufferedAmount = 0
  var bufferedAmountLowThreshold = 0
  /// The next message's sequence number when it is ordered, and the next unordered one's with I-DATA.
  var nextSequence: UInt32 = 0
  var nextUnorderedSequence: UInt32 = 0
  var isResetRequested = false
  /// The last TSN assigned when nothing more was to be sent: the reset is asked for once the peer has all up to it.
  var lastTSN: UInt32 = 0
  var isOutgoingReset = false
  var isIncomingReset = false
  var statistics = ChannelStatistics()

  init(_ identifier: ChannelIdentifier, _ options: ChannelOptions) { (self.identifier, self.options) = (identifier, options) }
}

/// The data channels of an association, in reused slots.
struct ChannelTable: Sendable {
  private var slots: [Channel?] = []
  private var free: [Int] = []
  private var byIdentifier: [Int: Int] = [:]
  private var byStream: [UInt16: Int] = [:]
  private var nextIdentifier = 1

  /// The channel in `slot`, which must be in use.
  subscript(slot: Int) -> Channel {
    _read { yield slots[slot]! }
    _modify { yield &slots[slot]! }
  }

  /// The slots in use, the oldest channel first.
  var used: [Int] { byIdentifier.sorted { $0.key < $1.key }.map(\.value) }
  /// Streams that have a channel.
  var streams: [UInt16] { Array(byStream.keys) }

  /// The slot of the channel that `identifier` names.
  func slot(of identifier: ChannelIdentifier) -> Int? { byIdentifier[identifier.rawValue] }
  /// The slot of the channel on `stream`.
  func slot(stream: UInt16) -> Int? { byStream[stream] }

  /// Adds a channel without a stream and gives its slot.
  mutating func add(_ options: ChannelOptions) -> Int {
    let channel = Channel(ChannelIdentifier(rawValue: nextIdentifier), options)
    nextIdentifier += 1
    let slot: Int
    if let reused = free.popLast() {
      slot = reused
      slots[slot] = channel
    } else {
      slot = slots.count
      slots.append(channel)
    }
    byIdentifier[channel.identifier.rawValue] = slot
    return slot
  }

  /// Puts the channel in `slot` on `stream`, which is free.
  mutating func assign(_ slot: Int, stream: UInt16) {
    self[slot].stream = stream
    byStream[stream] = slot
  }

  /// Removes the channel in `slot`.
  mutating func remove(_ slot: Int) {
    if let stream = self[slot].stream { byStream[stream] = nil }
    byIdentifier[self[slot].identifier.rawValue] = nil
    slots[slot] = nil
    free.append(slot)
  }
}
