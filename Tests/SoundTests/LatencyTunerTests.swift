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

  @Test mutating func oneGapIsAnAccident() {
    run(.seconds(10), fill: .milliseconds(8))
    tuner.xrun(at: now)
    #expect(tuner.target == .milliseconds(10))
    now += .seconds(40)
    tuner.xrun(at: now)
    #expect(tuner.target == .milliseconds(10))
  }

  @Test mutating func gapsThatRepeatWidenUpToTheCeiling() {
    for _ in 0..<3 {
      tuner.xrun(at: now)
      now += .seconds(2)
    }
    #expect(tuner.target == .milliseconds(18))
    for _ in 0..<20 { tuner.xrun(at: now) }
    #expect(tuner.target == .milliseconds(30))
  }

  @Test mutating func longCalmNarrowsAsFarAsTheRingShowsToBeSafe() {
    for _ in 0..<5 { tuner.xrun(at: now) }
    let wide = tuner.target
    run(.seconds(50), fill: .milliseconds(20))
    #expect(tuner.target == wide, "a minute is the least")
    run(.seconds(3_600), fill: .milliseconds(20))
    #expect(tuner.target == .milliseconds(6))
  }

  @Test mutating func aRingThatIsNearlyEmptyAtTimesStaysAsWideAsItIs() {
    for _ in 0..<10 {
      run(.seconds(30), fill: .milliseconds(12))
      tuner.observe(fill: .milliseconds(3), at: now)
      run(.seconds(31), fill: .milliseconds(12))
    }
    #expect(tuner.target == .milliseconds(10))
  }

  @Test mutating func whatWasAllButEmptyWidensBeforeItIs() {
    run(.seconds(61), fill: .microseconds(500))
    #expect(tuner.target == .milliseconds(11))
  }

  @Test mutating func whoNarrowedTooFarGoesBackAndWaitsLonger() {
    run(.seconds(61), fill: .milliseconds(9))
    #expect(tuner.target == .milliseconds(9))
    tuner.xrun(at: now)
    #expect(tuner.target == .milliseconds(10))
    run(.seconds(100), fill: .milliseconds(9))
    #expect(tuner.target == .milliseconds(10))
    run(.seconds(30), fill: .milliseconds(9))
    #expect(tuner.target == .milliseconds(9))
  }
}
