import Base
import Call
import Testing

@Suite struct BackoffTests {
  @Test(arguments: 0..<20) func waitsGrowFromOneSecondToHalfAMinuteAndStayThere(seed: UInt64) {
    var backoff = Backoff(seed: seed)
    var now = Instant.zero
    for failure in 0..<100 {
      let next = backoff.failed(at: now)
      let most = min(30.0, Double(2 << min(failure, 10)))
      #expect((max(1, most / 2)...most).contains((next - now).seconds))
      now = next
    }
  }

  @Test func boxesDoNotReturnTogether() {
    let waits = (0..<100).map { seed -> Int64 in
      var backoff = Backoff(seed: UInt64(seed))
      return backoff.failed(at: .zero).nanoseconds / 100_000_000
    }
    #expect(Set(waits).count >= 9)  // spread over the ten tenths of a second between 1 s and 2 s
  }

  @Test func aCallThatStoodForAMinuteCountsAsAFreshStartAndAShorterOneDoesNot() {
    var backoff = Backoff(seed: 1)
    for _ in 0..<8 { _ = backoff.failed(at: .zero) }
    backoff.succeeded(at: .zero)
    #expect(backoff.failed(at: .zero + .seconds(59)) - (.zero + .seconds(59)) >= .seconds(15))
    backoff.succeeded(at: .zero)
    #expect(backoff.failed(at: .zero + .seconds(60)) - (.zero + .seconds(60)) <= .seconds(2))
  }

  @Test func whatTheServerAskedForIsHonouredWithinReason() {
    var backoff = Backoff(seed: 1)
    #expect(backoff.failed(at: .zero, retryAfter: .seconds(120)) == .zero + .seconds(120))
    #expect(backoff.failed(at: .zero, retryAfter: .seconds(86_400)) == .zero + .seconds(3_600))
    #expect(backoff.failed(at: .zero, retryAfter: .zero) > .zero + .seconds(1))
  }
}
