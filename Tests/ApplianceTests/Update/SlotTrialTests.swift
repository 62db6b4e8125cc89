import Base
import Foundation
import Testing

@testable import Appliance

@Suite struct SlotTrialTests {
  /// What comes of a box that is so for so many seconds, one after the other; looked at every two.
  private func verdict(_ phases: [(SlotTrial.Sight, Int64)]) -> (verdict: SlotTrial.Verdict, time: Int64)? {
    var trial = SlotTrial(patience: .seconds(600), now: .zero)
    var now: Int64 = 0
    for (sight, seconds) in phases {
      let end = now + seconds
      while now < end {
        now += 2
        if let verdict = trial.take(sight, now: .zero + .seconds(Double(now))) { return (verdict, now) }
      }
    }
    return nil
  }

  @Test func aBoxThatIsWellIsGood() throws {
    let result = verdict([(.unwell, 20), (.well, 100)])
    #expect(result?.verdict == .good && result?.time == 52)
  }

  @Test func aBreakStartsTheProofAnew() throws {
    let result = verdict([(.well, 20), (.unwell, 2), (.well, 100)])
    #expect(result?.verdict == .good && result?.time == 54)
  }

  @Test func anAppThatCrashesAgainAndAgainIsGivenUp() throws {
    var trial = SlotTrial(patience: .seconds(600), now: .zero)
    for second in 1...599 { #expect(trial.take(second % 10 < 3 ? .well : .unwell, now: .zero + .seconds(Double(second))) == nil) }
    var verdict: SlotTrial.Verdict?
    for second in 600...900 where verdict == nil {
      verdict = trial.take(second % 10 < 3 ? .well : .unwell, now: .zero + .seconds(Double(second)))
    }
    #expect(verdict == .restart)
  }

  @Test func aNetworkThatIsAwayIsNoFaultOfTheVersion() throws {
    #expect(verdict([(.unwell, 20), (.prevented, 100_000)]) == nil)
    #expect(verdict([(.unwell, 20), (.prevented, 100_000), (.well, 100)])?.verdict == .good)
  }

  @Test(arguments: [
    (Status.State.ready, nil, SlotTrial.Sight.well), (.inCall, nil, .well), (.unprovisioned, nil, .well),
    (.offline, "network.down", .prevented),
    (.error, "page.dns", .prevented), (.error, "call.unauthorized", .prevented), (.error, "page.crashed", .unwell),
    (.error, "page.host", .unwell),
    (.error, "page.timeout", .unwell), (.error, "display.denied", .unwell), (.loading, nil, .unwell),
  ]) func whatABoxSaysIsUnderstood(state: Status.State, code: String?, sight: SlotTrial.Sight) {
    let screen = Status.Screen(output: "headless", mode: "640x360@60")
    var status = Status(
      version: "1", name: "box", serial: "1", stage: screen, sound: Status.Sound(capture: "none", playback: "none"),
      network: Status.Network(state: "up", interfaces: []), clock: Status.Clock(synchronised: true), since: Date(timeIntervalSince1970: 0))
    (status.state, status.code) = (state, code)
    #expect(SlotTrial.Sight(status) == sight)
  }

  @Test func aBoxThatDoesNotAnswerIsNotWell() { #expect(SlotTrial.Sight(nil) == .unwell) }
}
