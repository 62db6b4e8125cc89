import Base

/// Slow start, congestion avoidance and fast recovery (RFC 9260 section 7.2), in bytes.
struct CongestionControl: Sendable {
  /// Path MTU in bytes.
  var mtu: Int
  /// The congestion window.
  private(set) var window: Int
  private(set) var slowStartThreshold = Int.max
  private var partialBytesAcknowledged = 0
  /// Fast recovery lasts until this TSN is acknowledged cumulatively.
  private(set) var recoveryExit: UInt32?
  /// How many bytes may leave before the next acknowledgment.
  private var burst: Int

  /// Initial window in packets, as TCP has it since RFC 6928: call signalling must not wait for round trips.
  private static let initialPackets = 10
  /// RFC 9260's Max.Burst in packets.
  private static let burstPackets = 4
  /// Most growth per SACK in slow start, in packets. RFC 9260 counts one, for peers that acknowledge every second packet; a receiver that takes packets
  /// in batches acknowledges once per batch. Growth never exceeds what was acknowledged, so splitting acknowledgments gains nothing.
  private static let growthPackets = 32

  /// The state of a new association.
  init(mtu: Int) {
    self.mtu = mtu
    window = Self.initialPackets * mtu
    burst = Self.burstPackets * mtu
  }

  /// Whether a chunk may leave with `bytesInFlight` on the way (RFC 9260 section 6.1, rules B and D).
  func permits(bytesInFlight: Int) -> Bool { bytesInFlight == 0 || (bytesInFlight < window && burst > 0) }

  /// Notes that `bytes` left.
  mutating func sent(_ bytes: Int) { burst -= bytes }

  /// Notes that nothing is in flight, so no acknowledgment will come to allow a burst.
  mutating func idle() { burst = max(burst, Self.burstPackets * mtu) }

  /// Notes an acknowledgment of `bytes`; `cumulative` and `isAdvance` describe the cumulative TSN, `bytesInFlight` what was in flight before.
  mutating func acknowledged(_ bytes: Int, cumulative: UInt32, isAdvance: Bool, bytesInFlight: Int) {
    // Max.Burst on top of what the acknowledgment took off the network: a batch of acknowledgments may be answered by a batch.
    burst = bytes + Self.burstPackets * mtu
    if let exit = recoveryExit {
      guard !cumulative.precedes(exit) else { return }
      recoveryExit = nil
    }
    guard isAdvance else { return }
    let isUsed = bytesInFlight + mtu >= window
    if window <= slowStartThreshold {
      if isUsed { window += min(bytes, Self.growthPackets * mtu) }
      partialBytesAcknowledged = 0
    } else {
      partialBytesAcknowledged += bytes
      if partialBytesAcknowledged >= window, isUsed {
        partialBytesAcknowledged -= window
        window += mtu
      }
      partialBytesAcknowledged = min(partialBytesAcknowledged, window)
    }
  }

  /// Notes a loss found by missing reports; recovery lasts until `highest`, the last TSN sent, is acknowledged. False when it already lasts.
  mutating func enterRecovery(until highest: UInt32) -> Bool {
    guard recoveryExit == nil else { return false }
    slowStartThreshold = max(window / 2, 4 * mtu)
    window = slowStartThreshold
    partialBytesAcknowledged = 0
    recoveryExit = highest
    return true
  }

  /// Notes that the retransmission timer expired (RFC 9260 section 7.2.3).
  mutating func timedOut() {
    slowStartThreshold = max(window / 2, 4 * mtu)
    window = mtu
    partialBytesAcknowledged = 0
    recoveryExit = nil
    burst = mtu
  }

  /// Notes that nothing was sent for a retransmission timeout: the window decays (RFC 9260 section 7.2.1).
  mutating func decay() { window = max(window / 2, min(window, Self.initialPackets * mtu)) }
}
