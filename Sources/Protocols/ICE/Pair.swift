import Base
import STUN

/// How packets leave: the base of a local candidate.
enum Path: Sendable, Hashable {
  /// A datagram socket of the owner.
  case datagram(SocketIdentifier)
  /// The relay with this number, whose TURN client frames the packets.
  case relay(Int)
  /// A TCP connection to the peer.
  case stream(SocketIdentifier)
}

/// A check that was sent and may be answered.
struct Check: Sendable {
  var id: TransactionID
  var sentAt: Instant
  var isNominating: Bool
  var wasControlling: Bool
}

/// A local base and a remote candidate, and how the checks between them stand.
struct Pair: Sendable {
  /// Answers to older checks than these are not waited for.
  static let outstandingLimit = 8

  let path: Path
  /// Where checks go and come from; a link-local address has its scope here.
  let remoteAddress: SocketAddress
  let generation: Int
  /// The base's priority, until a response shows the local candidate.
  var statistics: PairStatistics
  /// The local candidate without concealment.
  var localAddress: SocketAddress

  /// A permission of the TURN server has to come first.
  var isBlocked = false
  /// The next check goes before all others: a check of the peer asked for it, or a nomination is due.
  var isTriggered = false
  /// The next checks carry USE-CANDIDATE until one is answered.
  var isNominating = false
  /// The peer nominated the pair before it was valid.
  var isNominatedOnSuccess = false

  var outstanding: [Check] = []
  var startedAt: Instant?
  var nextCheck: Instant?
  var lastCheck: Instant?
  var gap: Interval

  var lastReceived: Instant?
  var lastAnswer: Instant?
  var consentAt: Instant?
  /// The first check since anything was received.
  var unansweredSince: Instant?
  /// The last check was not answered yet.
  var awaitsAnswer = false

  var state: PairStatistics.State {
    get { statistics.state }
    set { statistics.state = newValue }
  }
  var id: Int { statistics.id }
  var isValid: Bool { statistics.state == .succeeded }
  /// The pair may still become valid.
  var isLive: Bool { statistics.state == .waiting || statistics.state == .inProgress }

  init(
    id: Int, path: Path, local: Candidate, localAddress: SocketAddress, remote: Candidate, remoteAddress: SocketAddress, generation: Int,
    gap: Interval
  ) {
    (self.path, self.localAddress, self.remoteAddress, self.generation, self.gap) = (path, localAddress, remoteAddress, generation, gap)
    statistics = PairStatistics(id: id, local: local, remote: remote)
  }

  /// Not silent for longer than `limit`.
  func isResponsive(_ now: Instant, limit: Interval) -> Bool {
    guard let unansweredSince else { return true }
    return now - unansweredSince < limit
  }

  mutating func noteReceived(_ now: Instant) {
    lastReceived = now
    unansweredSince = nil
  }

  mutating func fail() {
    state = .failed
    nextCheck = nil
    outstanding = []
    (isTriggered, isNominating, isNominatedOnSuccess) = (false, false, false)
  }
}
