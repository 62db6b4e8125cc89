import Testing

@testable import Appliance

@Suite struct BlankingScheduleTests {
  private func period(_ from: String, _ to: String, _ days: Weekday...) -> WeeklyPeriod {
    WeeklyPeriod(from: DailyTime(from)!, to: DailyTime(to)!, days: days.isEmpty ? Set(Weekday.allCases) : Set(days))
  }

  private func time(_ day: Weekday, _ time: String, second: Int = 0) -> CivilTime {
    CivilTime(day, second: DailyTime(time)!.seconds + second)
  }

  @Test func withoutPeriodsTheScreenIsNeverDark() {
    #expect(!BlankingSchedule().isBlanked(at: time(.monday, "03:00")))
    #expect(BlankingSchedule().secondsUntilEdge(after: time(.monday, "03:00")) == nil)
  }

  @Test(arguments: [
    (Weekday.monday, "19:59", false), (.monday, "20:00", true), (.monday, "23:59", true), (.tuesday, "00:00", true),
    (.tuesday, "06:59", true),
    (.tuesday, "07:00", false),
    // Tuesday is not named: its night is bright, and so is the one that ends on Monday.
    (.tuesday, "20:00", false), (.wednesday, "06:00", false), (.monday, "06:00", false),
    // The night of Sunday ends in the next week.
    (.sunday, "22:00", true),
  ])
  func nightsBelongToTheDayTheyBeginOn(day: Weekday, text: String, isBlanked: Bool) {
    let schedule = BlankingSchedule([period("20:00", "07:00", .monday), period("21:00", "05:00", .sunday)])
    #expect(schedule.isBlanked(at: time(day, text)) == isBlanked)
  }

  @Test func theNightOfSundayLastsIntoMonday() {
    let schedule = BlankingSchedule([period("21:00", "05:00", .sunday)])
    #expect(schedule.isBlanked(at: time(.monday, "04:59")) && !schedule.isBlanked(at: time(.monday, "05:00")))
  }

  @Test func aPeriodWithinADayEndsOnIt() {
    let schedule = BlankingSchedule([period("12:00", "13:00")])
    #expect(schedule.isBlanked(at: time(.thursday, "12:00")) && schedule.isBlanked(at: time(.thursday, "12:59")))
    #expect(!schedule.isBlanked(at: time(.thursday, "13:00")) && !schedule.isBlanked(at: time(.thursday, "11:59")))
  }

  @Test func equalTimesAreAWholeDay() {
    let schedule = BlankingSchedule([period("00:00", "00:00", .saturday, .sunday)])
    #expect(schedule.isBlanked(at: time(.saturday, "00:00")) && schedule.isBlanked(at: time(.sunday, "23:59")))
    #expect(!schedule.isBlanked(at: time(.friday, "23:59")) && !schedule.isBlanked(at: time(.monday, "00:00")))
    // Between the two days nothing changes.
    #expect(schedule.secondsUntilEdge(after: time(.saturday, "00:00")) == 2 * 86_400)
  }

  @Test func theNextChangeIsFoundAcrossMidnightAndTheWeek() {
    let nights = BlankingSchedule([period("20:00", "07:00")])
    #expect(nights.secondsUntilEdge(after: time(.monday, "19:59", second: 59)) == 1)
    #expect(nights.secondsUntilEdge(after: time(.monday, "20:00")) == 11 * 3_600)
    #expect(nights.secondsUntilEdge(after: time(.sunday, "23:00")) == 8 * 3_600)
    let one = BlankingSchedule([period("20:00", "07:00", .monday)])
    #expect(one.secondsUntilEdge(after: time(.tuesday, "07:00")) == 6 * 86_400 + 13 * 3_600)
  }

  @Test func overlappingPeriodsAreOneStretch() {
    let schedule = BlankingSchedule([period("20:00", "02:00"), period("22:00", "07:00")])
    #expect(schedule.secondsUntilEdge(after: time(.friday, "20:00")) == 11 * 3_600)
    #expect(schedule.secondsUntilEdge(after: time(.friday, "07:00")) == 13 * 3_600)
  }

  @Test func aScreenThatIsAlwaysDarkHasNoNextChange() {
    let schedule = BlankingSchedule([period("00:00", "00:00")])
    #expect(schedule.isBlanked(at: time(.monday, "11:11")) && schedule.secondsUntilEdge(after: time(.monday, "11:11")) == nil)
  }

  @Test func theWallsClockIsRead() {
    let now = CivilTime.now
    #expect((0..<86_400).contains(now.second) && abs(now.offset) <= 14 * 3_600)
  }
}
