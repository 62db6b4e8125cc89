import Base
import Frames
import Synchronization
import Testing

@testable import Stage

@Suite struct StageThreadTests {
  /// Flips as the stage's thread reported them.
  private final class Flips: Sendable {
    let list = Mutex<[Flip]>([])
    let signal = WakeSignal()

    func add(_ flip: Flip) {
      list.withLock { $0.append(flip) }
      signal.signal()
    }

    /// Waits until `count` flips were seen, or a minute has passed.
    func wait(for count: Int) -> [Flip] {
      let end = StageThread.now() + .milliseconds(60_000)
      while list.withLock({ $0.count }) < count, StageThread.now() < end { signal.wait(until: end) }
      return list.withLock { $0 }
    }
  }

  @Test func framesReachTheScreenOneByOneAtMostOnceAPeriod() {
    let flips = Flips()
    let stage = Stage(width: 64, height: 36, refreshRate: 250)
    let thread = StageThread(stage: stage, onFlip: flips.add)
    let start = StageThread.now()
    thread.start()
    for count in 1...20 {
      stage.show(remote: TestFrames.solid(.red, width: 64, height: 36))
      _ = flips.wait(for: count)
    }
    thread.stop()
    let seen = flips.wait(for: 20)
    #expect(seen.map(\.number) == Array(1...20))
    #expect(seen.allSatisfy { $0.remote?.ledger[.present] == $0.time })
    #expect(seen[19].time - start >= stage.refreshPeriod * Int64(19))
    #expect(stage.statistics.skipped == 0)
  }

  @Test func frameInTheMailboxIsFoundWithoutACall() {
    let flips = Flips()
    let stage = Stage(width: 64, height: 36, refreshRate: 250)
    let thread = StageThread(stage: stage, onFlip: flips.add)
    thread.start()
    stage.remote.put(TestFrames.solid(.red, width: 64, height: 36))
    #expect(flips.wait(for: 1).count == 1)
    thread.stop()
  }

  @Test func aStageOnWhichNothingMovesRestsUntilAFrameComes() {
    let flips = Flips()
    let stage = Stage(width: 64, height: 36, refreshRate: 250)
    let thread = StageThread(stage: stage, onFlip: flips.add)
    thread.start()
    // When it begins to rest depends on when its thread got to run: seconds are looked at until one is quiet. Nobody signals what is waited for.
    var isResting = false
    for _ in 0..<60 where !isResting {
      let (before, start) = (stage.statistics.repeated, StageThread.now())
      WakeSignal().wait(until: start + .milliseconds(1_000))
      let looks = stage.statistics.repeated - before
      let passed = (StageThread.now() - start).nanoseconds / 1_000_000
      // Once a refresh would be 25 times as often. None at all is a thread that has not begun.
      isResting = looks > 0 && looks <= passed / 100 + 2
    }
    #expect(isResting)
    stage.show(remote: TestFrames.solid(.red, width: 64, height: 36))
    #expect(flips.wait(for: 1).count == 1)
    thread.stop()
  }

  @Test func stoppedThreadShowsNothingMore() {
    let stage = Stage(width: 64, height: 36)
    let thread = StageThread(stage: stage)
    thread.start()
    thread.stop()
    thread.stop()
    let before = stage.statistics
    stage.show(remote: TestFrames.solid(.red, width: 64, height: 36))
    #expect(stage.statistics == before)
    #expect(stage.picture()[32, 18] == .black)
  }

  @Test func screenshotsAreWholePictures() {
    // Frames of one colour go by; a picture of two colours would be torn.
    let stage = Stage(width: 160, height: 90, refreshRate: 1_000)
    let thread = StageThread(stage: stage)
    thread.start()
    let frames = TestFrames.Paint.allCases.map { TestFrames.solid($0, width: 160, height: 90) }
    var torn = 0
    for index in 0..<200 {
      stage.show(remote: frames[index % frames.count])
      let picture = stage.picture()
      if !picture[0, 0].resembles(picture[159, 89]) { torn += 1 }
    }
    thread.stop()
    #expect(torn == 0)
  }
}
