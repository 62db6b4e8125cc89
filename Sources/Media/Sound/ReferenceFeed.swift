import Base
import Frames
import Synchronization

/// What is played, on its way from the playout thread to the microphone's, whose echo canceller takes it out of what is heard. Neither thread waits.
public final class ReferenceFeed: Sendable {
  private let ring = SlotRing(capacity: 64, of: AudioSlot())
  private let wanted = Atomic(false)

  /// Nothing yet.
  public init() {}

  /// Whether a microphone takes what is put in.
  public var isWanted: Bool { wanted.load(ordering: .relaxed) }

  /// Says whether a microphone takes what is put in.
  public func setWanted(_ value: Bool) { wanted.store(value, ordering: .relaxed) }

  /// Puts a block in whose first sample is heard at `time`. From the playout thread.
  public func put(_ samples: UnsafePointer<Int16>, channelCount: Int, heardAt time: Instant) {
    guard isWanted else { return }
    ring.put { slot in
      unsafe (slot.pointee.time, slot.pointee.channelCount) = (time.nanoseconds, channelCount)
      unsafe AudioSlot.samples(of: slot).update(from: samples, count: AudioBlock.sampleCount * channelCount)
    }
  }

  /// Moves what has been put in to `timeline`. From the microphone's thread.
  public func move(to timeline: inout EchoTimeline) {
    while ring.take({ slot in
      unsafe timeline.add(
        AudioSlot.samples(in: slot), channelCount: slot.pointee.channelCount, at: Instant(nanoseconds: slot.pointee.time))
    }) {}
  }
}
