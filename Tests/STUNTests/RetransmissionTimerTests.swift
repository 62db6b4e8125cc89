import Base
import Testing

@testable import STUN

@Suite struct RetransmissionTimerTests {
  @Test func `a request is sent six times with doubling gaps and given up after 9_75 s`() {
    var timer = RetransmissionTimer(now: .zero, timeout: .milliseconds(250), attempts: 6)
    var sent: [Double] = [0]
    var now = Instant.zero
    while true {
      now = timer.deadline
      let action = timer.fire(now: now)
      if action == .giveUp { break }
      if action == .retransmit { sent.append((now - .zero).seconds) }
    }
    #expect(sent == [0, 0.25, 0.75, 1.75, 3.75, 7.75])
    #expect((now - .zero).seconds == 9.75)
  }

  @Test func `nothing is repeated on a stream`() {
    var timer = RetransmissionTimer(now: .zero, streamTimeout: .seconds(10 as Int64))
    #expect(timer.fire(now: .zero + .seconds(9 as Int64)) == .wait)
    #expect(timer.fire(now: .zero + .seconds(10 as Int64)) == .giveUp)
  }
}
