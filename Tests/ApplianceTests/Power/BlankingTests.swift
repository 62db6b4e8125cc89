import Base
import Testing

@testable import Appliance

/// A box on a virtual clock: Monday 08:00, one civil second each second, unless the wall's clock is moved.
private struct Night {
  var blanking: Blanking
  var now = Instant.zero
  var civil: CivilTime

  init(_ change: (inout Configuration.Power) -> Void = { _ in }, at civil: CivilTime = CivilTime(.monday, second: 8 * 3_600)) {
    var settings = Configuration.Power()
    settings.schedule = BlankingSchedule([WeeklyPeriod(from: DailyTime("20:00")!, to: DailyTime("07:00")!)])
    change(&settings)
    blanking = Blanking(settings, now: .zero)
    self.civil = civil
    look()
  }

  @discardableResult mutating func look() -> Instant? { blanking.update(now: now, civil: civil) }

  /// Lives through `seconds`, looking when it was asked to.
  mutating func wait(seconds: Int64) {
    let end = now + .seconds(seconds)
    while let next = look(), next < end {
      #expect(next > now, "a clock that stands still is looked at for ever")
      pass(next - now)
    }
    pass(end - now)
    look()
  }

  private mutating func pass(_ time: Interval) {
    let before = now.nanoseconds / 1_000_000_000
    now += time
    civil = civil.advanced(by: Int(now.nanoseconds / 1_000_000_000 - before))
  }

  mutating func wait(hours: Int64) { wait(seconds: hours * 3_600) }
  var cause: Blanking.Cause? { blanking.cause }
  var isDark: Bool { cause != nil }
}

@Suite struct BlankingTests {
  @Test func theScheduleDarkensAndBrightens() {
    var night = Night()
    #expect(!night.isDark)
    night.wait(seconds: 12 * 3_600 - 1)
    #expect(!night.isDark)
    night.wait(seconds: 1)
    #expect(night.cause == .schedule)
    night.wait(hours: 10)
    #expect(night.isDark)
    night.wait(hours: 1)
    #expect(!night.isDark)
  }

  @Test func aTouchAtNightWakesForAWhile() {
    var night = Night({ $0.wakeSeconds = 300 }, at: CivilTime(.monday, second: 22 * 3_600))
    #expect(night.isDark)
    night.blanking.touch(now: night.now)
    night.look()
    #expect(!night.isDark)
    night.wait(seconds: 200)
    night.blanking.touch(now: night.now)
    night.wait(seconds: 299)
    #expect(!night.isDark)
    night.wait(seconds: 1)
    #expect(night.cause == .schedule)
  }

  @Test func whoeverUsesTheBoxWhenTheNightBeginsIsNotLeftInTheDark() {
    var night = Night(at: CivilTime(.monday, second: 20 * 3_600 - 60))
    night.blanking.touch(now: night.now)
    night.wait(seconds: 299)
    #expect(!night.isDark)
    night.wait(seconds: 1)
    #expect(night.isDark)
  }

  @Test func aCallAtNightIsSeenAndAWhileAfterIt() {
    var night = Night(at: CivilTime(.monday, second: 22 * 3_600))
    night.blanking.startCall(now: night.now)
    night.look()
    #expect(!night.isDark)
    night.wait(seconds: 10)
    night.blanking.setInCall(true, now: night.now)
    night.wait(hours: 2)
    #expect(!night.isDark)
    night.blanking.setInCall(false, now: night.now)
    night.wait(seconds: 299)
    #expect(!night.isDark)
    night.wait(seconds: 1)
    #expect(night.isDark)
  }

  @Test func aCallThatNeverConnectsDoesNotKeepTheScreenBright() {
    var night = Night(at: CivilTime(.monday, second: 22 * 3_600))
    night.blanking.startCall(now: night.now)
    night.wait(seconds: 300)
    #expect(night.isDark)
  }

  @Test func callsOfALobbyThatIsAlwaysConnectedMayStayDark() {
    var night = Night({ $0.blanksCalls = true })
    night.blanking.setInCall(true, now: night.now)
    night.wait(hours: 13)
    #expect(night.cause == .schedule)
    night.blanking.setInCall(false, now: night.now)
    night.blanking.setInCall(true, now: night.now)
    night.look()
    #expect(night.isDark)
  }

  @Test func anOperatorsWishHoldsUntilTheNextChange() {
    var night = Night()
    night.blanking.set(.on)
    night.look()
    #expect(night.cause == .wish)
    night.wait(hours: 11)
    #expect(night.cause == .wish)
    // The schedule takes over, and its morning is bright.
    night.wait(hours: 2)
    #expect(night.cause == .schedule)
    night.blanking.set(.off)
    night.wait(hours: 9)
    #expect(!night.isDark)
    night.wait(hours: 15)
    #expect(night.cause == .schedule)
  }

  @Test func autoTakesAWishBack() {
    var night = Night()
    night.blanking.set(.on)
    night.look()
    #expect(night.isDark)
    night.blanking.set(.auto)
    night.look()
    #expect(!night.isDark)
  }

