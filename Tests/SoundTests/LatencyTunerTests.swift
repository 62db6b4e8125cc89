import Base
import Testing

@testable import Sound

struct LatencyTunerTests {
  private var tuner = LatencyTuner(base: .milliseconds(10), floor: .milliseconds(6), ceiling: .milliseconds(30))
  private var now = Instant.zero + .seconds(1)

  private mutating func run(_ duration: Interval, fill: Interval) {
    let end = now + duration
    while now < end {
      now += .milliseconds(10)
      tuner.observe(fill: fill, at: now)
    }
  }

  private mutating func gap(late lateness: Interval = .milliseconds(12)) { tuner.xrun(at: now, lateness: lateness) }

  @Test mutating func oneGapIsAnAccident() {
    run(.seconds(10), fill: .milliseconds(4))
    gap()
    #expect(tuner.target == .milliseconds(10))
    now += .seconds(40)
    gap()
    #expect(tuner.target == .milliseconds(10))
  }

  @Test mutating func gapsThatRepeatWidenUpToTheCeiling() {
    for _ in 0..<3 {
      gap()
      now += .seconds(2)
    }
    #expect(tuner.target == .milliseconds(18))
    for _ in 0..<20 { gap() }
    #expect(tuner.target == .milliseconds(30))
  }

  @Test mutating func whatTwoGapsLackedIsKeptAtOnce() {
    gap(late: .milliseconds(22))
    now += .seconds(5)
    gap(late: .milliseconds(400))
    #expect(tuner.target == .milliseconds(24), "one that was very late was an accident")
  }

  @Test mutating func calmNarrowsAsFarAsTheRingShowsToBeSafe() {
    for _ in 0..<6 { gap() }
    #expect(tuner.target == .milliseconds(30))
    run(.seconds(29), fill: .milliseconds(20))
    #expect(tuner.target == .milliseconds(30), "half a minute is the least")
    run(.seconds(240), fill: .milliseconds(20))
    #expect(tuner.target == .milliseconds(6))
  }

  @Test mutating func aRingThatIsNearlyEmptyAtTimesStaysAsWideAsItIs() {
    for _ in 0..<10 {
      run(.seconds(15), fill: .milliseconds(12))
      tuner.observe(fill: .milliseconds(3), at: now)
      run(.seconds(16), fill: .milliseconds(12))
    }
    #expect(tuner.target == .milliseconds(10))
  }

  @Test mutating func whatWasAllButEmptyWidensBeforeItIs() {
    run(.seconds(31), fill: .microseconds(500))
    #expect(tuner.target == .milliseconds(11))
  }

  @Test mutating func whoNarrowedTooFarGoesBackAndWaitsLonger() {
    run(.seconds(31), fill: .microseconds(4_500))
    #expect(tuner.target == .milliseconds(9))
    gap()
    #expect(tuner.target == .milliseconds(10))
    run(.seconds(50), fill: .microseconds(4_500))
    #expect(tuner.target == .milliseconds(10))
    run(.seconds(15), fill: .microseconds(4_500))
    #expect(tuner.target == .milliseconds(9))
  }
}
