import Base
import Testing

@testable import Stage

@Suite struct AnnouncementsTests {
  private func time(_ seconds: Double) -> Instant { .zero + .seconds(seconds) }
  private let notice = Notice(kind: .error(code: "call.lost"), title: "Lost", countdown: 10)

  @Test func countdownBeginsWhenItIsFirstSeen() {
    var announcements = Announcements()
    announcements.setNotice(notice)
    #expect(announcements.content(at: time(5)).secondsLeft == 10)
    #expect(announcements.content(at: time(5.9)).secondsLeft == 10)
    #expect(announcements.content(at: time(6)).secondsLeft == 9)
    announcements.setNotice(notice)
    #expect(announcements.content(at: time(8)).secondsLeft == 7)
    #expect(announcements.content(at: time(60)).secondsLeft == 0)
    announcements.setNotice(Notice(kind: .information, title: "Found"))
    #expect(announcements.content(at: time(61)).secondsLeft == nil)
    announcements.setNotice(notice)
    #expect(announcements.content(at: time(62)).secondsLeft == 10)
  }

  @Test func identificationEndsByItselfOrWhenItIsTakenOff() {
    var announcements = Announcements()
    let identity = Notice(kind: .identify, title: "BOX 7")
    announcements.identify(identity, for: .seconds(60))
    #expect(announcements.content(at: time(100)).identification == identity)
    #expect(announcements.content(at: time(159.9)).identification == identity)
    #expect(announcements.content(at: time(160)).identification == nil)
    #expect(announcements.content(at: time(161)).identification == nil)
    announcements.identify(identity, for: .seconds(5))
    #expect(announcements.content(at: time(200)).identification == identity)
    announcements.identify(nil, for: .seconds(5))
    #expect(announcements.content(at: time(201)).identification == nil)
  }

  @Test func askedForAgainAnIdentificationLastsAgain() {
    var announcements = Announcements()
    let identity = Notice(kind: .identify, title: "BOX 7")
    announcements.identify(identity, for: .seconds(10))
    _ = announcements.content(at: time(0))
    announcements.identify(identity, for: .seconds(10))
    _ = announcements.content(at: time(8))
    #expect(announcements.content(at: time(17.9)).identification == identity)
    #expect(announcements.content(at: time(18)).identification == nil)
  }

  @Test func volumeStaysForTwoSecondsAfterTheLastChange() {
    var announcements = Announcements()
    announcements.showVolume(Announcements.Volume(percent: 50, isMuted: false))
    #expect(announcements.content(at: time(0)).volume?.percent == 50)
    announcements.showVolume(Announcements.Volume(percent: 60, isMuted: false))
    #expect(announcements.content(at: time(1.5)).volume?.percent == 60)
    #expect(announcements.content(at: time(3.4)).volume?.percent == 60)
    #expect(announcements.content(at: time(3.5)).volume == nil)
  }
}
