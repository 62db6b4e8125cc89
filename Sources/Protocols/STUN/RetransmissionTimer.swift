import Base

/// When a request over UDP is sent again, and when it is given up (RFC 8489 section 6.2.1). Over a stream it is sent once.
public struct RetransmissionTimer: Sendable {
  /// What is to be done at the deadline.
  public enum Action: Sendable { case wait, retransmit, giveUp }

  /// When to call `fire` next.
  public private(set) var deadline: Instant
  private var interval: Interval
  private var remaining: Int
  private let lastWait: Interval

  /// A timer for a request sent `now`: sent again after `timeout`, which doubles each time, until it was sent `attempts` times; given up
  /// 8 timeouts after the last. With 250 ms and 6 that is 9.75 s.
  public init(now: Instant, timeout: Interval, attempts: Int) {
    (interval, remaining, lastWait) = (timeout, attempts - 1, timeout * Int64(8))
    deadline = now + (attempts > 1 ? timeout : lastWait)
  }

  /// A timer for a request on a stream, given up after `timeout`.
  public init(now: Instant, streamTimeout timeout: Interval) {
    (interval, remaining, lastWait) = (timeout, 0, timeout)
    deadline = now + timeout
  }

  /// What time `now` asks for; moves the deadline on.
  public mutating func fire(now: Instant) -> Action {
    guard now >= deadline else { return .wait }
    guard remaining > 0 else { return .giveUp }
    remaining -= 1
    interval = interval + interval
    deadline = now + (remaining > 0 ? interval : lastWait)
    return .retransmit
  }
}
