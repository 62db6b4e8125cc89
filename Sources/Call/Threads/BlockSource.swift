import Base
import Frames

/// Plays blocks that another thread puts in at the same pace. As few of them stand between the two as keeps what is heard without gaps.
public final class BlockSource: PlayoutSource, @unchecked Sendable {
  // Unchecked: all but the ring belongs to the playout thread.
  public let channelCount = 1
  private let ring = SlotRing(capacity: most, of: AudioSlot())
  /// For how many blocks in a row there has been one more than was needed.
  private var spareCount = 0

  /// Blocks that wait at most; whoever puts was held up, and then came with all at once.
  private static let most = 6
  /// After two seconds with a block to spare it is left out: the delay that one late block has brought does not stay.
  private static let calm = 200

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

  /// How many blocks wait.
  var waitingCount: Int { ring.count }

  public func fill(_ samples: UnsafeMutablePointer<Int16>, now: Instant, delay: Interval) -> Bool {
    if ring.count == BlockSource.most { while ring.count > 1 { ring.take { _ in } } }
    let isHeard = ring.take { slot in unsafe samples.update(from: AudioSlot.samples(in: slot), count: AudioBlock.sampleCount) }
    spareCount = isHeard && ring.count > 0 ? spareCount + 1 : 0
    if spareCount == BlockSource.calm {
      ring.take { _ in }
      spareCount = 0
    }
    return isHeard
  }
}
