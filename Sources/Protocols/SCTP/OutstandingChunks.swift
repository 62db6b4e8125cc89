import Base
import Bytes

/// The DATA chunks between the peer's cumulative acknowledgment and our next TSN: acknowledgment, loss and abandonment of each
/// (RFC 9260 sections 6.2.1, 6.3 and 7.2.4; RFC 3758 section 3.5).
///
/// The work per SACK is the number of chunks whose state it changes plus the number of gaps it names, not the size of the window.
struct OutstandingChunks: Sendable {
  /// A DATA chunk that was sent at least once.
  struct Chunk: Sendable {
    enum State: UInt8, Sendable {
      case inFlight
      /// By a gap block: may still be taken back.
      case acknowledged
      /// To be sent again.
      case lost
      case abandoned
    }
    /// Its message's place in the pool.
    var message: Int32
    /// Where in the message its user data lies.
    var offset: Int32
    var length: Int32
    /// Number of the fragment in its message, for I-DATA.
    var fragment: UInt32
    var flags: UInt8
    var state = State.inFlight
    /// How many SACKs said that it is missing (RFC 9260 section 7.2.4).
    var missingReports: UInt8 = 0
    var retransmissions: UInt16 = 0
    /// SACKs count as missing reports only when they newly acknowledge this TSN or a later one: only then was something sent after it that arrived.
    var reportedFrom: UInt32 = 0

    /// What it counts towards the congestion and receive windows.
    var size: Int { length == 0 ? 0 : Int(length) + Size.dataHeader }
  }

  /// TSNs from `first` to `last`.
  private struct TSNRange: Sendable {
    var first: UInt32
    var last: UInt32
  }

  /// What a SACK changed.
  struct Acknowledgment {
    /// Bytes newly acknowledged.
    var bytes = 0
    /// Whether the cumulative TSN moved.
    var isAdvance = false
    /// A round trip measured on a chunk that was sent once.
    var roundTrip: Interval?
    /// Whether a chunk was found lost.
    var isLoss = false
  }

  /// More chunks than this are never outstanding: gap blocks reach 65,535 TSNs.
  static let limit = 16_384
  private static let missingReportsForLoss: UInt8 = 3

  private var chunks = Ring<Chunk>(minimumCapacity: 64)
  private var acknowledgedRanges: [TSNRange] = []
  private var incomingRanges: [TSNRange] = []
  private var lost = Ring<UInt32>(minimumCapacity: 16)
  /// The chunk whose round trip is being measured: one at a time (RFC 9260 section 6.3.1, rule C4).
  private var timed: (tsn: UInt32, sent: Instant)?

  /// The last TSN that the peer acknowledged cumulatively.
  private(set) var cumulative: UInt32
  /// RFC 3758's Advanced.Peer.Ack.Point: the last TSN that the peer need not wait for.
  private(set) var advanced: UInt32
  /// Bytes in flight: sent, and neither acknowledged nor thought lost nor abandoned.
  private(set) var bytesInFlight = 0

  /// Nothing outstanding; the first chunk will have the TSN `initialTSN`.
  init(initialTSN: UInt32) {
    cumulative = initialTSN &- 1
    advanced = cumulative
  }

  /// The TSN of the next new chunk.
  var nextTSN: UInt32 { cumulative &+ UInt32(chunks.count) &+ 1 }
  /// How many chunks the peer has not acknowledged cumulatively.
  var count: Int { chunks.count }
  /// The chunk at `index` places behind the cumulative TSN.
  subscript(index: Int) -> Chunk { chunks[index] }

  private func index(of tsn: UInt32) -> Int? {
    let index = Int(tsn &- cumulative &- 1)
    return index < chunks.count ? index : nil
  }

  /// Adds the next chunk, which is being sent at `now`, and gives its TSN.
  mutating func append(_ chunk: Chunk, messages: inout MessagePool, now: Instant) -> UInt32 {
    let tsn = nextTSN
    var chunk = chunk
    chunk.reportedFrom = tsn
    chunks.append(chunk)
    messages.retain(Int(chunk.message))
    bytesInFlight += chunk.size
    if timed == nil { timed = (tsn, now) }
    return tsn
  }

  // MARK: - Acknowledgment

