import Base
import Testing

@testable import Stage

/// A driver, a monitor and a thread that composes, in virtual time.
private struct VirtualDisplay {
  /// True time from blank to blank; the mode's is 1/60 s.
  var period = Interval.seconds(1.0 / 60)
  var hasBlanks = true
  /// How long before a blank the driver wants a commit.
  var latch = Interval.microseconds(100)
  /// What composing the nth picture takes.
  var work: (Int) -> Interval = { _ in .milliseconds(3) }
  /// How much later than asked for the nth timer fires.
  var lateness: (Int) -> Interval = { _ in .microseconds(50) }

  struct Picture {
    var ready: Instant
    var committed: Instant
    var flip: Instant
  }

  var clock = FrameClock(period: .seconds(1.0 / 60))
  var pictures: [Picture] = []
  var skipped = 0
  var sequence: UInt32 = 0

  /// The first blank from `time` on.
  private func blank(from time: Instant) -> Instant {
    let origin = Instant.zero + .milliseconds(5)
    let count = ((time - origin).nanoseconds + period.nanoseconds - 1) / period.nanoseconds
    return origin + period * count
  }

  /// Shows frames that are there at the given times, in order; of those that come while one waits, the newest.
  mutating func show(_ frames: [Instant]) {
    var index = 0
    // When the composing thread and the driver are free again.
    var free = Instant.zero
    while index < frames.count {
      let now = max(free, frames[index])
      let start = clock.start(now: now)
      #expect(start >= now && start - now <= period * 2.0)
      let begin = start > now ? start + lateness(pictures.count) : now
      while index + 1 < frames.count && frames[index + 1] <= begin {
        index += 1
        skipped += 1
      }
      clock.began(at: begin, scheduled: start > now ? start : nil)
      let commit = begin + work(pictures.count)
      clock.committed(at: commit)
      let flip = hasBlanks ? blank(from: commit + latch) : commit
      if hasBlanks {
        sequence = UInt32(truncatingIfNeeded: 1000 + ((flip - Instant.zero).nanoseconds + period.nanoseconds / 2) / period.nanoseconds)
      }
      clock.flipped(at: flip, sequence: sequence)
      pictures.append(Picture(ready: frames[index], committed: commit, flip: flip))
      free = flip
      index += 1
    }
  }

  /// Frames at `rate` a second with a phase that drifts through the refresh period, a little unsteady.
  static func frames(_ count: Int, rate: Double, from start: Instant = .zero + .milliseconds(20), seed: UInt64 = 1) -> [Instant] {
    var random = RandomSource(seed: seed)
    return (0..<count).map {
      start + .seconds(Double($0) / (rate * 1.0007)) + .microseconds(Int64.random(in: 0...2_000, using: &random))
    }
  }

  var latencies: [Interval] { pictures.map { $0.flip - $0.ready } }

  /// The latencies of the last ten seconds.
  var figures: LatencyFigures? {
    var window = LatencyWindow()
    for picture in pictures { window.add(picture.flip - picture.ready, at: picture.flip) }
    return pictures.last.flatMap { window.figures(now: $0.flip) }
  }
}

@Suite struct FrameClockTests {
  private let period = Interval.seconds(1.0 / 60)

  @Test func steadyWorkMissesNothingAndIsShownWithinAPeriod() {
    var random = RandomSource(seed: 2)
    let work = (0..<3_000).map { _ in Interval.microseconds(Int64.random(in: 1_500...2_000, using: &random)) }
    var display = VirtualDisplay(period: period * 1.0001, work: { work[$0] })
    display.show(VirtualDisplay.frames(3_000, rate: 30))
    #expect(display.clock.missed == 0 && display.skipped == 0)
    #expect(display.clock.flips == 3_000)
    #expect(display.latencies.allSatisfy { $0 <= period + .milliseconds(5) })
    let figures = display.figures
    let (p50, p95) = (figures?.p50 ?? .seconds(1), figures?.p95 ?? .seconds(1))
    #expect(p50 < period)
    #expect(p95 <= period + .milliseconds(2))
    #expect((figures?.count ?? 0) > 290)
    // As late as can be: no commit lies long before its blank.
    let early = display.pictures.dropFirst(100).filter { $0.flip - $0.committed > .milliseconds(3) }
    #expect(early.isEmpty)
  }

