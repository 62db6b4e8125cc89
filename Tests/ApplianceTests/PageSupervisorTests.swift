import Base
import Testing

@testable import Appliance

/// A supervisor in virtual time.
private struct Fixture {
  static let url = "https://calls.example.org/room"
  var supervisor: PageSupervisor
  var now = Instant.zero

  init(reloadAt: String? = nil, seed: UInt64 = 1) {
    var configuration = PageSupervisor.Configuration(url: Fixture.url)
    configuration.reloadAt = reloadAt.flatMap { DailyTime($0) }
    configuration.seed = seed
    supervisor = PageSupervisor(configuration, now: .zero)
  }

  /// What it wants done after `events`.
  mutating func tell(_ events: PageSupervisor.Event...) -> [PageSupervisor.Action] {
    for event in events { supervisor.handle(event, now: now) }
    return actions()
  }

  mutating func actions() -> [PageSupervisor.Action] {
    var actions: [PageSupervisor.Action] = []
    while let action = supervisor.pollAction() { actions.append(action) }
    return actions
  }

  /// Lets time pass, deadline by deadline.
  mutating func wait(_ interval: Interval) -> [PageSupervisor.Action] {
    let end = now + interval
    var actions: [PageSupervisor.Action] = []
    while let deadline = supervisor.deadline, deadline <= end {
      now = max(now, deadline)
      supervisor.handleTimeout(now: now)
      actions += self.actions()
    }
    now = end
    return actions
  }

  /// Brings the page onto the screen.
  mutating func show() {
    _ = tell(.hostConnected, .committed(url: Fixture.url), .drawn(url: Fixture.url))
  }
}

@Suite struct PageSupervisorTests {
  @Test func pageComesOntoTheScreenAndIntoACall() {
    var fixture = Fixture()
    #expect(fixture.supervisor.state == .loading && fixture.supervisor.url == Fixture.url)
    // The page host loads what its settings name: there is nothing to do.
    #expect(fixture.tell(.hostConnected) == [])
    #expect(fixture.tell(.committed(url: Fixture.url + "?a"), .title("Lobby")) == [])
    #expect(fixture.supervisor.state == .loading && !fixture.supervisor.isDrawn)
    #expect(fixture.tell(.drawn(url: Fixture.url + "?a")) == [])
    #expect(fixture.supervisor.state == .ready && fixture.supervisor.title == "Lobby" && fixture.supervisor.url == Fixture.url + "?a")
    #expect(fixture.supervisor.deadline == nil)
    _ = fixture.tell(.call(isConnected: true))
    #expect(fixture.supervisor.state == .inCall && fixture.supervisor.isDrawn)
    _ = fixture.tell(.call(isConnected: false))
    #expect(fixture.supervisor.state == .ready && fixture.supervisor.code == nil)
  }

  @Test(arguments: [
    HealthCode.pageDNS, .pageConnect, .pageTLS, .pageHTTP, .pageTimeout, .pageRedirects, .pageSize, .pageCrashed, .pageHung, .pageMemory,
    .pageFailed,
  ])
  func everyFailureIsToldAndTriedAgain(code: HealthCode) throws {
    var fixture = Fixture()
    fixture.show()
    #expect(fixture.tell(.failed(code: code, reason: "so it is")) == [])
    #expect(fixture.supervisor.state == .error && fixture.supervisor.code == code && fixture.supervisor.reason == "so it is")
    #expect(!fixture.supervisor.isDrawn && fixture.supervisor.title == nil)
    #expect(fixture.supervisor.restarts == ([.pageCrashed, .pageHung, .pageMemory].contains(code) ? 1 : 0))
    let retry = try #require(fixture.supervisor.retryAt) - fixture.now
    #expect((1...2).contains(retry.seconds))
    #expect(fixture.wait(.seconds(2)) == [.load(Fixture.url)])
    // The reason stays on the screen until there is a picture again.
    #expect(fixture.supervisor.state == .error && fixture.supervisor.code == code && fixture.supervisor.retryAt == nil)
    _ = fixture.tell(.committed(url: Fixture.url))
    #expect(fixture.supervisor.state == .error)
    _ = fixture.tell(.drawn(url: Fixture.url))
    #expect(fixture.supervisor.state == .ready && fixture.supervisor.code == nil && fixture.supervisor.reason == nil)
  }

  @Test(arguments: 1..<20) func retriesHaveNoEndAndSlowDown(seed: UInt64) throws {
    var fixture = Fixture(seed: seed)
    _ = fixture.tell(.hostConnected)
    var pauses: [Double] = []
    for _ in 0..<200 {
      _ = fixture.tell(.failed(code: .pageConnect, reason: "no answer"))
      let pause = try #require(fixture.supervisor.retryAt) - fixture.now
      pauses.append(pause.seconds)
      #expect(fixture.wait(pause) == [.load(Fixture.url)])
    }
    #expect(pauses[0] <= 2 && pauses.allSatisfy { $0 <= 60 } && pauses[10...].allSatisfy { $0 >= 30 })
    #expect(Set(pauses[10...]).count > 50)
  }

