import Base

/// What a receiver counts of one source to report on it (RFC 3550 section 6.4.1, appendices A.1, A.3 and A.8).
public struct ReceiverStatistics: Sendable {
  /// Ticks of the RTP clock per second.
  public var clockRate: Int
  /// Packets received, duplicates included.
  public private(set) var packetsReceived: Int64 = 0
  /// Interarrival jitter in time stamp units.
  public private(set) var jitterTicks = 0.0

  private var sequenceNumbers = SequenceNumberUnwrapper()
  private var first: Int64 = 0
  private var lastTransit: Int64?
  private var lastTimestamp: UInt32 = 0
  private var priorExpected: Int64 = 0
  private var priorReceived: Int64 = 0

  /// Nothing received yet.
  public init(clockRate: Int) { self.clockRate = max(clockRate, 1) }

  /// Takes note of a packet. Retransmissions are not to be noted: their arrival says nothing of the path's jitter.
  public mutating func receive(sequenceNumber: UInt16, timestamp: UInt32, arrival: Instant) {
    if sequenceNumbers.highest == nil { first = Int64(sequenceNumber) }
    let highest = sequenceNumbers.highest
    let number = sequenceNumbers.unwrap(sequenceNumber)
    packetsReceived += 1
    guard number > highest ?? .min else { return }
    // Packets of one frame share a time stamp, and the sender spreads them out: only the first of each tells of jitter.
    if lastTransit != nil, timestamp == lastTimestamp { return }
    let seconds = arrival.nanoseconds / 1_000_000_000
    let arrivalTicks = seconds &* Int64(clockRate) &+ (arrival.nanoseconds % 1_000_000_000) &* Int64(clockRate) / 1_000_000_000
    // Transit times are compared modulo 2³², so that the wrap of time stamps does not show.
    let transit = arrivalTicks &- Int64(timestamp)
    if let lastTransit {
      let difference = Int32(truncatingIfNeeded: transit &- lastTransit)
      // A jump of more than 5 s is a new time base, not jitter.
      if difference.magnitude < UInt32(clamping: 5 * clockRate) {
        jitterTicks += (Double(difference.magnitude) - jitterTicks) / 16
      }
    }
    lastTransit = transit
    lastTimestamp = timestamp
  }

  /// Begins anew at a sequence number far from the others, as a restarted sender does.
  public mutating func restart() {
    let jitter = jitterTicks
    self = ReceiverStatistics(clockRate: clockRate)
    jitterTicks = jitter
  }

  /// Interarrival jitter.
  public var jitter: Interval { .seconds(jitterTicks / Double(clockRate)) }

  /// Packets expected from the first to the highest sequence number.
  public var packetsExpected: Int64 { sequenceNumbers.highest.map { $0 - first + 1 } ?? 0 }

  /// Packets expected and not received; negative when duplicates arrived.
  public var packetsLost: Int64 { packetsExpected - packetsReceived }

  /// The highest sequence number with its count of cycles in the upper half.
  public var extendedHighestSequenceNumber: UInt32 { UInt32(truncatingIfNeeded: sequenceNumbers.highest ?? 0) }

  /// A report block on the source; the fraction lost counts since the block before it.
  public mutating func reportBlock(ssrc: UInt32, lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0) -> RTCP.ReportBlock {
    let expected = packetsExpected - priorExpected
    let lost = expected - (packetsReceived - priorReceived)
    priorExpected = packetsExpected
    priorReceived = packetsReceived
    return RTCP.ReportBlock(
      ssrc: ssrc, fractionLost: expected <= 0 || lost <= 0 ? 0 : UInt8(clamping: lost * 256 / expected),
      packetsLost: Int32(clamping: min(max(packetsLost, -0x80_0000), 0x7F_FFFF)),
      extendedHighestSequenceNumber: extendedHighestSequenceNumber, jitter: UInt32(jitterTicks),
      lastSenderReport: lastSenderReport, delaySinceLastSenderReport: delaySinceLastSenderReport)
  }
}
