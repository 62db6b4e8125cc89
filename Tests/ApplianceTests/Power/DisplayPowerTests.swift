import Net
import Synchronization
import Testing

@testable import Appliance

@Suite struct DisplayPowerTests {
  /// What the display was told.
  private final class Display: Sendable {
    private let states = Mutex<[Bool]>([])
    private let gammas = Mutex<[Double?]>([])
    var now: [Bool] { states.withLock { $0 } }
    var gamma: [Double?] { gammas.withLock { $0 } }
    var ends: DisplayPower.Display {
      DisplayPower.Display(
        setBlanked: { isBlanked in self.states.withLock { $0.append(isBlanked) } },
        setGamma: { gamma in self.gammas.withLock { $0.append(gamma) } }
      )
    }
  }

  @Test func theDisplayIsToldOfChangesAlone() {
    let (display, loop) = (Display(), EventLoop(name: "power"))
    loop.start()
    let power = DisplayPower(Configuration.Power(), usualGamma: nil, loop: loop, display: display.ends)
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

  @Test func gammaIsToldWhenItChanges() {
    let (display, loop) = (Display(), EventLoop(name: "power"))
    loop.start()
    var settings = Configuration.Power()
    let allDay = WeeklyPeriod(from: DailyTime("00:00")!, to: DailyTime("00:00")!)
    settings.gamma = GammaSchedule([GammaSchedule.Period(allDay, value: 0.7)])
    let power = DisplayPower(settings, usualGamma: 1.2, loop: loop, display: display.ends)
    power.start()
    power.touch()
    #expect(display.gamma == [0.7])
    power.setGamma(0.5)
    power.setGamma(0.5)
    power.setGamma(nil)
    #expect(display.gamma == [0.7, 0.5, 0.7] && display.now.isEmpty)
    loop.stop()
  }

  @Test func theClockDarkensByItself() async {
    let loop = EventLoop(name: "power")
    loop.start()
    var settings = Configuration.Power()
    settings.blankAfter = 0.01
    let (stream, continuation) = AsyncStream<Bool>.makeStream()
    let power = DisplayPower(
      settings, usualGamma: nil, loop: loop, display: .init(setBlanked: { continuation.yield($0) }, setGamma: { _ in }))
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
