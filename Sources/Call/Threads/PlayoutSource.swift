import Base

/// Something that is heard. The playout thread asks it for sound and must not be held up: no lock, no allocation, nothing that waits.
public protocol PlayoutSource: AnyObject, Sendable {
  /// Interleaved channels of its blocks: 1 or 2.
  var channelCount: Int { get }

  /// Writes the next 10 ms to `samples`, 480 for each channel, and says whether there is anything to be heard; otherwise nothing need be written.
  /// `now` is the time of the block, whose first sample is heard `delay` later.
  func fill(_ samples: UnsafeMutablePointer<Int16>, now: Instant, delay: Interval) -> Bool
}
