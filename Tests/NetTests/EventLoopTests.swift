import Base
import Glibc
import Testing

@testable import Net

@Suite(.timeLimit(.minutes(1))) struct EventLoopTests {
  actor OnLoop {
    let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    init(_ loop: EventLoop) { self.loop = loop }
    func isOnLoop() -> Bool { loop.isCurrent }
  }

  @Test func workFromOtherThreadsRunsOnTheLoopInOrder() async {
    let fixture = LoopFixture()
    let arrivals = Arrivals<Int>()
    let loop = fixture.loop
    for index in 0..<100 { loop.run { arrivals.add(loop.isCurrent ? index : -1) } }
    for index in 0..<100 { #expect(await arrivals.next() == index) }
    #expect(!loop.isCurrent)
  }

  @Test func anActorCanLiveOnTheLoop() async {
    let fixture = LoopFixture()
    #expect(await OnLoop(fixture.loop).isOnLoop())
  }

  @Test func workPutInBeforeTheEndIsStillDone() async {
    let loop = EventLoop(name: "end")
    let arrivals = Arrivals<Int>()
    loop.start()
    loop.run {
      loop.run { arrivals.add(2) }
      arrivals.add(1)
    }
    loop.stop()
    loop.run { arrivals.add(3) }
    arrivals.end()
    #expect(await arrivals.next() == 1)
    #expect(await arrivals.next() == 2)
    #expect(await arrivals.next() == nil)
  }

  @Test func timersFireNotBeforeTheirTimeAndTheEarlierFirst() async {
    let fixture = LoopFixture()
    let loop = fixture.loop
    let arrivals = Arrivals<(String, Bool)>()
    await loop.perform {
      let start = MonotonicClock.now()
      for (name, delay) in [("late", Interval.milliseconds(20)), ("early", .milliseconds(5))] {
        loop.schedule(at: start + delay) { arrivals.add((name, MonotonicClock.now() >= start + delay)) }
      }
      let cancelled = loop.schedule(at: start + .milliseconds(1)) { arrivals.add(("cancelled", true)) }
      loop.cancel(cancelled)
    }
    #expect(await arrivals.next()! == ("early", true))
    #expect(await arrivals.next()! == ("late", true))
  }

  @Test func aTimerThatSetsItselfIntoThePastDoesNotKeepTheLoopFromOtherWork() async {
    let fixture = LoopFixture()
    let loop = fixture.loop
    let kept = Kept<TimerToken>()
    await loop.perform {
      kept.value = loop.makeTimer { loop.set(kept.value!, to: .zero) }
      loop.set(kept.value!, to: .zero)
    }
    #expect(await loop.perform { true })
  }

  @Test func theHookRunsBeforeEachWait() async {
    let fixture = LoopFixture()
    let loop = fixture.loop
    let arrivals = Arrivals<Bool>()
    await loop.perform { loop.beforeWait = { arrivals.add(loop.isCurrent) } }
    #expect(await arrivals.next() == true)
  }

  @Test func aDescriptorIsServedUntilItIsUnregistered() async {
    let fixture = LoopFixture()
    let loop = fixture.loop
    var pair: (Int32, Int32) = (-1, -1)
    withUnsafeMutablePointer(to: &pair) { _ = $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) } }
    let (reading, writing) = pair
    let arrivals = Arrivals<UInt8>()
    let kept = Kept<EventLoop.Registration>()
    await loop.perform {
      kept.value = try? loop.register(reading, for: .readable) { _ in
        var byte: UInt8 = 0
        if read(reading, &byte, 1) == 1 { arrivals.add(byte) }
        if byte == 2 { loop.unregister(kept.value!) }
      }
    }
    for byte in [1, 2, 3] as [UInt8] {
      var byte = byte
      write(writing, &byte, 1)
    }
    #expect(await arrivals.next() == 1)
    #expect(await arrivals.next() == 2)
    // Unregistered within its handler: the third byte stays in the pipe.
    await loop.perform {}
    var rest: UInt8 = 0
    #expect(read(reading, &rest, 1) == 1 && rest == 3)
    close(reading)
    close(writing)
  }

  @Test func aDescriptorThatCannotBeWatchedIsAnError() async {
    let fixture = LoopFixture()
    let loop = fixture.loop
    let message = await loop.perform { () -> String in
      do {
        _ = try loop.register(9_999, for: .readable) { _ in }
        return ""
      } catch { return "\(error)" }
    }
    #expect(message == "watch descriptor 9999: Bad file descriptor")
  }
}
