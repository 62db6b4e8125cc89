import Bytes

/// Puts messages together from DATA or I-DATA chunks (RFC 9260 section 6.9, RFC 8260 section 2.2).
struct Reassembly: Sendable {
  private struct Key: Hashable, Sendable {
    var stream: UInt16
    var isUnordered: Bool
    var message: UInt32
  }

  private var runs = FragmentRuns()
  private var interleaved: [Key: FragmentRuns] = [:]
  private var interleavedBytes = 0
  /// The size in bytes up to which messages are accepted.
  let maximumMessageSize: Int

  /// Nothing held.
  init(maximumMessageSize: Int) { self.maximumMessageSize = maximumMessageSize }

  /// Bytes held.
  var byteCount: Int { runs.byteCount + interleavedBytes }

  /// Takes the user data of a chunk that was not here before and gives the message that it completes.
  mutating func insert(_ header: FragmentHeader, _ bytes: RawSpan, isInterleaved: Bool) throws(FragmentViolation) -> IncomingMessage? {
    if header.isBeginning, header.isEnd {
      let isOversized = bytes.byteCount > maximumMessageSize
      return IncomingMessage(
        stream: header.stream, sequence: header.sequence, payloadProtocol: header.payloadProtocol, isUnordered: header.isUnordered,
        bytes: isOversized ? [] : Array(bytes: bytes), isOversized: isOversized)
    }
    guard isInterleaved else { return try runs.insert(header, bytes, maximumMessageSize: maximumMessageSize) }
    let key = Key(stream: header.stream, isUnordered: header.isUnordered, message: header.sequence)
    var message = interleaved.removeValue(forKey: key) ?? FragmentRuns()
    interleavedBytes -= message.byteCount
    let complete = try message.insert(header, bytes, maximumMessageSize: maximumMessageSize)
    if !message.isEmpty {
      interleavedBytes += message.byteCount
      interleaved[key] = message
    }
    return complete
  }

  /// Drops fragments that can never be completed: TSNs up to `tsn` will not come any more.
  mutating func skip(to tsn: UInt32) { runs.skip(to: tsn) }

  /// Drops fragments of messages up to `message` on `stream`: the peer abandoned them.
  mutating func skip(stream: UInt16, isUnordered: Bool, message: UInt32) {
    for (key, value) in interleaved
    where key.stream == stream && key.isUnordered == isUnordered && !message.precedes(key.message) {
      interleavedBytes -= value.byteCount
      interleaved[key] = nil
    }
  }

  /// Drops fragments on `stream`, which the peer reset.
  mutating func reset(stream: UInt16) {
    for (key, value) in interleaved where key.stream == stream {
      interleavedBytes -= value.byteCount
      interleaved[key] = nil
    }
  }
}
