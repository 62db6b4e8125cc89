import Base
import Frames
import Synchronization

/// Plays blocks that are put in by another thread at its own pace: a few stand between the two.
public final class BlockSource: PlayoutSource, @unchecked Sendable {
  // Unchecked: `isStarted` belongs to the playout thread.
  public let channelCount = 1
  private let ring = SlotRing(capacity: most, of: AudioSlot())
  private var isStarted = false

  /// Blocks that wait before the first is heard, and at most.
  private static let (least, most) = (2, 6)

  /// Nothing to be heard yet.
  public init() {}

  /// Puts the next block in; one that finds no room is left out. One thread at a time.
  public func put(_ block: AudioBlock) {
    ring.put { slot in
      let target = unsafe AudioSlot.samples(of: slot)
      for index in 0..<AudioBlock.sampleCount {
        unsafe target[index] =
          block.channelCount == 1
          ? block.samples[index] : Int16((Int32(block.samples[2 * index]) + Int32(block.samples[2 * index + 1])) / 2)
      }
    }
  }

  public func fill(_ samples: UnsafeMutablePointer<Int16>, now: Instant, delay: Interval) -> Bool {
    if ring.count >= BlockSource.least { isStarted = true }
    guard isStarted else { return false }
    // Full: whoever puts was held up and then came with all at once. What is heard must not stay late.
    if ring.count == BlockSource.most { while ring.count > BlockSource.least { ring.take { _ in } } }
    isStarted = ring.take { slot in unsafe samples.update(from: AudioSlot.samples(in: slot), count: AudioBlock.sampleCount) }
    return isStarted
  }
}
