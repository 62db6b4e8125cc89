import Base
import Testing

@testable import Appliance

@Suite struct GammaChoiceTests {
  private static func period(_ from: String, _ to: String, _ value: Double) -> GammaSchedule.Period {
    GammaSchedule.Period(WeeklyPeriod(from: DailyTime(from)!, to: DailyTime(to)!), value: value)
  }

  private let schedule = GammaSchedule([period("22:00", "06:00", 0.6), period("20:00", "08:00", 0.8)])

  private func time(_ day: Weekday, _ text: String, offset: Int = 0) -> CivilTime {
    CivilTime(day, second: DailyTime(text)!.seconds, offset: offset)
  }

  @Test(arguments: [("19:59", nil), ("20:00", 0.8), ("22:00", 0.6), ("05:59", 0.6), ("06:00", 0.8), ("08:00", nil)])
  func theFirstPeriodCounts(text: String, value: Double?) {
    #expect(schedule.value(at: time(.tuesday, text)) == value)
  }

  @Test func changesAreFoundWhereTheValueChangesAlone() {
    #expect(schedule.secondsUntilChange(after: time(.monday, "12:00")) == 8 * 3_600)
    #expect(schedule.secondsUntilChange(after: time(.monday, "20:00")) == 2 * 3_600)
    #expect(schedule.secondsUntilChange(after: time(.sunday, "23:00")) == 7 * 3_600)
    let same = GammaSchedule([GammaChoiceTests.period("20:00", "22:00", 0.8), GammaChoiceTests.period("22:00", "08:00", 0.8)])
    #expect(same.secondsUntilChange(after: time(.monday, "20:00")) == 12 * 3_600)
    #expect(GammaSchedule().secondsUntilChange(after: time(.monday, "20:00")) == nil)
  }

  @Test func theUsualGammaHoldsWhileTheScheduleSaysNothing() {
    for usual in [nil, 1.2] {
      var choice = GammaChoice(schedule, usual: usual)
      #expect(choice.value == usual)
      _ = choice.update(now: .zero, civil: time(.monday, "12:00"))
      #expect(choice.value == usual)
      _ = choice.update(now: .zero, civil: time(.monday, "21:00"))
      #expect(choice.value == 0.8)
      _ = choice.update(now: .zero, civil: time(.tuesday, "09:00"))
      #expect(choice.value == usual)
    }
  }

  @Test func anOperatorsWishHoldsUntilTheSchedulesNextChange() {
    var choice = GammaChoice(schedule, usual: nil)
    choice.set(1.5)
    _ = choice.update(now: .zero, civil: time(.monday, "12:00"))
    #expect(choice.value == 1.5)
    _ = choice.update(now: .zero, civil: time(.monday, "19:59"))
    #expect(choice.value == 1.5)
    _ = choice.update(now: .zero, civil: time(.monday, "20:00"))
    #expect(choice.value == 0.8)
    choice.set(2)
    _ = choice.update(now: .zero, civil: time(.monday, "20:01"))
    #expect(choice.value == 2)
    choice.set(nil)
    _ = choice.update(now: .zero, civil: time(.monday, "20:02"))
    #expect(choice.value == 0.8)
  }

  @Test func theClockIsLookedAtInTimeAndOften() {
    var choice = GammaChoice(schedule, usual: nil)
    let now = Instant.zero + .seconds(5)
    let near = choice.update(now: now, civil: CivilTime(.monday, second: 20 * 3_600 - 2))
    #expect(near == now + .seconds(2))
    let far = choice.update(now: now, civil: time(.monday, "12:00"))
    #expect(far == now + .seconds(30))
    var unscheduled = GammaChoice(GammaSchedule(), usual: 0.9)
    let never = unscheduled.update(now: now, civil: time(.monday, "12:00"))
    #expect(never == nil && unscheduled.value == 0.9)
  }

  @Test func theHourThatComesTwiceChangesNothingTwice() {
    var choice = GammaChoice(GammaSchedule([GammaChoiceTests.period("02:30", "05:00", 0.6)]), usual: nil)
    _ = choice.update(now: .zero, civil: time(.sunday, "02:45", offset: 7_200))
    _ = choice.update(now: .zero, civil: time(.sunday, "02:00", offset: 3_600))
    #expect(choice.value == 0.6)
    _ = choice.update(now: .zero, civil: time(.sunday, "05:00", offset: 3_600))
    #expect(choice.value == nil)
  }
}
