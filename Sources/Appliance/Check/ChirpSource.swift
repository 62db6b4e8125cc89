import Base
import Call
import Frames
import Sound
import Synchronization

/// Plays a `SoundLoopTest` once, and remembers when that began.
final class ChirpSource: PlayoutSource, @unchecked Sendable {
  // Unchecked: the samples are written before anybody plays them, and never after.
  let channelCount = 1
  private let samples: UnsafeMutableBufferPointer<Int16>
  private let position = Atomic(0)
  private let startTime = Atomic<Int64>(0)

  /// Nothing was played yet.
  init() {
    samples = UnsafeMutableBufferPointer.allocate(capacity: SoundLoopTest.blockCount * AudioBlock.sampleCount)
    for index in 0..<SoundLoopTest.blockCount {
      for (offset, sample) in SoundLoopTest.block(at: index).samples.enumerated() {
        unsafe (samples.baseAddress! + index * AudioBlock.sampleCount + offset).initialize(to: sample)
      }
    }
  }

  deinit { unsafe samples.deallocate() }

  /// When the first block was handed to the loudspeaker; nil: it was not.
  var start: Instant? {
    let time = startTime.load(ordering: .acquiring)
    return time == 0 ? nil : Instant(nanoseconds: time)
  }

  func fill(_ target: UnsafeMutablePointer<Int16>, now: Instant, delay: Interval) -> Bool {
    let index = position.load(ordering: .relaxed)
    guard index < SoundLoopTest.blockCount else { return false }
    if index == 0 { startTime.store(now.nanoseconds, ordering: .releasing) }
    position.store(index + 1, ordering: .relaxed)
    unsafe target.update(from: samples.baseAddress! + index * AudioBlock.sampleCount, count: AudioBlock.sampleCount)
    return true
  }
}