  @Test func aPageAtTheFullRateMissesNothing() {
    var display = VirtualDisplay(period: period * 0.9999, work: { .milliseconds($0 % 7 == 0 ? 9 : 6) })
    display.show((0..<1_000).map { Instant.zero + .milliseconds(20) + period * Int64($0) })
    #expect(display.clock.missed <= 1)
    #expect(display.latencies.allSatisfy { $0 <= period * 2.0 })
    #expect(display.skipped <= 2)
  }

  @Test func workThatGrowsIsGivenMoreTimeAfterOneMiss() {
    var display = VirtualDisplay(work: { $0 < 500 ? .milliseconds(2) : .milliseconds(9) })
    display.show(VirtualDisplay.frames(500, rate: 30))
    #expect(display.clock.missed == 0)
    display.show(VirtualDisplay.frames(1_000, rate: 30, from: display.pictures.last!.flip + .milliseconds(30)))
    #expect((1...2).contains(display.clock.missed))
    let grown = display.pictures.suffix(900)
    #expect(grown.allSatisfy { $0.flip - $0.committed < .milliseconds(3) })
  }

  @Test func workThatShrinksIsStartedLaterAgain() {
    var display = VirtualDisplay(work: { $0 < 300 ? .milliseconds(11) : .milliseconds(2) })
    display.show(VirtualDisplay.frames(800, rate: 30))
    #expect(display.pictures.suffix(300).allSatisfy { $0.flip - $0.committed < .milliseconds(3) })
  }

  @Test func aRareSpikeCostsItsOwnBlankAndNoMore() {
    var display = VirtualDisplay(work: { $0 % 100 == 99 ? .milliseconds(15) : .milliseconds(2) })
    display.show(VirtualDisplay.frames(3_000, rate: 30))
    #expect((1...30).contains(display.clock.missed))
    // Pictures long after a spike are as late again as before it.
    let settled = display.pictures.indices.filter { $0 > 100 && $0 % 100 > 90 && $0 % 100 < 99 }
    #expect(settled.allSatisfy { display.pictures[$0].flip - display.pictures[$0].committed < .milliseconds(4) })
  }

  @Test func howEarlyADriverWantsItsCommitsIsLearned() {
    for latch in [Interval.microseconds(600), .microseconds(1_500), .milliseconds(3)] {
      var display = VirtualDisplay(latch: latch)
      display.show(VirtualDisplay.frames(3_000, rate: 30))
      let missed = display.clock.missed
      #expect(missed <= 12)
      display.show(VirtualDisplay.frames(3_000, rate: 30, from: display.pictures.last!.flip + .milliseconds(30)))
      #expect(display.clock.missed == missed)
    }
  }

  @Test func timersThatFireLateAreAllowedFor() {
    var random = RandomSource(seed: 3)
    let lateness = (0..<2_000).map { _ in Interval.microseconds(Int64.random(in: 0...2_500, using: &random)) }
    var display = VirtualDisplay(lateness: { lateness[$0] })
    display.show(VirtualDisplay.frames(2_000, rate: 30))
    #expect(display.clock.missed == 0)
    let figures = display.figures
    #expect((figures?.p95 ?? .seconds(1)) <= period + .milliseconds(5))
  }

  @Test func aMonitorsOwnClockIsFollowedThroughALongPause() {
    // 300 millionths off: 18 ms in a minute.
    var display = VirtualDisplay(period: period * 1.0003)
    display.show(VirtualDisplay.frames(600, rate: 30))
    for _ in 0..<20 { display.show(VirtualDisplay.frames(1, rate: 30, from: display.pictures.last!.flip + .seconds(60))) }
    #expect(display.clock.missed == 0)
    #expect(abs((display.clock.period - period * 1.0003).nanoseconds) < 500)
  }

  @Test func workLongerThanAPeriodGoesOnAtOnceAtTheRateThatCanBeHeld() {
    var display = VirtualDisplay(work: { _ in .milliseconds(25) })
    display.show(VirtualDisplay.frames(600, rate: 60))
    let (first, last) = (display.pictures[20], display.pictures.last!)
    let apart = (last.flip - first.flip).seconds / Double(display.pictures.count - 21)
    #expect(abs(apart - 2.0 / 60) < 0.0005)
    #expect(display.clock.missed <= 5)
  }

  // MARK: Drivers without blanks

