import Base

/// A candidate pair with the counts of W3C's `RTCIceCandidatePairStats`.
public struct PairStatistics: Sendable, Identifiable {
  /// Where a pair's checks are (RFC 8445 section 6.1.2.6).
  public enum State: String, Sendable {
    /// Not checked yet. (There is one component, so no pair is ever frozen.)
    case waiting
    /// Checked, not answered.
    case inProgress = "in-progress"
    /// Never answered, or no longer.
    case failed
    /// Answered.
    case succeeded
  }

  /// Stays the same for the pair's life.
  public internal(set) var id: Int
  /// The candidates, as they may be shown.
  public internal(set) var local: Candidate, remote: Candidate
  /// Where the checks are.
  public internal(set) var state = State.waiting
  /// The controlling side chose the pair.
  public internal(set) var nominated = false
  /// Application data travels on the pair.
  public internal(set) var isSelected = false
  /// The pair's priority (RFC 8445 section 6.1.2.3).
  public internal(set) var priority: UInt64 = 0
  /// Application data that was routed to the pair.
  public internal(set) var packetsSent = 0, bytesSent = 0
  /// Application data that came on the pair.
  public internal(set) var packetsReceived = 0, bytesReceived = 0
  /// When the last of them was sent and came; nil before the first.
  public internal(set) var lastPacketSent: Instant?, lastPacketReceived: Instant?
  /// Checks, of which consent checks are those after the first answer.
  public internal(set) var requestsSent = 0, consentRequestsSent = 0, responsesReceived = 0
  /// Checks of the peer.
  public internal(set) var requestsReceived = 0, responsesSent = 0
  /// The latest round trip; nil before the first answer.
  public internal(set) var currentRoundTripTime: Interval?
  /// The sum of all round trips.
  public internal(set) var totalRoundTripTime = Interval.zero
}
