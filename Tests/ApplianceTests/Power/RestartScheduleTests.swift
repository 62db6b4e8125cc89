import Testing

@testable import Appliance

@Suite struct RestartScheduleTests {
  private func schedule(_ days: Set<Weekday> = Set(Weekday.allCases)) -> RestartSchedule {
    var settings = Configuration.Power()
    (settings.restartAt, settings.restartDays) = (DailyTime("04:00"), days)
    return RestartSchedule(settings)!
  }

  /// Lets time pass in steps of half a minute, and returns when the box restarted, in seconds from `start`.
  private func restarts(
    _ schedule: inout RestartSchedule, from start: CivilTime, seconds: Int, isInCall: (Int) -> Bool = { _ in false }
  ) -> [Int] {
    stride(from: 0, through: seconds, by: 30).filter { schedule.pass(start.advanced(by: $0), isInCall: isInCall($0)) }
  }

  @Test func withoutATimeThereIsNone() { #expect(RestartSchedule(Configuration.Power()) == nil) }

  @Test func boxRestartsOnceADay() {
    var schedule = schedule()
    let restarts = restarts(&schedule, from: CivilTime(.sunday, second: 3 * 3_600), seconds: 3 * 86_400)
    #expect(restarts == [3_600, 3_600 + 86_400, 3_600 + 2 * 86_400])
  }

  @Test func boxRestartsOnTheseDaysAlone() {
    var schedule = schedule([.monday, .thursday])
    let restarts = restarts(&schedule, from: CivilTime(.sunday, second: 4 * 3_600), seconds: 7 * 86_400)
    #expect(restarts == [86_400, 4 * 86_400])
  }

  @Test func callIsWaitedFor() {
    var schedule = schedule()
    let restarts = restarts(&schedule, from: CivilTime(.monday, second: 3 * 3_600), seconds: 86_400) { $0 < 3 * 3_600 }
    #expect(restarts == [3 * 3_600])
    #expect(!schedule.isDue)
  }

  @Test func boxThatStartsAtThatTimeDoesNotRestartAgain() {
    var schedule = schedule()
    let restarts = restarts(&schedule, from: CivilTime(.monday, second: 4 * 3_600), seconds: 3_600)
    #expect(restarts == [])
  }

  @Test func clockThatIsSetDoesNotRestartTheBox() {
    var schedule = schedule()
    // Two hours ahead, and back; then time goes on.
    let isRestarted = [3, 5, 3].map { schedule.pass(CivilTime(.monday, second: $0 * 3_600), isInCall: false) }
    #expect(isRestarted == [false, false, false])
    let later = restarts(&schedule, from: CivilTime(.monday, second: 3 * 3_600), seconds: 2 * 3_600)
    #expect(later == [3_600])
  }

  @Test func hourThatComesTwiceHasOneRestart() {
    var settings = Configuration.Power()
    settings.restartAt = DailyTime("02:30")
    var schedule = RestartSchedule(settings)!
    let summer = stride(from: 7_200, to: 10_800, by: 30).map { CivilTime(.sunday, second: $0, offset: 7_200) }
    let winter = stride(from: 7_200, to: 14_400, by: 30).map { CivilTime(.sunday, second: $0, offset: 3_600) }
    let restarts = (summer + winter).filter { schedule.pass($0, isInCall: false) }
    #expect(restarts.count == 1)
  }
}