  @Test func withoutBlanksFramesAreShownAtOnceButNotFasterThanTheMode() {
    var display = VirtualDisplay(hasBlanks: false)
    display.show(VirtualDisplay.frames(300, rate: 30))
    #expect(display.clock.blanks == .none && display.clock.missed == 0 && display.skipped == 0)
    #expect(display.latencies.allSatisfy { $0 == .milliseconds(3) })
    let start = display.pictures.last!.flip
    display.show(VirtualDisplay.frames(2_000, rate: 200, from: start + .milliseconds(30)))
    let rate = Double(display.pictures.count - 300) / (display.pictures.last!.flip - start).seconds
    #expect((55...60.5).contains(rate))
    #expect(display.latencies.allSatisfy { $0 <= period + .milliseconds(4) })
    #expect(display.clock.missed == 0)
  }

  @Test func aCounterThatStandsStillIsNone() {
    var clock = FrameClock(period: period)
    #expect(clock.blanks == .unknown && clock.start(now: .zero) == .zero)
    var now = Instant.zero
    func flip(_ sequence: UInt32) {
      clock.began(at: now)
      clock.committed(at: now)
      clock.flipped(at: now, sequence: sequence)
      now += period
    }
    flip(7)
    #expect(clock.blanks == .regular)
    flip(7)
    flip(7)
    #expect(clock.blanks == .none)
    flip(8)
    #expect(clock.blanks == .regular)
    // A counter that passes zero is none that stands still.
    flip(.max)
    flip(0)
    flip(1)
    #expect(clock.blanks == .regular && clock.period == period)
  }

  // MARK: Counting

  @Test func aFlipThatComesLaterThanMeantCountsEachBlankBetween() {
    var clock = FrameClock(period: period)
    clock.began(at: .zero)
    clock.committed(at: .zero)
    clock.flipped(at: .zero + period, sequence: 1)
    clock.began(at: .zero + period)
    #expect(clock.isPending)
    clock.committed(at: .zero + period + .milliseconds(1))
    clock.flipped(at: .zero + period * 5.0, sequence: 5)
    #expect(clock.missed == 3 && clock.flips == 2 && !clock.isPending)
  }

  @Test func whatWasAbandonedIsNotCounted() {
    var clock = FrameClock(period: period)
    clock.began(at: .zero)
    clock.abandoned()
    #expect(!clock.isPending)
    clock.flipped(at: .zero + period * 9.0, sequence: 9)
    #expect(clock.missed == 0)
  }

  @Test func whilePictureIsOnItsWayTheNextIsForTheBlankAfter() {
    var display = VirtualDisplay()
    display.show(VirtualDisplay.frames(100, rate: 30))
    var clock = display.clock
    let now = display.pictures.last!.flip + .milliseconds(1)
    let start = clock.start(now: now)
    clock.began(at: start, scheduled: start)
    clock.committed(at: start + .milliseconds(3))
    #expect(abs((clock.start(now: start + .milliseconds(3)) - start - clock.period).nanoseconds) < 100_000)
  }

  @Test func aRestartForgetsBlanksButNotWhatWasCounted() {
    var display = VirtualDisplay()
    display.show(VirtualDisplay.frames(100, rate: 30))
    var clock = display.clock
    let now = display.pictures.last!.flip
    clock.restart(period: .seconds(1.0 / 50))
    #expect(clock.blanks == .unknown && clock.period == .milliseconds(20) && clock.start(now: now) == now)
    #expect(clock.flips == 100)
  }

  @Test func latenciesOlderThanTenSecondsAreForgotten() {
    var window = LatencyWindow()
    for second in 0..<30 {
      for _ in 0..<100 { window.add(.milliseconds(second < 20 ? 50 : 8), at: .zero + .seconds(Int64(second))) }
    }
    let figures = window.figures(now: .zero + .milliseconds(29_500))
    #expect(
      figures == LatencyFigures(p50: .milliseconds(8), p95: .milliseconds(8), p99: .milliseconds(8), max: .milliseconds(8), count: 1_000))
    #expect(window.figures(now: .zero + .seconds(60)) == nil)
    for index in 0..<10_000 { window.add(.milliseconds(index < 9_000 ? 8 : 20), at: .zero + .seconds(30)) }
    let share = window.figures(now: .zero + .seconds(30))
    #expect(share?.p50 == .milliseconds(8) && share?.p95 == .milliseconds(20) && share?.count == 2_400)
  }
}