  @Test func aCrashLoopSlowsDownAndNeverStops() throws {
    var fixture = Fixture()
    fixture.show()
    var longest = Interval.zero
    for crash in 1...100 {
      _ = fixture.wait(.seconds(1))
      _ = fixture.tell(.failed(code: .pageCrashed, reason: "ended"))
      let pause = try #require(fixture.supervisor.retryAt) - fixture.now
      longest = max(longest, pause)
      #expect(fixture.wait(pause) == [.load(Fixture.url)])
      #expect(fixture.supervisor.restarts == crash)
      _ = fixture.tell(.drawn(url: Fixture.url))
    }
    #expect((30...60).contains(longest.seconds))
    // A page that held for two minutes counts as well again.
    _ = fixture.wait(.seconds(120))
    _ = fixture.tell(.failed(code: .pageCrashed, reason: "ended"))
    #expect(try #require(fixture.supervisor.retryAt) - fixture.now <= .seconds(2))
  }

  @Test func networkThatComesBackIsUsedAtOnce() {
    var fixture = Fixture()
    _ = fixture.tell(.hostConnected, .network(isUp: false))
    for _ in 0..<8 {
      _ = fixture.tell(.failed(code: .pageDNS, reason: "unknown"))
      _ = fixture.wait(.seconds(60))
    }
    _ = fixture.tell(.failed(code: .pageDNS, reason: "unknown"))
    #expect(fixture.tell(.network(isUp: false)) == [])
    #expect(fixture.tell(.network(isUp: true)) == [.load(Fixture.url)])
    // Told again, it is no news; and a page that is well is left alone.
    #expect(fixture.tell(.network(isUp: true)) == [])
    _ = fixture.tell(.drawn(url: Fixture.url))
    #expect(fixture.tell(.network(isUp: false), .network(isUp: true)) == [])
    #expect(fixture.supervisor.state == .ready)
  }

  @Test func clockThatIsNotSetIsSaidToBeTheReasonAndSettingItMendsIt() {
    var fixture = Fixture()
    _ = fixture.tell(.hostConnected, .clock(secondOfDay: 60, isSet: false))
    _ = fixture.tell(.failed(code: .pageTLS, reason: "calls.example.org: the certificate is not valid yet"))
    #expect(fixture.supervisor.code == .pageTLS && fixture.supervisor.reason?.contains("clock is not set") == true)
    #expect(fixture.supervisor.isClockToBlame)
    #expect(fixture.tell(.clock(secondOfDay: 90, isSet: false)) == [])
    #expect(fixture.tell(.clock(secondOfDay: 40_000, isSet: true)) == [.load(Fixture.url)])
    // A certificate that is wrong whatever the time is told as it is.
    _ = fixture.tell(.failed(code: .pageTLS, reason: "the certificate is not valid yet"))
    #expect(fixture.supervisor.reason == "the certificate is not valid yet" && !fixture.supervisor.isClockToBlame)
  }

  @Test func clockDoesNotHurryOtherFailures() {
    var fixture = Fixture()
    _ = fixture.tell(.hostConnected, .clock(secondOfDay: 60, isSet: false))
    _ = fixture.tell(.failed(code: .pageHTTP, reason: "503"))
    #expect(fixture.tell(.clock(secondOfDay: 61, isSet: true)) == [])
  }

  // MARK: The page host

