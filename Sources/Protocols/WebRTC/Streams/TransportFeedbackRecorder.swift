import Base
import RTP

/// Remembers when the packets of a transport arrived, and reports it to the sender (transport-wide congestion control).
struct TransportFeedbackRecorder: Sendable {
  /// Packets in one report at most, so that it fits a datagram even if every delta is large.
  private static let limit = 500
  private static let window = 8_192

  private var sequenceNumbers = SequenceNumberUnwrapper()
  /// Arrival of each packet in the window, in nanoseconds; `Int64.min` for those missing.
  private var arrivals = [Int64](repeating: .min, count: window)
  /// The first packet that the next report covers.
  private var next: Int64?
  private var unreported = 0
  private var lastReport: Instant?
  private var firstUnreported = Instant.zero
  private var feedbackPacketCount: UInt8 = 0

  /// Nothing received yet.
  init() {}

  private func position(_ number: Int64) -> Int { Int(number & Int64(Self.window - 1)) }

  /// Takes note of a packet's arrival.
  mutating func record(_ sequenceNumber: UInt16, now: Instant) {
    let highest = sequenceNumbers.highest
    let number = sequenceNumbers.unwrap(sequenceNumber)
    if let highest {
      guard number > highest - Int64(Self.window) else { return }
      if number > highest {
        if number - highest >= Int64(Self.window) {
          for index in arrivals.indices { arrivals[index] = .min }
          next = number
        } else {
          for gap in highest + 1..<number { arrivals[position(gap)] = .min }
        }
      } else if arrivals[position(number)] != .min {
        return
      }
    }
    arrivals[position(number)] = now.nanoseconds
    // One that arrives late is reported with all behind it once more: the sender keeps the first word on each.
    next = min(next ?? number, number)
    if unreported == 0 { firstUnreported = now }
    unreported += 1
  }

  /// When the next report is due: 20 ms after the first packet, then 50 ms after the report before while packets come quickly, else 100 ms.
  var deadline: Instant? {
    guard unreported > 0 else { return nil }
    guard let lastReport else { return firstUnreported + .milliseconds(20) }
    return lastReport + .milliseconds(unreported >= 20 ? 50 : 100)
  }

  /// Appends the reports that are due now.
  mutating func feedback(now: Instant, senderSSRC: UInt32, mediaSSRC: UInt32, into packets: inout [RTCP.Packet]) {
    guard let due = deadline, due <= now, var number = next, let highest = sequenceNumbers.highest else { return }
    number = max(number, highest - Int64(Self.window) + 1)
    while number <= highest {
      guard let first = (number...highest).first(where: { arrivals[position($0)] != .min }) else { break }
      var report = RTCP.TransportFeedback(
        senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, baseSequenceNumber: UInt16(truncatingIfNeeded: number),
        feedbackPacketCount: feedbackPacketCount, firstArrival: Instant(nanoseconds: arrivals[position(first)]))
      // A long gap that precedes fills the report; what does not fit goes into the next.
      while number <= highest, report.deltas.count < Self.limit {
        let arrival = arrivals[position(number)]
        guard report.append(arrival: arrival == .min ? nil : Instant(nanoseconds: arrival)) else { break }
        number += 1
      }
      feedbackPacketCount &+= 1
      packets.append(.transportFeedback(report))
    }
    next = highest + 1
    unreported = 0
    lastReport = now
  }
}
