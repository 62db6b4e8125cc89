import Base
import Testing

@testable import JitterBuffer

/// What a person who listens lags behind, before, during and after a disturbance, in virtual time.
///
/// On a link of 60 ms without jitter the lag is 85 ms at most; within 15 ms of its target the delay is left alone.
struct PlayoutDelayTests {
  private let settled = 85.0 + 15

  private func at(_ seconds: Double) -> Instant { .zero + .seconds(seconds) }

  @Test(arguments: [100, 300, 1_000, 1_900, 2_500, 5_000], [false, true])
  func afterAStallThePlayoutDelayIsBackWithinSeconds(milliseconds: Int64, isNoise: Bool) throws {
    let end = at(10) + .milliseconds(milliseconds)
    var run = PlayoutRun()
    run.isNoise = isNoise
    run.arrival = { packet in
      let arrival = packet.captured + .milliseconds(60)
      return arrival >= at(10) && arrival < end ? end : arrival
    }
    let outcome = run.run(seconds: 25)
    let after = (end - .zero).seconds
    #expect(try outcome.worstLag(2..<10) <= 85)
    // Noise has no good place to be cut, so it is cut less often.
    #expect(try outcome.worstLag(after + (isNoise ? 7 : 6)..<25) <= settled)
    // What was held back for less than two seconds is played all the same, and nothing is invented afterwards.
    if milliseconds < 2_000 { #expect(outcome.counters.packetsDiscarded == 0) }
    #expect(try outcome.concealed(2..<after + 1) <= min(milliseconds, 2_010))
    #expect(try outcome.concealed(after + 1..<25) == 0)
  }

  @Test(arguments: [100, 1_000, 2_000, 5_000], [false, true])
  func afterAnOutageOrAPauseThereIsNoDelayToComeDownFrom(milliseconds: Int64, isPause: Bool) throws {
    let gone = at(10)..<at(10) + .milliseconds(milliseconds)
    var run = PlayoutRun()
    if isPause {
      run.send = { gone.contains($0.captured) ? nil : $0 }
    } else {
      run.arrival = { gone.contains($0.captured) ? nil : $0.captured + .milliseconds(60) }
    }
    let outcome = run.run(seconds: 25)
    #expect(try outcome.worstLag(2..<25) <= settled)
    #expect(outcome.counters.packetsDiscarded == 0)
    #expect(outcome.moments.last?.lag != nil)
  }

  @Test(arguments: [200, 3_000] as [Int64])
  func afterALoudspeakerThatHungTheDelayIsRightAtOnce(milliseconds: Int64) throws {
    var run = PlayoutRun()
    run.asks = { !(at(10)..<at(10) + .milliseconds(milliseconds)).contains($0) }
    let outcome = run.run(seconds: 20)
    let after = 10 + Double(milliseconds) / 1_000
    // A short one is made good by playing faster, so that nothing is missed; what was missed in a long one is not played late.
    #expect(try outcome.worstLag(after + (milliseconds < 500 ? 2 : 0.1)..<20) <= settled)
    #expect(outcome.counters.concealedSamples == 0)
    #expect((outcome.counters.packetsDiscarded == 0) == (milliseconds < 500))
  }

  @Test func aLongerWayIsNoJitter() throws {
    var run = PlayoutRun()
    run.arrival = { $0.captured + .milliseconds($0.captured > at(10) ? 260 : 60) }
    let outcome = run.run(seconds: 25)
    #expect(try outcome.worstLag(10..<25) <= settled + 200)
    #expect(outcome[14..<25].allSatisfy { $0.target == 20 })
    #expect(try outcome.concealed(11..<25) == 0)
  }

  @Test func aShorterWayIsMadeUseOf() throws {
    var run = PlayoutRun()
    run.arrival = { $0.captured + .milliseconds($0.captured > at(10) ? 60 : 260) }
    let outcome = run.run(seconds: 25)
    #expect(try outcome.worstLag(16..<25) <= settled)
    #expect(outcome.counters.concealedSamples == 0)
  }

  @Test func roughTimesAreAdaptedToAndForgotten() throws {
    var random = RandomSource(seed: 3)
    var run = PlayoutRun()
    run.arrival = {
      let isRough = (at(10)..<at(20)).contains($0.captured)
      return $0.captured + .milliseconds(60 + (isRough ? Int64.random(in: 0...150, using: &random) : 0))
    }
    let outcome = run.run(seconds: 30)
    #expect(outcome[13..<20].allSatisfy { (140...170).contains($0.target) })
    #expect(try outcome.concealed(13..<20) < 7_000 / 100, "once the delay is right nearly every packet is in time")
    #expect(try outcome.worstLag(25..<30) <= settled)
  }

  @Test func stallsThatComeAgainAndAgainAreLearnt() throws {
    var run = PlayoutRun()
    run.arrival = { packet in
      let arrival = packet.captured + .milliseconds(60)
      let phase = arrival.nanoseconds % 1_000_000_000
      return phase < 100_000_000 ? arrival + .nanoseconds(100_000_000 - phase) : arrival
    }
    let outcome = run.run(seconds: 20)
    #expect(try outcome.concealed(5..<20) <= 15 * 20, "a fifth of what stands still is heard")
    #expect(try outcome.worstLag(5..<20) <= 200)
  }

  @Test(arguments: [240_000, -240_000, 96_000_000, 959_999_040] as [Int64])
  func timeStampsThatJumpAreFollowed(by ticks: Int64) throws {
    var run = PlayoutRun()
    run.send = { packet in
      var changed = packet
      if packet.captured > at(10) { changed.timestamp &+= UInt32(truncatingIfNeeded: ticks) }
      return changed
    }
    let outcome = run.run(seconds: 20)
    #expect(try outcome.worstLag(2..<20) <= settled)
    #expect(outcome[10..<10.5].count { $0.lag == nil } <= 10)
    #expect(outcome[10.5..<20].allSatisfy { $0.lag != nil && $0.target == 20 })
  }

  @Test(arguments: [-500, 500])
  func anHourWithAClockThatRunsWrongAddsNothing(skew: Int) throws {
    let outcome = PlayoutRun(skew: skew).run(seconds: 3_600)
    #expect(try outcome.worstLag(2..<3_600) <= settled)
    #expect(outcome.counters.concealedSamples == 0)
    #expect(outcome.counters.packetsDiscarded == 0)
    let moved = outcome.counters.insertedSamplesForDeceleration - outcome.counters.removedSamplesForAcceleration
    #expect(abs(moved + skew * 3_600 * 48_000 / 1_000_000) < 2_000, "time is stretched by what the clock is wrong, and no more")
  }

  @Test(arguments: [0, 300] as [Int64])
  func silenceIsWhereTheDelayIsPutRight(wanted: Int64) throws {
    // The delay shall be another one from a moment on in which the sender falls silent: a packet every 400 ms then, as Opus does.
    var run = PlayoutRun()
    run.send = { packet in
      let since = packet.captured - at(10)
      return since > .zero && since < .seconds(1) && since.nanoseconds % 400_000_000 != 0 ? nil : packet
    }
    run.configure = { $1.requestedDelay = .milliseconds($0 < at(10) ? 300 - wanted : wanted) }
    run.conceals = .silence
    let outcome = run.run(seconds: 15)
    let right = max(20, Double(wanted))
    #expect(outcome[9..<10].allSatisfy { abs($0.delay! - (320 - right)) <= 16 })
    #expect(outcome[11.1..<15].allSatisfy { abs($0.delay! - right) <= 16 })
    #expect(outcome[10..<15].count { $0.lag != nil } > 380, "what was said afterwards is heard to the full")
  }

  @Test func whatTheApplicationAsksForIsHeldAndGivenUpGently() throws {
    var run = PlayoutRun()
    run.configure = { $1.requestedDelay = (at(10)..<at(30)).contains($0) ? .milliseconds(1_000) : .zero }
    let outcome = run.run(seconds: 40)
    let held = outcome[20..<30]
    #expect(held.allSatisfy { $0.delay! > 980 && $0.delay! < 1_020 })
    #expect(try outcome.worstLag(37..<40) <= settled)
    // Never faster than by a pitch period in ten milliseconds.
    for (before, after) in zip(outcome[2..<40], outcome[2..<40].dropFirst()) { #expect(abs(after.delay! - before.delay!) <= 15.1) }
    #expect(outcome.counters.concealedSamples == 0)
    #expect(outcome.counters.jitterBufferTargetDelay > 20 * 48_000 * 0.9)
    #expect(outcome.counters.jitterBufferMinimumDelay < 40 * 48_000 * 0.021, "the network would have allowed 20 ms")
  }

  @Test func whatLipSyncAsksForIsNotNatural() throws {
    var buffer = PlayoutRun()
    buffer.configuration.synchronizationDelay = .milliseconds(150)
    let outcome = buffer.run(seconds: 10)
    #expect(outcome[5..<10].allSatisfy { $0.target == 150 && $0.delay! > 140 && $0.delay! < 170 })
  }
}