  @Test func hostThatEndsIsWaitedFor() {
    var fixture = Fixture()
    fixture.show()
    _ = fixture.tell(.call(isConnected: true))
    let next = fixture.now + .seconds(2)
    #expect(fixture.tell(.hostLost(reason: "The page program ended", nextStart: next)) == [])
    #expect(fixture.supervisor.state == .error && fixture.supervisor.code == .pageHost && fixture.supervisor.hostRetry == next)
    #expect(fixture.supervisor.restarts == 1 && fixture.supervisor.retryAt == nil)
    // Without a host, wishes have no effect and do no harm.
    #expect(
      fixture.tell(.reloadRequested, .openRequested(url: "https://calls.example.org/x"), .network(isUp: false), .network(isUp: true)) == [])
    #expect(fixture.wait(.seconds(2)) == [])
    #expect(fixture.tell(.hostConnected) == [])
    #expect(fixture.supervisor.state == .loading && fixture.supervisor.code == nil && fixture.supervisor.hostRetry == nil)
    _ = fixture.tell(.drawn(url: Fixture.url))
    #expect(fixture.supervisor.state == .ready)
  }

  @Test func hostThatNeverComesIsSaidToBeMissing() {
    var fixture = Fixture()
    #expect(fixture.wait(PageSupervisor.startLimit) == [])
    #expect(fixture.supervisor.code == .pageHost && fixture.supervisor.reason == "The page program does not start")
    #expect(fixture.supervisor.restarts == 0)
    _ = fixture.tell(.hostConnected)
    #expect(fixture.supervisor.state == .loading)
  }

  @Test func hostThatSaysNothingOfThePageIsEnded() {
    var fixture = Fixture()
    _ = fixture.tell(.hostConnected)
    #expect(fixture.wait(.seconds(24)) == [])
    #expect(fixture.wait(.seconds(1)) == [.restartHost])
    #expect(fixture.supervisor.code == .pageHost && fixture.supervisor.state == .error)
    // And again, should it not end.
    #expect(fixture.wait(PageSupervisor.startLimit) == [.restartHost])
  }

  @Test func hostThatIsRestartedOnRequestIsNoFailure() {
    var fixture = Fixture()
    fixture.show()
    #expect(fixture.tell(.restartRequested) == [.restartHost])
    // The connection's end and the process's are told each on its own.
    #expect(fixture.tell(.hostLost(reason: "ended", nextStart: nil), .hostLost(reason: "ended", nextStart: fixture.now)) == [])
    #expect(fixture.supervisor.state == .loading && fixture.supervisor.code == nil)
    _ = fixture.tell(.hostConnected, .drawn(url: Fixture.url))
    #expect(fixture.supervisor.state == .ready)
    _ = fixture.tell(.hostLost(reason: "ended", nextStart: nil))
    #expect(fixture.supervisor.code == .pageHost)
  }

  @Test func restartThatFailsIsOne() {
    var fixture = Fixture()
    fixture.show()
    _ = fixture.tell(.restartRequested, .hostLost(reason: "ended", nextStart: fixture.now))
    _ = fixture.tell(.hostLost(reason: "it is not there", nextStart: fixture.now + .seconds(2)))
    #expect(fixture.supervisor.code == .pageHost && fixture.supervisor.reason == "it is not there" && fixture.supervisor.restarts == 1)
  }

  // MARK: Operators

  @Test func operatorsOpenAndReload() {
    var fixture = Fixture()
    fixture.show()
    #expect(fixture.tell(.reloadRequested) == [.reload])
    #expect(fixture.supervisor.state == .ready)  // the old picture stays
    _ = fixture.tell(.drawn(url: Fixture.url))
    let other = "https://calls.example.org/other"
    #expect(fixture.tell(.openRequested(url: other)) == [.load(other)])
    _ = fixture.tell(.failed(code: .pageHTTP, reason: "404"))
    // What fails ends in the call's URL again.
    #expect(fixture.wait(.seconds(2)) == [.load(Fixture.url)])
    _ = fixture.tell(.drawn(url: Fixture.url))
    #expect(fixture.tell(.openRequested(url: nil)) == [.load(Fixture.url)])
    _ = fixture.tell(.failed(code: .pageHung, reason: "hung"))
    #expect(fixture.tell(.reloadRequested) == [.load(Fixture.url)])
  }

  // MARK: The daily reload

  /// Tells the time every 15 seconds over `seconds`; returns at which second of the day the page was loaded anew.
  private func pass(_ fixture: inout Fixture, from start: Int, seconds: Int) -> [Int] {
    var reloads: [Int] = []
    for second in stride(from: start, through: start + seconds, by: 15) {
      fixture.now += .seconds(15)
      if fixture.tell(.clock(secondOfDay: second % 86_400, isSet: true)).contains(.reload) {
        reloads.append(second % 86_400)
        _ = fixture.tell(.drawn(url: Fixture.url))
      }
    }
    return reloads
  }

  @Test(arguments: ["03:30", "00:00", "23:59"]) func pageIsLoadedAnewOnceADay(time: String) throws {
    var fixture = Fixture(reloadAt: time)
    fixture.show()
    let at = try #require(DailyTime(time)).seconds
    #expect(pass(&fixture, from: at + 7, seconds: 2 * 86_400).map { ($0 - at + 86_400) % 86_400 } == [7, 7])
  }

  @Test func callIsNotDisturbedByTheDailyReload() throws {
    var fixture = Fixture(reloadAt: "03:30")
    fixture.show()
    _ = fixture.tell(.call(isConnected: true))
    #expect(pass(&fixture, from: 12_500, seconds: 300) == [])
    #expect(fixture.tell(.call(isConnected: false)) == [.reload])
    #expect(pass(&fixture, from: 12_815, seconds: 300) == [])
  }

  @Test func clockThatLeapsLoadsNothing() {
    var fixture = Fixture(reloadAt: "03:30")
    fixture.show()
    #expect(fixture.tell(.clock(secondOfDay: 100, isSet: false), .clock(secondOfDay: 50_000, isSet: true)) == [])
    #expect(fixture.tell(.clock(secondOfDay: 12_590, isSet: true), .clock(secondOfDay: 12_580, isSet: true)) == [])
    // Set back by a minute past the time, it passes it a second time: once too often is better than never.
    #expect(fixture.tell(.clock(secondOfDay: 12_605, isSet: true)) == [.reload])
  }

  @Test func pageThatIsBeingLoadedNeedsNoDailyReload() {
    var fixture = Fixture(reloadAt: "03:30")
    _ = fixture.tell(.hostConnected)
    #expect(pass(&fixture, from: 12_500, seconds: 300) == [])
    _ = fixture.tell(.drawn(url: Fixture.url))
    #expect(pass(&fixture, from: 12_815, seconds: 300) == [])
  }
}
