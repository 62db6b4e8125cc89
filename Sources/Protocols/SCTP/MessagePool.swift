import Base
import Bytes

/// A user message on its way out: queued, in fragments on the way, or both.
struct OutgoingMessage: Sendable {
  /// The whole message. Freed early when the message is abandoned.
  var bytes: [UInt8] = []
  /// The slot of the data channel that sent it.
  var channel = 0
  var streamIdentifier: UInt16 = 0
  var payloadProtocol: UInt32 = 0
  var isUnordered = false
  /// Stream sequence number, or message identifier with I-DATA. Given with the first fragment.
  var sequence: UInt32 = 0
  /// How often a fragment may be sent again; nil means always.
  var maximumRetransmissions: Int?
  /// When it stops being worth sending; nil means never.
  var expiry: Instant?
  /// How many bytes have left in fragments.
  var sentBytes = 0
  /// Bytes not yet in a fragment. Survives abandonment, so that buffered amounts stay right.
  var unsentBytes = 0
  /// How many fragments were made.
  var fragments: UInt32 = 0
  /// TSNs of the first and the latest fragment.
  var firstTSN: UInt32 = 0
  var lastTSN: UInt32 = 0
  /// Whether its remaining fragments will not be delivered (RFC 3758).
  var isAbandoned = false
  /// One for the send queue, one for each outstanding chunk.
  fileprivate(set) var references = 0

  /// Whether some retransmission or time limit holds.
  var isPartiallyReliable: Bool { maximumRetransmissions != nil || expiry != nil }
}

/// All messages not yet acknowledged in full, in reused places, so that sending allocates nothing in steady state.
struct MessagePool: Sendable {
  private var messages: [OutgoingMessage] = []
  private var free: [Int] = []
  /// A freed message keeps a buffer up to this size for the next one.
  private static let keptCapacity = 65_536

  /// The message at `index`.
  subscript(index: Int) -> OutgoingMessage {
    _read { yield messages[index] }
    _modify { yield &messages[index] }
  }

  /// How many messages there are.
  var count: Int { messages.count - free.count }

  /// A place with a copy of `bytes`, referenced once.
  mutating func add(_ bytes: RawSpan) -> Int {
    let index: Int
    if let reused = free.popLast() {
      index = reused
    } else {
      index = messages.count
      messages.append(OutgoingMessage())
    }
    messages[index].bytes.removeAll(keepingCapacity: true)
    bytes.withUnsafeBytes { unsafe messages[index].bytes.append(contentsOf: $0) }
    messages[index].unsentBytes = bytes.byteCount
    messages[index].references = 1
    return index
  }

  /// Notes one more user of the message.
  mutating func retain(_ index: Int) { messages[index].references += 1 }

  /// Notes one user less; after the last the place is free.
  mutating func release(_ index: Int) {
    messages[index].references -= 1
    precondition(messages[index].references >= 0, "a message was released more often than it was retained")
    guard messages[index].references == 0 else { return }
    var bytes: [UInt8] = []
    swap(&bytes, &messages[index].bytes)
    messages[index] = OutgoingMessage()
    if bytes.capacity <= Self.keptCapacity { swap(&bytes, &messages[index].bytes) }
    free.append(index)
  }
}
