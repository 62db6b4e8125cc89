import CWebKit

/// How far the load of a view's document has come.
struct LoadState {
  /// The document has begun.
  var isCommitted = false
  /// The document has painted something.
  var hasPicture = false
  /// Its first picture is on the screen.
  var isDrawn = false
  /// Why the response was not taken, known before the engine says that the load failed.
  var refusal: LoadFailure?
  private var deadline: guint = 0

  /// A load begins; `expired` is called when it has not drawn by then.
  mutating func begin(deadline seconds: Double, data: gpointer, expired: @escaping GSourceFunc) {
    cancelDeadline()
    self = LoadState()
    deadline = g_timeout_add(guint(min(max(seconds, 0.1), 86_400) * 1000), expired, data)
  }

  mutating func cancelDeadline() {
    if deadline != 0 { g_source_remove(deadline) }
    deadline = 0
  }

  /// The deadline's source has run out.
  mutating func deadlineExpired() { deadline = 0 }
}
