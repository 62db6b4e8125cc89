import Base
import Frames

/// When a camera is opened, given up and opened again: a value. Events and the time go in; what to do, how the camera stands and when to ask again come out.
///
/// It never gives up. After a failure the camera is tried again soon, then less often, down to every two seconds; at once when a device arrives.
public struct CameraRecovery: Sendable {
  /// What to do now.
  public enum Step: Sendable, Equatable {
    /// Find the camera and open it. `failed`, `opened` or `stopped` follows.
    case open
    /// End what was opened or is being opened. `stopped` follows.
    case close
    /// Do not wait any longer for what was to end: a call to its driver does not return.
    case abandon
  }

  private enum Phase: Equatable {
    case idle(retry: Instant)
    case opening(since: Instant)
    case running(lastPicture: Instant, patience: Interval)
    case closing(since: Instant)
  }

  /// How the camera stands. While it is opened again, it stands as it did.
  public private(set) var state = DeviceState.starting
  private var phase: Phase
  private var name = ""
  private var failureCount = 0
  private var runningSince: Instant?
  /// A device arrived while the last attempt was under way.
  private var hasNews = false

  /// How long a driver may take.
  public struct Patience: Sendable {
    /// To find and open a camera: a driver asks it several things, each of which may take seconds.
    public var opening = Interval.seconds(15)
    /// To give the first picture, which may wait for exposure and focus.
    public var firstPicture = Interval.seconds(5)
    /// To give the next picture; four periods at least.
    public var picture = Interval.seconds(2)
    /// To stop.
    public var closing = Interval.seconds(2)

    /// What real drivers need.
    public init() {}
  }

  private let allowed: Patience
  private static let retries: [Interval] = [.milliseconds(100), .milliseconds(200), .milliseconds(500), .seconds(1), .seconds(2)]

  /// A camera that is to be opened at once.
  public init(now: Instant, patience: Patience = Patience()) { (phase, allowed) = (.idle(retry: now), patience) }

  /// When to ask for the next step at the latest.
  public var deadline: Instant {
    switch phase {
    case .idle(let retry): retry
    case .opening(let since): since + allowed.opening
    case .running(let last, let patience): last + patience
    case .closing(let since): since + allowed.closing
    }
  }

  /// What to do now; nil: nothing.
  public mutating func step(now: Instant) -> Step? {
    guard now >= deadline else { return nil }
    switch phase {
    case .idle:
      phase = .opening(since: now)
      hasNews = false
      return .open
    case .opening:
      fail(.failed(reason: "the camera does not open within \(Int(allowed.opening.seconds)) seconds"), now)
      phase = .closing(since: now)
      return .close
    case .running(let last, _):
      fail(.failed(reason: "no picture for \(Int((now - last).seconds.rounded())) seconds"), now)
      phase = .closing(since: now)
      return .close
    case .closing:
      phase = .idle(retry: now + retryDelay)
      return .abandon
    }
  }

  /// The camera was opened and will give so many pictures a second (0: unknown).
  public mutating func opened(name: String, framesPerSecond: Double, now: Instant) {
    guard case .opening = phase else { return }
    self.name = name
    runningSince = nil
    phase = .running(lastPicture: now, patience: max(allowed.firstPicture, patience(framesPerSecond)))
    self.framesPerSecond = framesPerSecond
  }
  private var framesPerSecond = 0.0

  private func patience(_ framesPerSecond: Double) -> Interval {
    framesPerSecond > 0 ? max(allowed.picture, .seconds(4 / framesPerSecond)) : allowed.picture
  }

  /// The newest picture that was seen is of this time. A picture makes a camera running.
  public mutating func pictured(at time: Instant) {
    guard case .running(let last, _) = phase else { return }
    phase = .running(lastPicture: max(last, time), patience: patience(framesPerSecond))
    let since = runningSince ?? time
    runningSince = since
    state = .running(name: name)
    // One that breaks down again and again after a few pictures is not in order.
    if time - since > .seconds(10) { failureCount = 0 }
  }

  /// The camera could not be opened, or broke down; it is closed.
  public mutating func failed(_ failure: CameraFailure, now: Instant) {
    switch phase {
    case .idle: return
    case .closing: break  // why it is closed is known already
    case .opening, .running:
      let state: DeviceState =
        switch failure {
        case .absent(let reason): .absent(reason: reason)
        case .busy(let reason): .busy(reason: reason)
        case .broken(let reason): .failed(reason: reason)
        }
      fail(state, now)
    }
    phase = .idle(retry: hasNews ? now : now + retryDelay)
  }

  /// It is closed to be opened anew in another mode; nothing is wrong with it. `stopped` follows.
  public mutating func reopen(now: Instant) {
    guard case .running = phase else { return }
    phase = .closing(since: now)
    hasNews = true
  }

  /// What was to end has ended.
  public mutating func stopped(now: Instant) {
    guard case .closing = phase else { return }
    phase = .idle(retry: hasNews ? now : now + retryDelay)
  }

  /// A device came, or one that was there may be used now.
  public mutating func arrived(now: Instant) {
    failureCount = min(failureCount, 1)
    if case .idle = phase { phase = .idle(retry: now) } else { hasNews = true }
  }

  private mutating func fail(_ state: DeviceState, _ now: Instant) {
    self.state = state
    runningSince = nil
    failureCount += 1
  }

  private var retryDelay: Interval { CameraRecovery.retries[min(max(0, failureCount - 1), CameraRecovery.retries.count - 1)] }
}
