import Base
import Testing

@testable import Sound

struct ClockLockTests {
  /// A card's clock as it is seen: true positions, rounded down to steps, at times that are late now and then.
  private struct Card {
    var lock = ClockLock(nominalRate: 48_000)
    var time = Instant.zero + .seconds(5)
    var position = 0.0
    var drift: Double
    var step = 1
    var lateness = Interval.zero
    var random = RandomSource(seed: 7)

    /// Runs for a while, seen every `interval`. Returns by how many milliseconds the lock was off at most, from `settled` on.
    mutating func run(_ duration: Interval, every interval: Interval = .milliseconds(10), settled: Interval = .zero) -> Double {
      var worst = 0.0
      let start = time
      while time - start < duration {
        time += interval
        position += interval.seconds * 48_000 * (1 + drift / 1e6)
        let late = lateness == .zero ? .zero : Interval.nanoseconds(Int64.random(in: 0...lateness.nanoseconds, using: &random))
        lock.observe(Int64(position) / Int64(step) * Int64(step), at: time + late)
        if time - start >= settled { worst = max(worst, abs(lock.position(at: time) - position) / 48) }
      }
      return worst
    }
  }

  @Test(arguments: [-500.0, -200, 0, 37, 200, 500])
  func anExactClockIsKnownInSeconds(drift: Double) {
    var card = Card(drift: drift)
    #expect(card.run(.seconds(3), settled: .seconds(1)) < 0.15)
    #expect(abs(card.lock.drift - drift) < 10, "\(card.lock.drift) ppm")
    #expect(card.lock.hasConverged)
  }

  /// USB moves its pointer by the millisecond, timers that count jiffies by four. Whoever looks finds an old position.
  @Test(arguments: [48, 192])
  func stepsAreAveraged(step: Int) {
    var card = Card(drift: 120, step: step, lateness: .milliseconds(1))
    // What is seen is old by half a step and half the lateness on average: a constant that nobody can know.
    let unknowable = Double(step) / 48 / 2 + 0.5
    #expect(card.run(.seconds(60), every: .microseconds(9_713), settled: .seconds(20)) < unknowable + 1)
    #expect(abs(card.lock.drift - 120) < 25, "\(card.lock.drift) ppm")
  }

  /// Interrupts tell exact positions, some of them late.
  @Test func lateInterruptsHardlyMatter() {
    var card = Card(drift: -80)
    _ = card.run(.seconds(20))
    for number in 0..<2_000 {
      card.lateness = number % 20 == 0 ? .milliseconds(5) : .microseconds(100)
      #expect(card.run(.milliseconds(10)) < 0.5)
    }
    #expect(abs(card.lock.drift + 80) < 15, "\(card.lock.drift) ppm")
  }

  @Test func aClockThatChangesItsRateIsFollowed() {
    var card = Card(drift: 50, lateness: .microseconds(200))
    _ = card.run(.seconds(60))
    card.drift = -150
    #expect(card.run(.seconds(60)) < 0.6)
    #expect(abs(card.lock.drift + 150) < 15, "\(card.lock.drift) ppm")
  }

  @Test func afterAGapThePositionIsNewAndTheDriftKnown() {
    var card = Card(drift: 180)
    _ = card.run(.seconds(20))
    card.lock.relock()
    #expect(!card.lock.isReady)
    card.position = 0
    card.time += .seconds(3)
    #expect(card.run(.seconds(1)) < 0.1)
    #expect(abs(card.lock.drift - 180) < 5)
  }

  @Test func aJumpThatNobodyToldOfIsTakenForOneWhenItLasts() {
    var card = Card(drift: 0)
    _ = card.run(.seconds(10))
    let before = card.lock.position(at: card.time)
    card.lock.observe(Int64(card.position) + 48_000, at: card.time + .milliseconds(5))
    #expect(abs(card.lock.position(at: card.time) - before) < 1, "one stray look says nothing")
    card.position += 48_000
    #expect(card.run(.seconds(1), settled: .milliseconds(100)) < 0.1)
  }

  @Test func timesAndPositionsAreOneMapping() {
    var card = Card(drift: 333)
    _ = card.run(.seconds(10))
    for position in [-5_000.5, 0, 123_456.25, 1e9] {
      #expect(abs(card.lock.position(at: card.lock.time(of: position)) - position) < 1e-3)
    }
  }
}
