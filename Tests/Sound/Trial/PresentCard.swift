import Base
import Net
import Sound

/// A simulated sound card in the time that it is.
final class PresentCard: PCM {
  private let card: SimulatedCard
  private let counts: ThreadCount
  private let made = MonotonicClock.now()

  init(_ direction: SoundDirection, channelCount: Int, drift: Double, counts: ThreadCount) {
    var behaviour = SimulatedCard.Behaviour()
    behaviour.drift = drift
    card = SimulatedCard(direction: direction, configuration: PCMConfiguration(channelCount: channelCount), behaviour: behaviour)
    self.counts = counts
  }

  var label: String { card.label }
  var direction: SoundDirection { card.direction }
  var configuration: PCMConfiguration { card.configuration }

  /// The card, at this moment.
  private var present: SimulatedCard {
    card.now = MonotonicClock.now()
    return card
  }

  func start() -> Int32 { present.start() }
  func recover(from error: Int32) -> Int32 { present.recover(from: error) }
  func available() -> Int { present.available() }
  func delay() -> Int { present.delay() }
  func lastUpdate() -> PCMUpdate { present.lastUpdate() }
  func read(into frames: UnsafeMutableRawPointer, count: Int) -> Int { present.read(into: frames, count: count) }
  func write(_ frames: UnsafeRawPointer, count: Int) -> Int { present.write(frames, count: count) }

  func wait(until deadline: Instant) {
    counts.turn(isSettled: MonotonicClock.now() - made > .seconds(1))
    MonotonicClock.sleep(until: deadline)
  }
}
