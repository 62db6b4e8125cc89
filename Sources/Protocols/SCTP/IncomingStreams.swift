/// Restores the order of messages within each stream (RFC 9260 section 6.6).
struct IncomingStreams: Sendable {
  private struct Stream: Sendable {
    /// The sequence number to be delivered next.
    var next: UInt32 = 0
    /// Messages that wait for earlier ones.
    var pending: [UInt32: IncomingMessage] = [:]
    /// Whether the peer reset it and has not sent on it since.
    var isFresh = false
  }

  private var streams: [UInt16: Stream] = [:]
  /// Messages to be delivered, in order.
  private(set) var ready = Ring<IncomingMessage>()
  /// Bytes of messages that wait for earlier ones, with their overhead.
  private(set) var byteCount = 0
  /// Whether sequence numbers have 32 bits, as with I-DATA, and not 16.
  var isInterleaved = false

  private func precedes(_ a: UInt32, _ b: UInt32) -> Bool {
    isInterleaved ? a.precedes(b) : UInt16(truncatingIfNeeded: a).precedes(UInt16(truncatingIfNeeded: b))
  }
  private func after(_ sequence: UInt32) -> UInt32 { isInterleaved ? sequence &+ 1 : (sequence &+ 1) & 0xFFFF }

  /// The next message to be delivered.
  mutating func popReady() -> IncomingMessage? { ready.popFirst() }

  /// Takes a whole message. False when one of its number was delivered before.
  mutating func accept(_ message: IncomingMessage) -> Bool {
    if message.isUnordered {
      ready.append(message)
      return true
    }
    let next = streams[message.stream, default: Stream()].next
    if message.sequence == next {
      ready.append(message)
      deliver(message.stream, from: after(next))
      return true
    }
    guard precedes(next, message.sequence), streams[message.stream]?.pending[message.sequence] == nil else { return false }
    byteCount += message.bytes.count + Size.overhead
    streams[message.stream, default: Stream()].pending[message.sequence] = message
    return true
  }

  /// Delivers what waits on `stream` from the number `first` on, without a gap.
  private mutating func deliver(_ stream: UInt16, from first: UInt32) {
    var next = first
    if streams[stream]?.pending.isEmpty == false {
      while let message = streams[stream]?.pending.removeValue(forKey: next) {
        byteCount -= message.bytes.count + Size.overhead
        ready.append(message)
        next = after(next)
      }
    }
    streams[stream, default: Stream()].next = next
    streams[stream]?.isFresh = false
  }

  /// Messages up to the number `sequence` on `stream` will not come any more: delivers what waits and is complete (RFC 3758 section 3.6).
  /// Where the stream was reset and has no channel yet, this comes late and meant the channel before: a new one begins with OPEN, which is never given up.
  mutating func skip(stream: UInt16, to sequence: UInt32, hasChannel: Bool) {
    let next = streams[stream]?.next ?? 0
    guard !precedes(sequence, next), hasChannel || streams[stream]?.isFresh != true else { return }
    let passed = (streams[stream]?.pending.keys ?? [:].keys).filter { !precedes(sequence, $0) }.sorted { precedes($0, $1) }
    for number in passed {
      guard let message = streams[stream]?.pending.removeValue(forKey: number) else { continue }
      byteCount -= message.bytes.count + Size.overhead
      ready.append(message)
    }
    deliver(stream, from: after(sequence))
  }

  /// The peer starts over on `stream`, with the number 0 (RFC 6525 section 5.2.2).
  mutating func reset(stream: UInt16) {
    for message in streams[stream]?.pending.values ?? [:].values {
      byteCount -= message.bytes.count + Size.overhead
    }
    streams[stream] = Stream(isFresh: true)
  }

  /// The streams on which something arrived since they were reset.
  var identifiers: [UInt16] { Array(streams.keys) }
}
