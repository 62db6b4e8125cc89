import Base

/// Requests to reset streams, ours and the peer's (RFC 6525 section 5).
struct StreamResets: Sendable {
  /// An outgoing request that the peer has not answered for good.
  struct Request: Sendable {
    /// The number it was sent with last. Only an answer to it counts: an earlier one may overtake the request that repeats it.
    var sequence: UInt32
    /// Whether the next attempt takes a number of its own: some peers answer a repeated number as they did before.
    var needsNewSequence = false
    /// The last TSN that we had assigned when the streams had nothing more to send.
    var lastTSN: UInt32
    var streams: [UInt16]
    /// The channels that are on these streams. Others may be there when the answer comes.
    var channels: [ChannelIdentifier]
    var isDue = true
  }

  /// A request of the peer that waits for data sent before it.
  struct Deferred: Sendable {
    var sequence: UInt32
    var lastTSN: UInt32
    var streams: [UInt16]
  }

  /// Results of a request (RFC 6525 section 4.4).
  enum Result: UInt32, Sendable {
    case nothingToDo = 0
    case performed = 1
    case denied = 2
    case wrongSequenceNumber = 3
    case requestInProgress = 4
    case badSequenceNumber = 5
    case inProgress = 6
  }

  /// Channels whose streams are to be reset with the next request.
  var waiting: [ChannelIdentifier] = []
  var pending: Request?
  var nextSequence: UInt32
  /// When the pending request is sent again.
  var deadline: Instant?
  /// The number of the peer's next request.
  var expectedSequence: UInt32 = 0
  var lastResult = Result.nothingToDo
  var deferred: Deferred?
  /// The peer's request that was performed late: it may come again with another number, when new channels are on the streams already.
  var performed: Deferred?

  /// More streams than this are not reset at once: the request must fit into a packet.
  static let streamsPerRequest = 128

  /// No requests. They are numbered from our initial TSN on.
  init(initialTSN: UInt32) { nextSequence = initialTSN }

  /// The peer numbers its requests from its initial TSN on.
  mutating func expectPeerRequests(from initialTSN: UInt32) {
    (expectedSequence, lastResult, deferred, performed) = (initialTSN, .nothingToDo, nil, nil)
  }
}