  @Test func anOperatorOutdoesWhoWasThereBefore() {
    var night = Night()
    night.blanking.touch(now: night.now)
    night.blanking.set(.on)
    night.look()
    #expect(night.isDark)
    // Whoever comes later sees the picture, and it goes again.
    night.blanking.touch(now: night.now)
    night.look()
    #expect(!night.isDark)
    night.wait(seconds: 300)
    #expect(night.cause == .wish)
  }

  @Test func anOperatorMayDarkenACallAndTheNextOneIsSeen() {
    var night = Night()
    night.blanking.setInCall(true, now: night.now)
    night.blanking.set(.on)
    night.look()
    #expect(night.cause == .wish)
    night.wait(hours: 1)
    night.blanking.setInCall(false, now: night.now)
    night.look()
    #expect(!night.isDark)
    night.blanking.set(.on)
    night.blanking.startCall(now: night.now)
    night.look()
    #expect(!night.isDark)
  }

  @Test func whatHasToBeSeenIsSeenWhateverDarkensTheScreen() {
    var night = Night(at: CivilTime(.monday, second: 22 * 3_600))
    night.blanking.set(.on)
    night.look()
    #expect(night.cause == .wish)
    night.blanking.show(for: .seconds(10), now: night.now)
    night.wait(seconds: 9)
    #expect(!night.isDark)
    night.wait(seconds: 1)
    #expect(night.cause == .wish)
    night.blanking.show(for: .seconds(10), now: night.now)
    night.look()
    night.blanking.show(for: nil, now: night.now)
    night.look()
    #expect(night.cause == .wish)
    // An operator who darkens it after all is obeyed.
    night.blanking.show(for: .seconds(10), now: night.now)
    night.blanking.set(.on)
    night.look()
    #expect(night.cause == .wish)
  }

  @Test func whatHasToBeSeenEndsIdlenessForItsTimeAlone() {
    var night = Night {
      $0.schedule = BlankingSchedule()
      $0.blankAfter = 600
    }
    night.wait(seconds: 700)
    #expect(night.cause == .idleness)
    night.blanking.show(for: .seconds(60), now: night.now)
    night.wait(seconds: 59)
    #expect(!night.isDark)
    night.wait(seconds: 1)
    #expect(night.cause == .idleness)
  }

  @Test func nobodyThereForLongEnoughDarkens() {
    var night = Night {
      $0.schedule = BlankingSchedule()
      $0.blankAfter = 600
    }
    night.wait(seconds: 599)
    #expect(!night.isDark)
    night.wait(seconds: 1)
    #expect(night.cause == .idleness)
    night.blanking.touch(now: night.now)
    night.wait(seconds: 599)
    #expect(!night.isDark)
    night.blanking.setInCall(true, now: night.now)
    night.wait(hours: 5)
    #expect(!night.isDark)
    night.blanking.setInCall(false, now: night.now)
    night.wait(seconds: 599)
    #expect(!night.isDark)
    night.wait(seconds: 1)
    #expect(night.cause == .idleness)
  }

  @Test func idlenessNeverComesWhereItIsNotConfigured() {
    var night = Night { $0.schedule = BlankingSchedule() }
    let next = night.look()
    #expect(next == nil)
    night.wait(hours: 1_000)
    #expect(!night.isDark)
  }

  @Test func aClockThatIsSetIsNoticedSoon() {
    var night = Night()
    night.civil = CivilTime(.monday, second: 23 * 3_600)
    night.wait(seconds: 30)
    #expect(night.isDark)
    night.civil = CivilTime(.monday, second: 12 * 3_600)
    night.wait(seconds: 30)
    #expect(!night.isDark)
  }

  @Test func summerTimeBeginsWithoutDelay() {
    // From 02:00 to 03:00 in one moment: what begins at 02:30 has begun.
    var night = Night(
      { $0.schedule = BlankingSchedule([WeeklyPeriod(from: DailyTime("02:30")!, to: DailyTime("05:00")!)]) },
      at: CivilTime(.sunday, second: 2 * 3_600 - 60, offset: 3_600))
    night.wait(seconds: 59)
    #expect(!night.isDark)
    night.civil = CivilTime(.sunday, second: 3 * 3_600, offset: 7_200)
    night.look()
    #expect(night.isDark)
    night.wait(hours: 2)
    #expect(!night.isDark)
  }

  @Test func theHourThatComesTwiceDoesNotRepeatWhatHappenedInIt() {
    var night = Night(
      { $0.schedule = BlankingSchedule([WeeklyPeriod(from: DailyTime("02:30")!, to: DailyTime("05:00")!)]) },
      at: CivilTime(.sunday, second: 2 * 3_600, offset: 7_200))
    night.wait(seconds: 3_599)
    #expect(night.isDark)
    // 03:00 is 02:00 again.
    night.civil = CivilTime(.sunday, second: 2 * 3_600, offset: 3_600)
    night.look()
    #expect(night.isDark)
    night.wait(seconds: 3_600)
    #expect(night.isDark)
    night.wait(hours: 2)
    #expect(!night.isDark)
  }
}
