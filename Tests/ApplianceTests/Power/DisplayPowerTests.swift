import Net
import Synchronization
import Testing

@testable import Appliance

@Suite struct DisplayPowerTests {
  /// What the display was told.
  private final class Display: Sendable {
    let states = Mutex<[Bool]>([])
    func set(_ isBlanked: Bool) { states.withLock { $0.append(isBlanked) } }
    var now: [Bool] { states.withLock { $0 } }
  }

  @Test func theDisplayIsToldOfChangesAlone() {
    let (display, loop) = (Display(), EventLoop(name: "power"))
    loop.start()
    let power = DisplayPower(Configuration.Power(), loop: loop) { display.set($0) }
    power.start()
    power.set(.auto)
    power.touch()
    #expect(display.now == [])
    power.set(.on)
    power.set(.on)
    #expect(display.now == [true])
    power.touch()
    #expect(display.now == [true, false])
    power.touch()
    power.set(.on)
    power.startCall()
    power.setInCall(true)
    #expect(display.now == [true, false, true, false])
    loop.stop()
  }

  @Test func theClockDarkensByItself() async {
    let loop = EventLoop(name: "power")
    loop.start()
    var settings = Configuration.Power()
    settings.blankAfter = 0.01
    let (stream, continuation) = AsyncStream<Bool>.makeStream()
    let power = DisplayPower(settings, loop: loop) { continuation.yield($0) }
    power.start()
    var told: [Bool] = []
    for await isBlanked in stream {
      told.append(isBlanked)
      if told.count == 1 { power.touch() }
      if told.count == 3 { break }
    }
    #expect(told == [true, false, true])
    loop.stop()
  }
}
