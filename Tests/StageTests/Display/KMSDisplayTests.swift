import Base
import Frames
import Glibc
import Synchronization
import Testing

@testable import Stage

@Suite struct KMSDisplayTests {
  private static let mode = TestCards.mode(320, 180, 60)
  private let card = MockCard(.i915, mode: KMSDisplayTests.mode)
  private let stage = Stage(width: 320, height: 180)

  /// A display of the card, and how often it was opened.
  private func display() -> (display: KMSDisplay, openings: () -> Int) {
    final class Count { var value = 0 }
    let (count, card) = (Count(), card)
    let display = KMSDisplay(preferences: DisplayPreferences()) { () throws(DRMError) -> any DRMDevice in
      count.value += 1
      return card
    }
    return (display, { count.value })
  }

  /// Shows what is new; returns the frames whose pictures stand.
  private func show(_ display: KMSDisplay, at now: Instant) -> Int {
    display.dispatch(now: now)
    if display.isReady {
      let news = stage.prepare(now: now)
      if news != nil || display.isStale { stage.withComposer { display.show($0, news, now: now) } }
    }
    return display.takeCompleted().reduce(0) { $0 + $1.news.count { $0.remote != nil } }
  }

  private func time(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  @Test func framesAreTheMonitorsFlips() {
    let (display, _) = display()
    var shown = 0
    for index in 0..<10 {
      stage.show(remote: TestFrames.solid(index % 2 == 0 ? .red : .green, width: 320, height: 180))
      shown += show(display, at: time(Int64(index) * 17))
    }
    shown += show(display, at: time(200))
    #expect(shown == 10 && card.modesetCount == 1 && card.flipCount == 9)
    #expect(display.status.flips == 10 && display.status.outputs == ["HDMI-A-1"] && display.status.problem == nil)
    #expect(card[160, 90].resembles(TestFrames.Paint.green.color))
  }

  @Test func aFlipThatNeverComesHasTheModeSetAgain() {
    let (display, _) = display()
    _ = show(display, at: time(0))
    card.isStuck = true
    stage.show(remote: TestFrames.solid(.red, width: 320, height: 180))
    _ = show(display, at: time(17))
    stage.show(remote: TestFrames.solid(.blue, width: 320, height: 180))
    _ = show(display, at: time(1_000))
    #expect(card.modesetCount == 1 && !display.isReady)
    card.isStuck = false
    _ = show(display, at: StageThread.now() + .seconds(10))
    #expect(card.modesetCount == 2 && card[160, 90].resembles(TestFrames.Paint.blue.color))
  }

  @Test func aBusyCardIsAskedAgainAndNoFrameIsLost() {
    let (display, _) = display()
    _ = show(display, at: time(0))
    card.nextFailure = EBUSY
    stage.show(remote: TestFrames.solid(.red, width: 320, height: 180))
    #expect(show(display, at: time(17)) == 0 && !display.isReady)
    #expect(show(display, at: time(30)) + show(display, at: time(47)) == 1)
    #expect(card[160, 90].resembles(TestFrames.Paint.red.color) && display.status.problem == nil)
  }

  @Test func aDisplayThatAnotherProgramTakesIsTakenBack() {
    let (display, openings) = display()
    _ = show(display, at: time(0))
    card.nextFailure = EACCES
    stage.show(remote: TestFrames.solid(.red, width: 320, height: 180))
    _ = show(display, at: time(17))
    #expect(display.status.problem == .busy && !display.isShowing && openings() == 1)
    _ = show(display, at: time(1_000))
    #expect(openings() == 2 && display.status.problem == nil && card[160, 90].resembles(TestFrames.Paint.red.color))
    #expect(card.buffers.count <= 8)
  }

  @Test func aDarkMonitorShowsTheNewestPictureWhenItIsLightAgain() {
    let (display, _) = display()
    _ = show(display, at: time(0))
    display.setBlanked(true, now: time(10))
    #expect(display.status.isBlanked && !display.isShowing)
    stage.show(remote: TestFrames.solid(.red, width: 320, height: 180))
    _ = show(display, at: time(20))
    display.setBlanked(false, now: time(30))
    _ = show(display, at: time(40))
    #expect(card[160, 90].resembles(TestFrames.Paint.red.color))
  }

  @Test func withoutAMonitorNothingPilesUp() {
    let composer = Composer(width: 320, height: 180)
    let display = KMSDisplay(preferences: DisplayPreferences()) { () throws(DRMError) -> any DRMDevice in
      throw DRMError(operation: "/dev/dri/card0", code: ENOENT)
    }
    display.dispatch(now: .zero)
    for index in 0..<1_000 {
      composer.show(Scene(remote: TestFrames.solid(index % 2 == 0 ? .red : .green, width: 320, height: 180)))
      #expect(composer.page.damage.frames.count <= 1)
    }
    display.skip(composer)
    #expect(!composer.isDamaged)
    if case .noCard(let reason) = display.status.problem {
      #expect(reason.hasPrefix("/dev/dri/card0: "))
    } else {
      Issue.record("no problem")
    }
  }
}
