import Base

/// Whether a cursor is to be seen: from when a pointer moves until it has rested for a while, or a finger touches the screen.
struct CursorVisibility {
  /// How long a cursor rests before it goes.
  static let patience = Interval.seconds(5)

  private(set) var isVisible = false
  /// Where the pointer is, in pixels of the picture.
  private(set) var place = (x: 0.0, y: 0.0)
  /// When to call `advance` next.
  private(set) var deadline: Instant?

  /// Somebody did this.
  mutating func take(_ input: StageInput, now: Instant) {
    switch input {
    case .pointerMotion(let x, let y):
      place = (x, y)
      show(now)
    case .pointerButton, .pointerAxis: show(now)
    case .touchDown: hide()
    case .touchMotion, .touchUp, .touchCancel, .key, .text: break
    }
  }

  /// The time has come.
  mutating func advance(to now: Instant) {
    if let deadline, now >= deadline { hide() }
  }

  private mutating func show(_ now: Instant) { (isVisible, deadline) = (true, now + CursorVisibility.patience) }

  private mutating func hide() { (isVisible, deadline) = (false, nil) }
}