  /// Takes a SACK. `blocks` holds its gap blocks, four bytes each. Nil when the SACK is older than what is known or names TSNs never sent.
  mutating func acknowledge(
    cumulative newCumulative: UInt32, blocks: RawSpan, isInRecovery: Bool, messages: inout MessagePool, now: Instant
  ) -> Acknowledgment? {
    let advance = Int(newCumulative &- cumulative)
    guard advance <= chunks.count else { return nil }
    var result = Acknowledgment(isAdvance: advance > 0)
    for _ in 0..<advance {
      guard let chunk = chunks.popFirst() else { break }
      cumulative &+= 1
      if chunk.state == .inFlight { bytesInFlight -= chunk.size }
      if chunk.state == .inFlight || chunk.state == .lost { result.bytes += chunk.size }
      measure(cumulative, now, &result)
      messages.release(Int(chunk.message))
    }
    if advanced.precedes(cumulative) { advanced = cumulative }
    readRanges(blocks)
    let highest = applyRanges(now, &result)
    if let limit = isInRecovery && result.isAdvance ? acknowledgedRanges.last?.last : highest {
      reportMissing(below: limit, &result, messages: &messages, now: now)
    }
    return result
  }

  private mutating func measure(_ tsn: UInt32, _ now: Instant, _ result: inout Acknowledgment) {
    guard let timed, timed.tsn == tsn else { return }
    result.roundTrip = now - timed.sent
    self.timed = nil
  }

  /// Reads gap blocks, as far as they ascend and name chunks that are outstanding.
  private mutating func readRanges(_ blocks: RawSpan) {
    incomingRanges.removeAll(keepingCapacity: true)
    var reader = ByteReader(blocks)
    var previous = 0
    while let first = try? Int(reader.uint16()), let last = try? Int(reader.uint16()) {
      guard first > previous, first <= last, last <= chunks.count else { break }
      incomingRanges.append(TSNRange(first: cumulative &+ UInt32(first), last: cumulative &+ UInt32(last)))
      previous = last
    }
  }

  /// Acknowledges what is new in the incoming ranges, takes back what is missing from them, and gives the highest TSN newly acknowledged.
  private mutating func applyRanges(_ now: Instant, _ result: inout Acknowledgment) -> UInt32? {
    // What the cumulative TSN has passed is no longer a range.
    if let keep = acknowledgedRanges.firstIndex(where: { cumulative.precedes($0.last) }) {
      acknowledgedRanges.removeFirst(keep)
      if !cumulative.precedes(acknowledgedRanges[0].first) { acknowledgedRanges[0].first = cumulative &+ 1 }
    } else {
      acknowledgedRanges.removeAll(keepingCapacity: true)
    }
    var highest: UInt32? = result.isAdvance ? cumulative : nil
    Self.forEachDifference(incomingRanges, acknowledgedRanges) { tsn in
      guard let index = index(of: tsn) else { return }
      measure(tsn, now, &result)
      highest = tsn
      switch chunks[index].state {
      case .inFlight:
        bytesInFlight -= chunks[index].size
        result.bytes += chunks[index].size
        chunks[index].state = .acknowledged
      case .lost:
        result.bytes += chunks[index].size
        chunks[index].state = .acknowledged
      case .acknowledged, .abandoned: break
      }
    }
    Self.forEachDifference(acknowledgedRanges, incomingRanges) { tsn in
      guard let index = index(of: tsn), chunks[index].state == .acknowledged else { return }
      chunks[index].state = .inFlight
      bytesInFlight += chunks[index].size
    }
    swap(&acknowledgedRanges, &incomingRanges)
    return highest
  }

  /// Calls `body` with each TSN that is in `ranges` and not in `others`; both ascend.
  private static func forEachDifference(_ ranges: [TSNRange], _ others: [TSNRange], _ body: (UInt32) -> Void) {
    var other = 0
    for range in ranges {
      var tsn = range.first
      while !range.last.precedes(tsn) {
        while other < others.count, others[other].last.precedes(tsn) { other += 1 }
        if other < others.count, !tsn.precedes(others[other].first) {
          tsn = others[other].last &+ 1
        } else {
          body(tsn)
          tsn &+= 1
        }
      }
    }
  }

  /// Counts a missing report for each chunk in the gaps below `limit`.
  private mutating func reportMissing(
    below limit: UInt32, _ result: inout Acknowledgment, messages: inout MessagePool, now: Instant
  ) {
    var tsn = cumulative &+ 1
    for range in acknowledgedRanges {
      while tsn.precedes(range.first), tsn.precedes(limit) {
        if let index = index(of: tsn), chunks[index].state == .inFlight, !limit.precedes(chunks[index].reportedFrom) {
          chunks[index].missingReports += 1
          if chunks[index].missingReports >= Self.missingReportsForLoss {
            result.isLoss = true
            markLost(index, messages: &messages, now: now)
          }
        }
        tsn &+= 1
      }
      tsn = range.last &+ 1
      if !tsn.precedes(limit) { break }
    }
    advance()
  }

  // MARK: - Loss

