import Base
import Net
import Synchronization

/// Keeps the display dark or bright as `Blanking` says, on the network thread's clock. Usable from any thread.
final class DisplayPower: Sendable {
  private struct State {
    var blanking: Blanking
    /// When the loop looks next; nil: it does not.
    var look: Instant?
    var isBlanked = false
    var touched: Instant?
  }

  private let state: Mutex<State>
  private let loop: EventLoop
  private let setBlanked: @Sendable (Bool) -> Void

  /// A bright display. `setBlanked` is called with each change, must be brief, and must not call back.
  init(_ settings: Configuration.Power, loop: EventLoop, setBlanked: @escaping @Sendable (Bool) -> Void) {
    state = Mutex(State(blanking: Blanking(settings, now: MonotonicClock.now())))
    (self.loop, self.setBlanked) = (loop, setBlanked)
  }

  /// Begins to follow the clock.
  func start() { change { _, _ in } }

  /// An operator wants this.
  func set(_ wish: Blanking.Wish) { change { blanking, _ in blanking.set(wish) } }

  /// Somebody touched the screen, or did something else in front of it.
  func touch() {
    let now = MonotonicClock.now()
    let isNews = state.withLock { state in
      // A finger that moves tells the same many times a second.
      if !state.isBlanked, let touched = state.touched, now - touched < .seconds(1) { return false }
      state.touched = now
      return true
    }
    if isNews { change { $0.touch(now: $1) } }
  }

  /// A call is wanted.
  func startCall() { change { $0.startCall(now: $1) } }

  /// Whether a call is established now.
  func setInCall(_ isInCall: Bool) { change { $0.setInCall(isInCall, now: $1) } }

  private func change(_ body: (inout Blanking, Instant) -> Void) {
    let now = MonotonicClock.now()
    let civil = CivilTime.now
    state.withLock { state in
      body(&state.blanking, now)
      let next = state.blanking.update(now: now, civil: civil)
      let cause = state.blanking.cause
      if (cause != nil) != state.isBlanked {
        state.isBlanked.toggle()
        Log.notice(cause.map { "the display goes dark: \($0.rawValue)" } ?? "the display is bright again")
        // Under the lock: two changes must not overtake each other.
        setBlanked(state.isBlanked)
      }
      guard let next, state.look.map({ next < $0 }) ?? true else { return }
      state.look = next
      loop.run { [weak self, loop] in loop.schedule(at: next) { self?.look(at: next) } }
    }
  }

  /// The time has come, unless an earlier look took its place.
  private func look(at time: Instant) {
    state.withLock { if $0.look == time { $0.look = nil } }
    change { _, _ in }
  }
}
