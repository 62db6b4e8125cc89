import Frames
import Synchronization

/// How something is heard, and who else takes its sound. Usable from any thread.
public final class PlayedSound: Sendable {
  private final class Demand: Sendable {
    let isWanted = Atomic(false)
  }

  /// As it came, whatever its loudness: for whoever records, sends or measures it. Only while somebody takes it, and only while it is played.
  public let sound: AudioFanOut
  private let gain: Atomic<UInt64>
  private let demand = Demand()

  /// A sound that is heard by the factor `gain`: 0 is silent, 1 as it came.
  public init(gain: Double = 1) {
    self.gain = Atomic(gain.bitPattern)
    let demand = self.demand
    sound = AudioFanOut { demand.isWanted.store($0, ordering: .relaxed) }
  }

  /// How loud it is heard: 0 is silent, 1 as it came.
  public func setGain(_ value: Double) { gain.store(value.bitPattern, ordering: .relaxed) }

  var gainNow: Double { Double(bitPattern: gain.load(ordering: .relaxed)) }
  var isTapped: Bool { demand.isWanted.load(ordering: .relaxed) }
}
