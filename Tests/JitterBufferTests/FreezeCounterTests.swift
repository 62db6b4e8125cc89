import Base
import Testing

@testable import JitterBuffer

struct FreezeCounterTests {
  @Test func aLateFrameIsAFreezeAndAPauseIsNot() {
    var counter = FreezeCounter()
    var now = 0
    for _ in 0..<40 {
      counter.show(at: instant(now))
      now += 33
    }
    counter.show(at: instant(now + 100))
    #expect(counter.freezeCount == 0, "100 ms late is not yet a freeze")
    now += 100 + 33 + 300
    counter.show(at: instant(now))
    #expect(counter.freezeCount == 1)
    #expect(counter.totalFreezesDuration == .milliseconds(333))
    counter.pause()
    counter.show(at: instant(now + 5_000))
    #expect(counter.freezeCount == 1)
  }
}
