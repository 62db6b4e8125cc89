import Base
import Net
import Synchronization

/// Keeps the display dark or bright as `Blanking` says, and its gamma as `GammaChoice` does, on the network thread's clock. Usable from any thread.
final class DisplayPower: Sendable {
  /// What a display is told. Each is called with changes alone, must be brief, and must not call back.
  struct Display: Sendable {
    var setBlanked: @Sendable (Bool) -> Void
    var setGamma: @Sendable (Double?) -> Void
  }

  private struct State {
    var blanking: Blanking
    var gamma: GammaChoice
    /// When the loop looks next; nil: it does not.
    var look: Instant?
    var isBlanked = false
    var touched: Instant?
  }

  private let state: Mutex<State>
  private let loop: EventLoop
  private let display: Display

  /// A bright display whose gamma is `usualGamma`, which holds while the schedule names none; nil: the driver's own.
  init(_ settings: Configuration.Power, usualGamma: Double?, loop: EventLoop, display: Display) {
    state = Mutex(
      State(
        blanking: Blanking(settings, now: MonotonicClock.now()), gamma: GammaChoice(settings.gamma, usual: usualGamma)))
    (self.loop, self.display) = (loop, display)
  }

  /// Begins to follow the clock.
  func start() { change { _, _ in } }

  /// An operator wants this.
  func set(_ wish: Blanking.Wish) { change { state, _ in state.blanking.set(wish) } }

  /// An operator wants this gamma; nil: as the configuration says.
  func setGamma(_ wish: Double?) { change { state, _ in state.gamma.set(wish) } }

  /// Somebody touched the screen, or did something else in front of it.
  func touch() {
    let now = MonotonicClock.now()
    let isNews = state.withLock { state in
      // A finger that moves tells the same many times a second.
      if !state.isBlanked, let touched = state.touched, now - touched < .seconds(1) { return false }
      state.touched = now
      return true
    }
    if isNews { change { $0.blanking.touch(now: $1) } }
  }

  /// Something has to be seen for so long; nil: not any more.
  func show(for duration: Interval?) { change { $0.blanking.show(for: duration, now: $1) } }

  /// A call is wanted.
  func startCall() { change { $0.blanking.startCall(now: $1) } }

  /// Whether a call is established now.
  func setInCall(_ isInCall: Bool) { change { $0.blanking.setInCall(isInCall, now: $1) } }

  private func change(_ body: (inout State, Instant) -> Void) {
    let now = MonotonicClock.now()
    let civil = CivilTime.now
    // The display is told under the lock: two changes must not overtake each other.
    state.withLock { state in
      body(&state, now)
      let gamma = state.gamma.value
      let ends = [state.blanking.update(now: now, civil: civil), state.gamma.update(now: now, civil: civil)]
      let cause = state.blanking.cause
      if (cause != nil) != state.isBlanked {
        state.isBlanked.toggle()
        Log.notice(cause.map { "the display goes dark: \($0.rawValue)" } ?? "the display is bright again")
        display.setBlanked(state.isBlanked)
      }
      if state.gamma.value != gamma {
        Log.notice("the display's gamma is \(state.gamma.value.map { "\($0)" } ?? "its own") now")
        display.setGamma(state.gamma.value)
      }
      guard let next = ends.compactMap({ $0 }).min(), state.look.map({ next < $0 }) ?? true else { return }
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
