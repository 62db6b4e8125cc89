import Bytes

/// A message as it came off the association.
struct IncomingMessage: Sendable {
  var stream: UInt16
  /// Stream sequence number, or message identifier with I-DATA.
  var sequence: UInt32
  var payloadProtocol: UInt32
  var isUnordered: Bool
  var bytes: [UInt8]
  /// Whether it was larger than what we accept; its bytes are dropped then.
  var isOversized = false
}

/// What a DATA or I-DATA chunk says of its user data.
struct FragmentHeader: Sendable {
  /// Its place among its neighbours: the TSN with DATA, the fragment sequence number with I-DATA.
  var position: UInt32
  var flags: UInt8
  var stream: UInt16
  var sequence: UInt32
  var payloadProtocol: UInt32

  var isBeginning: Bool { flags & DataFlags.beginning != 0 }
  var isEnd: Bool { flags & DataFlags.end != 0 }
  var isUnordered: Bool { flags & DataFlags.unordered != 0 }
}

/// Fragments whose neighbours contradict them: the peer breaks the protocol.
struct FragmentViolation: Error {}

/// Fragments of incomplete messages, joined into runs without gaps (RFC 9260 section 6.9). A fragment is copied once when it comes in order, and
/// once more when the message has to be put together from several runs.
struct FragmentRuns: Sendable {
  private struct Run: Sendable {
    var first: UInt32
    /// The position after the last fragment.
    var next: UInt32
    var hasBeginning: Bool
    var hasEnd: Bool
    var stream: UInt16
    var sequence: UInt32
    var payloadProtocol: UInt32
    var isUnordered: Bool
    var segments: [[UInt8]]
    var byteCount: Int
    var isOversized = false

    func isSameMessage(as other: Run) -> Bool {
      stream == other.stream && sequence == other.sequence && isUnordered == other.isUnordered
    }
  }

  /// In the order of their positions.
  private var runs: [Run] = []
  /// Where the last fragment was added: the next one most likely belongs there too.
  private var latest = 0
  /// Bytes held, with the overhead of each run.
  private(set) var byteCount = 0

  /// Whether no fragment is held.
  var isEmpty: Bool { runs.isEmpty }

  /// Takes a fragment that was not here before and gives its message when that is complete. More than `maximumMessageSize` bytes are not kept.
  mutating func insert(
    _ header: FragmentHeader, _ bytes: RawSpan, maximumMessageSize: Int
  ) throws(FragmentViolation) -> IncomingMessage? {
    let index = try place(header, bytes)
    latest = index
    try joinFollowing(index)
    if runs[index].byteCount - Size.overhead > maximumMessageSize || runs[index].isOversized { dropBytes(index) }
    guard runs[index].hasBeginning, runs[index].hasEnd else { return nil }
    let run = runs.remove(at: index)
    byteCount -= run.byteCount
    latest = max(0, index - 1)
    return IncomingMessage(
      stream: run.stream, sequence: run.sequence, payloadProtocol: run.payloadProtocol, isUnordered: run.isUnordered,
      bytes: run.segments.count == 1 ? run.segments[0] : Array(run.segments.joined()), isOversized: run.isOversized)
  }

  /// Adds the fragment to the run that it follows, or as a run of its own, and gives the run's index.
  private mutating func place(_ header: FragmentHeader, _ bytes: RawSpan) throws(FragmentViolation) -> Int {
    let previous = latest < runs.count && runs[latest].next == header.position ? latest : indexBefore(header.position)
    // Positions do not repeat: with DATA they are TSNs, of which duplicates never come here.
    if previous >= 0, header.position.precedes(runs[previous].next) { throw FragmentViolation() }
    if previous + 1 < runs.count, runs[previous + 1].first == header.position { throw FragmentViolation() }
    if previous >= 0, runs[previous].next == header.position, runs[previous].hasEnd != header.isBeginning { throw FragmentViolation() }
    if previous >= 0, runs[previous].next == header.position, !runs[previous].hasEnd {
      guard runs[previous].stream == header.stream, runs[previous].sequence == header.sequence,
        runs[previous].isUnordered == header.isUnordered
      else { throw FragmentViolation() }
      runs[previous].next &+= 1
      runs[previous].hasEnd = header.isEnd
      if !runs[previous].isOversized {
        let last = runs[previous].segments.count - 1
        bytes.withUnsafeBytes { unsafe runs[previous].segments[last].append(contentsOf: $0) }
        runs[previous].byteCount += bytes.byteCount
        byteCount += bytes.byteCount
      }
      return previous
    }
    let run = Run(
      first: header.position, next: header.position &+ 1, hasBeginning: header.isBeginning, hasEnd: header.isEnd, stream: header.stream,
      sequence: header.sequence, payloadProtocol: header.payloadProtocol, isUnordered: header.isUnordered,
      segments: [Array(bytes: bytes)], byteCount: bytes.byteCount + Size.overhead)
    runs.insert(run, at: previous + 1)
    byteCount += run.byteCount
    return previous + 1
  }

  /// Joins the run behind `index` to it where both touch.
  private mutating func joinFollowing(_ index: Int) throws(FragmentViolation) {
    guard index + 1 < runs.count, runs[index].next == runs[index + 1].first else { return }
    guard runs[index].hasEnd == runs[index + 1].hasBeginning else { throw FragmentViolation() }
    guard !runs[index].hasEnd else { return }
    guard runs[index].isSameMessage(as: runs[index + 1]) else { throw FragmentViolation() }
    let following = runs.remove(at: index + 1)
    runs[index].next = following.next
    runs[index].hasEnd = following.hasEnd
    runs[index].byteCount += following.byteCount - Size.overhead
    byteCount -= Size.overhead
    runs[index].segments += following.segments
    runs[index].isOversized = runs[index].isOversized || following.isOversized
  }

  private mutating func dropBytes(_ index: Int) {
    byteCount -= runs[index].byteCount - Size.overhead
    runs[index].byteCount = Size.overhead
    runs[index].segments = []
    runs[index].isOversized = true
  }

  /// The index of the last run that begins before `position`; -1 when there is none.
  private func indexBefore(_ position: UInt32) -> Int {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].first.precedes(position) { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  /// Drops what can never be completed because positions up to `position` will not come any more (RFC 3758 section 3.6).
  mutating func skip(to position: UInt32) {
    runs.removeAll { run in
      let isCut = (!run.hasBeginning && !position.precedes(run.first &- 1)) || (!run.hasEnd && !position.precedes(run.next))
      if isCut { byteCount -= run.byteCount }
      return isCut
    }
    latest = 0
  }
}
