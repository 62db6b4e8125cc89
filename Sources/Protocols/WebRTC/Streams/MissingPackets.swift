import Base
import RTP

/// The packets of a stream that did not arrive, and when to ask for each (generic NACK).
///
/// A gap is not asked for at once: packets overtake each other, so a short time passes first. Each packet is asked for at most ten times,
/// each time a round trip and a bit more apart, and never more than 250 packets at all: beyond that a key frame is cheaper.
struct MissingPackets: Sendable {
  /// Most packets missing at a time.
  static let limit = 250
  /// Most requests for one packet.
  static let maximumTries = 10

  private struct Entry {
    var number: Int64
    var tries = 0
    var missedAt: Instant
    var nextRequest: Instant
  }

  /// Round-trip time to the sender, once it is known.
  var roundTripTime: Interval?
  /// Packets that no request brought.
  private(set) var unrecovered = 0
  /// When the next request is due, or somewhat earlier.
  private(set) var deadline: Instant?

  private var entries: [Entry] = []
  private var reordering = Interval.milliseconds(10)

  /// No packet misses.
  init() { entries.reserveCapacity(Self.limit + 1) }

  /// Packets missing now.
  var count: Int { entries.count }

  /// How long a gap is given to close by itself: 10 ms, up to 20 ms where packets were seen to overtake each other, but no longer than a
  /// round trip, which asking would take.
  private var wait: Interval { min(reordering, roundTripTime ?? reordering) }

  /// Takes note of the gap `range` in the sequence. Returns false when that makes too many missing: all are given up then.
  mutating func add(_ range: Range<Int64>, now: Instant) -> Bool {
    guard range.count <= Self.limit - entries.count else {
      giveUp(range.count)
      return false
    }
    let next = now + wait
    for number in range { entries.append(Entry(number: number, missedAt: now, nextRequest: next)) }
    deadline = min(deadline ?? next, next)
    return true
  }

  /// Gives up on all, and on `count` packets more.
  mutating func giveUp(_ count: Int) {
    unrecovered += entries.count + count
    removeAll()
  }

  /// A missing packet arrived. Returns false when it was not known as missing.
  @discardableResult
  mutating func remove(_ number: Int64, isRetransmission: Bool, now: Instant) -> Bool {
    guard let index = firstIndex(from: number), entries[index].number == number else { return false }
    // One that was asked for may be an exact copy, sent again without a stream of its own: that says nothing of reordering.
    if !isRetransmission, entries[index].tries == 0 {
      reordering = min(max(reordering, (now - entries[index].missedAt) * 1.25), .milliseconds(20))
    }
    entries.remove(at: index)
    if entries.isEmpty { deadline = nil }
    return true
  }

  /// Gives up on packets before `number`: they belong to frames that nobody waits for.
  mutating func removeAll(before number: Int64) {
    entries.removeFirst(firstIndex(from: number) ?? entries.count)
    if entries.isEmpty { deadline = nil }
  }

  /// Gives up on all.
  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    deadline = nil
  }

  /// Appends the numbers to be asked for now. Returns how many packets were given up because asking did not help.
  mutating func due(now: Instant, into numbers: inout [UInt16]) -> Int {
    guard let deadline, deadline <= now else { return 0 }
    let roundTrip = max(roundTripTime ?? .milliseconds(100), .milliseconds(10))
    var next: Instant?
    var kept = 0
    for index in entries.indices {
      var entry = entries[index]
      if entry.nextRequest <= now {
        if entry.tries == Self.maximumTries { continue }
        numbers.append(UInt16(truncatingIfNeeded: entry.number))
        // 1, 1.5, 2, … round trips, and 10 ms for what the other side needs.
        entry.nextRequest = now + roundTrip * (1 + Double(entry.tries) / 2) + .milliseconds(10)
        entry.tries += 1
      }
      next = min(next ?? entry.nextRequest, entry.nextRequest)
      entries[kept] = entry
      kept += 1
    }
    let lost = entries.count - kept
    entries.removeLast(lost)
    unrecovered += lost
    self.deadline = next
    return lost
  }

  /// Index of the first entry of at least `number`; entries are in ascending order.
  private func firstIndex(from number: Int64) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < entries.count ? low : nil
  }
}