  private mutating func markLost(_ index: Int, messages: inout MessagePool, now: Instant) {
    let tsn = cumulative &+ UInt32(index) &+ 1
    if chunks[index].state == .inFlight { bytesInFlight -= chunks[index].size }
    chunks[index].state = .lost
    chunks[index].missingReports = 0
    if timed?.tsn == tsn { timed = nil }
    if !abandonIfDue(index, messages: &messages, now: now) { lost.append(tsn) }
  }

  /// Takes everything that is not acknowledged for lost: the retransmission timer expired (RFC 9260 section 6.3.3).
  mutating func markAllLost(messages: inout MessagePool, now: Instant) {
    lost.removeAll()
    timed = nil
    for index in 0..<chunks.count where chunks[index].state == .inFlight || chunks[index].state == .lost {
      markLost(index, messages: &messages, now: now)
    }
    advance()
  }

  /// The first chunk to be sent again, as an index.
  mutating func firstLost(messages: inout MessagePool, now: Instant) -> Int? {
    while let tsn = lost.first {
      if let index = index(of: tsn), chunks[index].state == .lost {
        if !abandonIfDue(index, messages: &messages, now: now) { return index }
        advance()
      }
      _ = lost.popFirst()
    }
    return nil
  }

  /// Notes that the chunk that `firstLost` gave was sent again.
  mutating func markRetransmitted(_ index: Int) {
    _ = lost.popFirst()
    chunks[index].state = .inFlight
    chunks[index].retransmissions &+= 1
    chunks[index].reportedFrom = nextTSN
    bytesInFlight += chunks[index].size
  }

  // MARK: - Abandonment

  private mutating func abandonIfDue(_ index: Int, messages: inout MessagePool, now: Instant) -> Bool {
    let place = Int(chunks[index].message)
    guard messages[place].isPartiallyReliable else { return false }
    let isExpired = messages[place].expiry.map { $0 <= now } ?? false
    let isExhausted = messages[place].maximumRetransmissions.map { Int(chunks[index].retransmissions) >= $0 } ?? false
    guard isExpired || isExhausted else { return false }
    abandon(place, messages: &messages)
    return true
  }

  /// Gives the message up, sent fragments and all. One that was not sent in full gets a last empty TSN that is never sent: passing over it
  /// tells the peer that no more will come, even when all sent fragments are acknowledged.
  mutating func abandon(_ place: Int, messages: inout MessagePool) {
    guard !messages[place].isAbandoned else { return }
    messages[place].isAbandoned = true
    if messages[place].unsentBytes > 0, messages[place].fragments > 0 {
      messages[place].lastTSN = nextTSN
      chunks.append(Chunk(message: Int32(place), offset: 0, length: 0, fragment: 0, flags: DataFlags.end))
      messages.retain(place)
    }
    guard messages[place].fragments > 0 else { return }
    let (first, last) = (messages[place].firstTSN, messages[place].lastTSN)
    var tsn = first.precedes(cumulative &+ 1) ? cumulative &+ 1 : first
    while !last.precedes(tsn) {
      if let index = index(of: tsn), Int(chunks[index].message) == place {
        if chunks[index].state == .inFlight { bytesInFlight -= chunks[index].size }
        if timed?.tsn == tsn { timed = nil }
        chunks[index].state = .abandoned
      }
      tsn &+= 1
    }
    messages[place].bytes = []
    advance()
  }

  /// Moves the advanced acknowledgment point over abandoned chunks.
  private mutating func advance() {
    while let index = index(of: advanced &+ 1), chunks[index].state == .abandoned { advanced &+= 1 }
  }

  /// The last abandoned sequence number of each ordered stream up to the advanced acknowledgment point, for FORWARD TSN. At most `limit`
  /// streams; `last` is the TSN up to which they hold.
  func abandonedSequences(limit: Int, messages: borrowing MessagePool) -> (
    streams: [(stream: UInt16, sequence: UInt32, isUnordered: Bool)], last: UInt32
  ) {
    var streams: [(stream: UInt16, sequence: UInt32, isUnordered: Bool)] = []
    var tsn = cumulative
    var previous: Int32 = -1
    while tsn != advanced, let index = index(of: tsn &+ 1) {
      let place = chunks[index].message
      if place != previous {
        let (stream, sequence) = (messages[Int(place)].streamIdentifier, messages[Int(place)].sequence)
        let isUnordered = messages[Int(place)].isUnordered
        if let known = streams.lastIndex(where: { $0.stream == stream && $0.isUnordered == isUnordered }) {
          streams[known].sequence = sequence
        } else {
          if streams.count == limit { break }
          streams.append((stream, sequence, isUnordered))
        }
        previous = place
      }
      tsn &+= 1
    }
    return (streams, tsn)
  }
}
