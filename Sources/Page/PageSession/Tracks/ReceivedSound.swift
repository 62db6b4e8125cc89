import Call
import Frames
import Synchronization

/// The sound that a transceiver receives: pulled by the playout thread at its pace, handed to taps and senders, and heard as loud as the
/// elements that play it say.
final class ReceivedSound: Sendable {
  /// For taps, senders and stages: as received.
  let sound = AudioFanOut()
  private let gain = Atomic<UInt64>(0)

  /// How loud it is heard: 0 is silent, 1 as received.
  func setGain(_ value: Double) { gain.store(value.bitPattern, ordering: .relaxed) }

  /// Takes a block on the playout thread; returns what is heard of it.
  func shape(_ block: AudioBlock) -> AudioBlock {
    sound.put(block)
    return block.scaled(by: Double(bitPattern: gain.load(ordering: .relaxed)))
  }
}

extension AudioBlock {
  /// The block, louder or more quiet; cut at full scale.
  func scaled(by factor: Double) -> AudioBlock {
    if factor == 1 { return self }
    var result = self
    for index in result.samples.indices {
      result.samples[index] = Int16(clamping: Int((Double(result.samples[index]) * factor).rounded()))
    }
    return result
  }
}
