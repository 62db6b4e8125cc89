import Base

/// Strictly increasing presentation times for an encoder's rate control: from the capture times where frames carry them, else from the frame rate.
struct PresentationClock {
  private var origin: Instant?
  private var last: Int64?

  /// The time of the next frame, in microseconds from the first.
  mutating func next(captureTime: Instant?, framesPerSecond: Double) -> Int64 {
    let step = Int64(1_000_000 / framesPerSecond)
    guard let last else {
      (origin, self.last) = (captureTime, 0)
      return 0
    }
    var time = last + step
    if let captureTime, let origin {
      let captured = (captureTime - origin).nanoseconds / 1_000
      // A camera that was restarted, or a clock that jumped, must not look like seconds of saved bits.
      if captured > last && captured - last < 2_000_000 {
        time = captured
      } else {
        self.origin = captureTime - .microseconds(time)
      }
    } else {
      origin = captureTime.map { $0 - .microseconds(time) }
    }
    self.last = time
    return time
  }
}
