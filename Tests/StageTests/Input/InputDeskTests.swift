import Base
import Frames
import Synchronization
import Testing

@testable import Stage

@Suite struct InputDeskTests {
  private let start = Instant.zero + .seconds(10)
  private let left: UInt32 = 0x110

  /// A stage whose input goes through a desk, and what the box was told.
  private final class Setup: Sendable {
    let stage = Stage(width: 320, height: 200)
    private let told = Mutex<[InputNews]>([])

    func desk() -> InputDesk { InputDesk(stage: stage, server: nil, devices: nil) { [self] news in told.withLock { $0.append(news) } } }

    var news: [InputNews] {
      told.withLock { told in
        defer { told.removeAll() }
        return told
      }
    }
  }

  @Test func boxHearsOfPressesAndThatSomebodyIsThere() {
    let setup = Setup()
    let desk = setup.desk()
    desk.take(.touchDown(id: 0, x: 5, y: 5), now: start)
    #expect(setup.news == [.activity, .press])
    desk.take(.touchMotion(id: 0, x: 6, y: 5), now: start + .milliseconds(16))
    desk.take(.touchUp(id: 0), now: start + .milliseconds(999))
    #expect(setup.news == [])
    desk.take(.pointerButton(code: left, isPressed: true), now: start + .seconds(1))
    desk.take(.pointerButton(code: left, isPressed: false), now: start + .seconds(1))
    #expect(setup.news == [.activity, .press])
  }

  @Test func touchOfADarkScreenIsToldAtOnceAndNothingElse() {
    let setup = Setup()
    let desk = setup.desk()
    desk.take(.pointerAxis(horizontal: 0, vertical: 1), now: start)
    #expect(setup.news == [.activity])
    setup.stage.setBlanked(true)
    desk.take(DeviceEvent(device: 1, .touchDown(slot: 0, x: 0.5, y: 0.5)), now: start + .milliseconds(10))
    #expect(setup.news == [.activity])
    setup.stage.setBlanked(false)
    desk.take(DeviceEvent(device: 1, .touchUp(slot: 0)), now: start + .milliseconds(20))
    desk.take(DeviceEvent(device: 1, .touchDown(slot: 0, x: 0.5, y: 0.5)), now: start + .milliseconds(30))
    #expect(setup.news == [.press])
    desk.take(DeviceEvent(device: 1, .key(code: 115, isPressed: true)), now: start + .seconds(2))
    desk.take(DeviceEvent(device: 0, .callButton(isPressed: true)), now: start + .seconds(2))
    #expect(setup.news == [.activity, .volume(.up), .callKey])
  }

  @Test func touchOnAPanelIsNoPressForTheBox() {
    let setup = Setup()
    let desk = setup.desk()
    setup.stage.setPanel(Panel(kind: .alert, title: "Hello", text: "there"))
    desk.take(.touchDown(id: 0, x: 5, y: 5), now: start)
    #expect(setup.news == [.activity])
  }

  @Test func arrowIsSeenFromAMotionUntilItRests() {
    let setup = Setup()
    let desk = setup.desk()
    func bytes(_ now: Instant) -> [UInt8] {
      desk.showCursor(now: now)
      setup.stage.present(now: now)
      return setup.stage.picture().pixels
    }
    let empty = bytes(start)
    desk.take(.pointerMotion(x: 100, y: 50), now: start)
    let arrow = bytes(start)
    #expect(arrow != empty)
    #expect(desk.deadline == start + CursorVisibility.patience)
    desk.take(.pointerMotion(x: 150, y: 90), now: start + .seconds(1))
    let moved = bytes(start + .seconds(1))
    #expect(moved != arrow && moved != empty)
    #expect(bytes(start + .seconds(6)) == empty)
    desk.take(.pointerMotion(x: 100, y: 50), now: start + .seconds(7))
    #expect(bytes(start + .seconds(7)) == arrow)
    desk.take(.touchDown(id: 0, x: 5, y: 5), now: start + .seconds(8))
    #expect(bytes(start + .seconds(8)) == empty)
  }
}
