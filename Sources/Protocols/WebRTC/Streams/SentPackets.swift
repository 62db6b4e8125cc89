import Base
import RTP

/// The packets sent over a transport, by transport-wide sequence number, until the receiver says how they fared.
struct SentPackets: Sendable {
  /// How one packet fared.
  struct Result: Sendable, Equatable {
    /// When it was sent.
    var sent: Instant
    /// When it arrived, by the receiver's clock; nil when it was lost.
    var arrival: Interval?
    /// Its bytes.
    var count: Int
  }

  private enum Fate { case inFlight, reportedLost, arrived }

  private struct Entry {
    var number: Int64 = -1
    var sent = Instant.zero
    var count = 0
    var fate = Fate.arrived
  }

  private static let window = 8_192

  /// The number for the next packet.
  private(set) var nextSequenceNumber: UInt16
  /// Bytes sent whose fate is not known. What is never reported on counts until the window passed it.
  private(set) var bytesInFlight = 0
  /// How the packets fared that the last feedback told of for the first time, in the order they were sent.
  private(set) var results: [Result] = []

  private var entries = [Entry](repeating: Entry(), count: window)
  private var next: Int64
  private var lastReference: Int64?

  /// Nothing sent yet; numbers begin at `first`.
  init(first: UInt16 = 0) {
    nextSequenceNumber = first
    next = Int64(first)
    results.reserveCapacity(1_024)
  }

  private func position(_ number: Int64) -> Int { Int(number & Int64(Self.window - 1)) }

  /// Takes note of a packet of `count` bytes that carried `nextSequenceNumber`.
  mutating func sent(_ count: Int, now: Instant) {
    let old = entries[position(next)]
    if old.fate == .inFlight { bytesInFlight -= old.count }
    entries[position(next)] = Entry(number: next, sent: now, count: count, fate: .inFlight)
    bytesInFlight += count
    next += 1
    nextSequenceNumber &+= 1
  }

  /// Takes note of feedback; `results` then tells the news. Returns the round-trip time of the packet that arrived last, if any did.
  @discardableResult
  mutating func handle(_ feedback: RTCP.TransportFeedback, now: Instant) -> Interval? {
    results.removeAll(keepingCapacity: true)
    // 24 bits of 64 ms: continued as the nearest to the report before.
    let reference: Int64
    if let lastReference {
      let step = Int64(Int32(truncatingIfNeeded: (Int64(feedback.referenceTime) - lastReference) << 8) >> 8)
      reference = lastReference + step
    } else {
      reference = Int64(feedback.referenceTime)
    }
    lastReference = reference
    var arrival = RTCP.TransportFeedback.referenceTick * reference
    let behind = UInt16(truncatingIfNeeded: next) &- feedback.baseSequenceNumber
    var number = next - Int64(behind)
    var latest: Instant?
    for delta in feedback.deltas {
      if let delta { arrival += RTCP.TransportFeedback.tick * Int64(delta) }
      defer { number += 1 }
      guard number >= 0, number < next else { continue }
      let index = position(number)
      let entry = entries[index]
      guard entry.number == number, entry.fate != .arrived else { continue }
      if entry.fate == .inFlight { bytesInFlight -= entry.count }
      if delta != nil {
        entries[index].fate = .arrived
        latest = max(latest ?? entry.sent, entry.sent)
        results.append(Result(sent: entry.sent, arrival: arrival, count: entry.count))
      } else if entry.fate == .inFlight {
        // It may only be late: a later report can still say that it arrived.
        entries[index].fate = .reportedLost
        results.append(Result(sent: entry.sent, arrival: nil, count: entry.count))
      }
    }
    return latest.map { now - $0 }
  }
}
