import Base

/// Finds the largest packet that the path carries, with padded HEARTBEATs (RFC 8899 section 5, RFC 9260 section 7.3).
struct PathMTU: Sendable {
  /// A probe on its way.
  struct Probe: Sendable, Equatable {
    var size: Int
    var nonce: UInt64
  }

  /// The packet size in use, in bytes.
  private(set) var current: Int
  private let base: Int
  /// Sizes to be tried, the largest first: one probe settles it on most paths.
  private var candidates: [Int] = []
  private let maximum: Int
  private var attempts = 0
  private var inFlight: Probe?
  private var isDue = false
  /// When the probe on its way counts as lost, or the next search begins.
  private(set) var deadline: Instant?

  private static let attemptsPerSize = 3
  private static let step = 40
  private static let searchInterval = Interval.milliseconds(600_000)

  /// Uses `base`, which every path is taken to carry, and looks for up to `maximum`.
  init(base: Int, maximum: Int) {
    (self.base, self.maximum) = (base, maximum)
    current = base
  }

  /// Begins to search.
  mutating func start() {
    candidates = Array(stride(from: maximum, to: current, by: -Self.step))
    (attempts, inFlight, deadline) = (0, nil, nil)
    isDue = !candidates.isEmpty
  }

  /// Goes back to the base: large packets vanish, or the path changed.
  mutating func reset(now: Instant) {
    current = base
    (candidates, inFlight, isDue) = ([], nil, false)
    deadline = base < maximum ? now + Self.searchInterval : nil
  }

  /// The size of the probe to be sent now; nil when none is due.
  var dueSize: Int? { isDue ? candidates.first : nil }

  /// Notes that the probe was sent with `nonce`; after `timeout` it counts as lost.
  mutating func sent(nonce: UInt64, now: Instant, timeout: Interval) {
    guard let size = candidates.first else { return }
    inFlight = Probe(size: size, nonce: nonce)
    isDue = false
    deadline = now + timeout
  }

  /// Notes a HEARTBEAT ACK. True when it answers the probe: `current` is larger then.
  mutating func acknowledged(nonce: UInt64, now: Instant) -> Bool {
    guard let probe = inFlight, probe.nonce == nonce else { return false }
    current = max(current, probe.size)
    (candidates, inFlight) = ([], nil)
    deadline = current < maximum ? now + Self.searchInterval : nil
    return true
  }

  /// Acts when the deadline is reached.
  mutating func handleTimeout(now: Instant) {
    guard let deadline, deadline <= now else { return }
    self.deadline = nil
    guard inFlight != nil else { return start() }
    inFlight = nil
    attempts += 1
    if attempts >= Self.attemptsPerSize {
      attempts = 0
      candidates.removeFirst()
    }
    isDue = !candidates.isEmpty
    if !isDue { self.deadline = now + Self.searchInterval }
  }
}
