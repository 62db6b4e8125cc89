import Testing

@testable import Stage

@Suite struct SeatTests {
  private let red: UInt32 = 0xFFFF_0000
  private let green: UInt32 = 0xFF00_FF00
  private let blue: UInt32 = 0xFF00_00FF
  private let left: UInt32 = 0x110

  private struct Setup {
    let compositor = TestClient.compositor()
    let client: TestClient
    let window: TestClient.Window
    let pointer: UInt32
    let keyboard: UInt32
    let touch: UInt32

    init() {
      client = TestClient(compositor)
      window = client.window(200, 100, 0xFFFF_0000)
      pointer = client.make(client.seat, 0)
      keyboard = client.make(client.seat, 1)
      touch = client.make(client.seat, 2)
    }

    func send(_ inputs: StageInput...) { for input in inputs { compositor.send(input, now: TestClient.start) } }

    /// A subsurface of 50 by 50 at (100, 0).
    func child() -> UInt32 {
      let subcompositor = client.bind("wl_subcompositor")
      let surface = client.surface()
      let subsurface = client.make(subcompositor, 1, .uint(surface), .uint(window.surface))
      client.request(subsurface, 1, .int(100), .int(0))
      client.attach(client.buffer(50, 50, 0xFF00_FF00), to: surface)
      client.commit(surface)
      client.commit(window.surface)
      return surface
    }

    /// The pointer's events: opcode, and the arguments after serials and times.
    var pointerEvents: [[Int]] {
      client.take(pointer).compactMap { message in
        switch message.opcode {
        case 0: [0, Int(message.words[1]), message.ints[2] / 256, message.ints[3] / 256]
        case 1: [1, Int(message.words[1])]
        case 2: [2, message.ints[1] / 256, message.ints[2] / 256]
        case 3: [3, Int(message.words[2]), Int(message.words[3])]
        case 4: [4, Int(message.words[1]), message.ints[2] / 256]
        default: nil
        }
      }
    }
  }

  @Test func pointerGoesFromSurfaceToSurface() {
    let setup = Setup()
    let child = setup.child()
    let (window, inner) = (Int(setup.window.surface), Int(child))
    #expect(setup.pointerEvents == [])
    setup.send(.pointerMotion(x: 10, y: 20))
    #expect(setup.pointerEvents == [[0, window, 10, 20]])
    setup.send(.pointerMotion(x: 11, y: 21), .pointerMotion(x: 110, y: 22))
    #expect(setup.pointerEvents == [[2, 11, 21], [1, window], [0, inner, 10, 22]])
    // The place under the pointer goes: it lies on the window again, without having moved.
    setup.client.attach(0, to: child)
    setup.client.commit(child)
    setup.client.commit(setup.window.surface)
    #expect(setup.pointerEvents == [[1, inner], [0, window, 110, 22]])
    // Beyond the edges there is nothing, and nonsense does no harm.
    setup.send(.pointerMotion(x: 1e9, y: -5), .pointerMotion(x: .nan, y: 0))
    #expect(setup.pointerEvents == [[2, 199, 0], [2, 0, 0]])
  }

  @Test func pressedButtonHoldsThePointer() {
    let setup = Setup()
    let child = Int(setup.child())
    setup.send(.pointerMotion(x: 110, y: 10), .pointerButton(code: left, isPressed: true))
    setup.send(.pointerButton(code: left, isPressed: true), .pointerButton(code: 0x111, isPressed: false))
    setup.send(.pointerMotion(x: 10, y: 80), .pointerButton(code: left, isPressed: false))
    #expect(
      setup.pointerEvents == [
        [0, child, 10, 10], [3, 0x110, 1], [2, -90, 80], [3, 0x110, 0], [1, child], [0, Int(setup.window.surface), 10, 80],
      ])
  }

  @Test func scrollingIsInPixels() {
    let setup = Setup()
    setup.send(.pointerMotion(x: 10, y: 10), .pointerAxis(horizontal: -3, vertical: 120))
    #expect(setup.pointerEvents.dropFirst() == [[4, 0, 120], [4, 1, -3]])
    setup.send(.pointerAxis(horizontal: .infinity, vertical: 0))
    #expect(setup.pointerEvents == [] && setup.compositor.counters["input.unclaimed"] == 1)
  }

  @Test func cursorIsSeenOnceThePointerMovesAndNotWhileFingersTouch() throws {
    let setup = Setup()
    let cursor = setup.client.surface()
    setup.client.attach(setup.client.buffer(8, 8, blue), to: cursor)
    setup.client.commit(cursor)
    setup.client.request(setup.pointer, 0, .uint(0), .uint(cursor), .int(2), .int(3))
    _ = setup.compositor.takeLayers()
    #expect(setup.compositor.takeLayers() == nil)
    setup.send(.pointerMotion(x: 50, y: 60))
    setup.client.request(setup.pointer, 0, .uint(0), .uint(cursor), .int(2), .int(3))
    var layers = try #require(setup.compositor.takeLayers()?.layers)
    #expect(layers.map(\.target).last == Rectangle(x: 48, y: 57, width: 8, height: 8) && layers.count == 2)
    setup.send(.pointerMotion(x: 70, y: 60))
    let update = try #require(setup.compositor.takeLayers())
    #expect(update.layers.last?.target.x == 68 && update.uncovered == [Rectangle(x: 48, y: 57, width: 8, height: 8)])
    #expect(update.layers[0].damage.isEmpty)
    // What lies under the pointer is the window, not the cursor.
    setup.send(.pointerButton(code: left, isPressed: true), .pointerButton(code: left, isPressed: false))
    #expect(setup.pointerEvents.suffix(2) == [[3, 0x110, 1], [3, 0x110, 0]])
    setup.send(.touchDown(id: 0, x: 5, y: 5))
    layers = try #require(setup.compositor.takeLayers()?.layers)
    #expect(layers.count == 1)
    // Another surface with a place of its own cannot be a cursor.
    setup.client.request(setup.pointer, 0, .uint(0), .uint(setup.window.surface), .int(0), .int(0))
    #expect(setup.client.error == [setup.pointer, 0])
  }

  @Test func cursorThatRestsIsHiddenAndThePointerStays() throws {
    let setup = Setup()
    let cursor = setup.client.surface()
    setup.client.attach(setup.client.buffer(8, 8, blue), to: cursor)
    setup.client.commit(cursor)
    #expect(setup.compositor.leavesCursorToStage)
    setup.send(.pointerMotion(x: 50, y: 60))
    #expect(setup.compositor.leavesCursorToStage)
    setup.client.request(setup.pointer, 0, .uint(0), .uint(cursor), .int(2), .int(3))
    #expect(!setup.compositor.leavesCursorToStage)
    _ = setup.compositor.takeLayers()
    _ = setup.pointerEvents
    setup.compositor.setCursorVisible(false)
    let update = try #require(setup.compositor.takeLayers())
    #expect(update.layers.count == 1 && update.uncovered == [Rectangle(x: 48, y: 57, width: 8, height: 8)])
    // The window does not hear of it, and hears of presses.
    setup.send(.pointerButton(code: left, isPressed: true), .pointerButton(code: left, isPressed: false))
    #expect(setup.pointerEvents == [[3, 0x110, 1], [3, 0x110, 0]])
    setup.compositor.setCursorVisible(true)
    #expect(setup.compositor.takeLayers()?.layers.count == 2)
    // A client may want none.
    setup.client.request(setup.pointer, 0, .uint(0), .uint(0), .int(0), .int(0))
    #expect(setup.compositor.takeLayers()?.layers.count == 1 && !setup.compositor.leavesCursorToStage)
  }

  @Test func fingersStayWithTheSurfaceThatTheyTouched() {
    let setup = Setup()
    let child = setup.child()
    setup.send(.touchDown(id: 5, x: 120, y: 30), .touchDown(id: 6, x: 10, y: 90), .touchMotion(id: 5, x: 90, y: 35), .touchUp(id: 5))
    setup.send(.touchMotion(id: 6, x: 11, y: 91), .touchUp(id: 6), .touchUp(id: 6), .touchMotion(id: 9, x: 1, y: 1))
    let events = setup.client.take(setup.touch).filter { $0.opcode != 3 }
    #expect(events.map(\.opcode) == [0, 0, 2, 1, 2, 1])
    #expect(events[0].words[2] == child && events[0].ints[3...] == [5, 20 * 256, 30 * 256])
    #expect(events[1].words[2] == setup.window.surface && events[1].ints[3...] == [6, 10 * 256, 90 * 256])
    #expect(events[2].ints[1...] == [5, -10 * 256, 35 * 256])
    #expect(events[3].ints[2] == 5)
    #expect(setup.pointerEvents == [])
  }

  @Test func fingersThatCountNoMoreAreTakenBack() {
    let setup = Setup()
    setup.send(.touchDown(id: 5, x: 20, y: 30), .touchDown(id: 6, x: 10, y: 90), .touchCancel(id: 5), .touchCancel(id: 9))
    // The client was told of both at once: nothing more comes of the other one.
    setup.send(.touchMotion(id: 6, x: 11, y: 91), .touchUp(id: 6), .touchUp(id: 5))
    #expect(setup.client.take(setup.touch).map(\.opcode).filter { $0 != 3 } == [0, 0, 4])
    setup.send(.touchDown(id: 5, x: 20, y: 30), .touchUp(id: 5))
    #expect(setup.client.take(setup.touch).map(\.opcode).filter { $0 != 3 } == [0, 1])
  }

  @Test func keyboardBelongsToTheWindow() {
    let setup = Setup()
    let events = setup.client.take(setup.keyboard)
    #expect(events.map(\.opcode) == [0, 5, 1, 4])
    #expect(events[1].words == [25, 600] && events[2].words[1] == setup.window.surface)
    setup.send(.key(code: 42, isPressed: true), .key(code: 30, isPressed: true), .key(code: 30, isPressed: true))
    setup.send(.key(code: 30, isPressed: false), .key(code: 42, isPressed: false), .key(code: 100_000, isPressed: true))
    let keys = setup.client.take(setup.keyboard)
    #expect(keys.map(\.opcode) == [3, 4, 3, 3, 3, 4])
    #expect(keys[1].words[1...] == [1, 0, 0, 0] && keys[5].words[1...] == [0, 0, 0, 0])
    #expect(keys.filter { $0.opcode == 3 }.map { Array($0.words[2...]) } == [[42, 1], [30, 1], [30, 0], [42, 0]])
  }

  @Test func textBecomesKeysAndForeignCharactersAKeymapOfTheirOwn() {
    let setup = Setup()
    _ = setup.client.take(setup.keyboard)
    setup.send(.text("aB\n"))
    var events = setup.client.take(setup.keyboard)
    #expect(
      events.filter { $0.opcode == 3 }.map { Array($0.words[2...]) } == [
        [30, 1], [30, 0], [42, 1], [48, 1], [48, 0], [42, 0], [28, 1], [28, 0],
      ])
    setup.send(.text("ж€"))
    events = setup.client.take(setup.keyboard)
    #expect(events.map(\.opcode) == [0, 3, 3, 3, 3, 0, 4])
    #expect(events.filter { $0.opcode == 3 }.map { Array($0.words[2...]) } == [[1, 1], [1, 0], [2, 1], [2, 0]])
  }

  @Test func keymapsKnowTheirCharacters() throws {
    let keymap = try #require(Wayland.Keymap(.layout("us")))
    #expect(keymap.keys[UInt32(UInt8(ascii: "q"))].map { $0 == (16, false) } ?? false)
    #expect(keymap.keys[UInt32(UInt8(ascii: "@"))].map { $0 == (3, true) } ?? false)
    let german = try #require(Wayland.Keymap(.layout("de")))
    #expect(german.keys[0xFC].map { $0 == (26, false) } ?? false)
    #expect(Wayland.Keymap(.layout("no such layout")) == nil)
    let special = try #require(Wayland.Keymap.typing(["日", "€", "\u{1F600}"]))
    #expect(special.keys[0x65E5].map { $0 == (1, false) } ?? false)
    #expect(special.keys[0x1F600].map { $0 == (3, false) } ?? false)
  }

  @Test func popupThatGrabsHasTheKeyboardUntilAPressOutsideOfItsClient() throws {
    let setup = Setup()
    let popup = setup.client.popup(
      on: setup.window.shellSurface, size: (40, 20), anchor: Rectangle(x: 10, y: 10, width: 10, height: 10), grab: true, color: green)
    let focus = setup.client.take(setup.keyboard).filter { $0.opcode == 1 || $0.opcode == 2 }
    #expect(focus.map { $0.words[1] } == [setup.window.surface, setup.window.surface, popup.surface])
    // A press on the window that the menu belongs to is the client's to judge.
    setup.send(.pointerMotion(x: 150, y: 90), .pointerButton(code: left, isPressed: true), .pointerButton(code: left, isPressed: false))
    #expect(setup.client.take(popup.toplevel, 1).isEmpty)
    #expect(setup.pointerEvents.suffix(2) == [[3, 0x110, 1], [3, 0x110, 0]])

    // One where no surface takes input dismisses it, and goes no further.
    let region = setup.client.make(setup.client.wlCompositor, 1)
    setup.client.request(region, 1, .int(0), .int(0), .int(100), .int(100))
    setup.client.request(setup.window.surface, 5, .uint(region))
    setup.client.commit(setup.window.surface)
    setup.send(.pointerButton(code: left, isPressed: true), .pointerButton(code: left, isPressed: false))
    #expect(setup.client.take(popup.toplevel, 1).count == 1)
    #expect(!setup.pointerEvents.contains { $0[0] == 3 })
    let back = setup.client.take(setup.keyboard).filter { $0.opcode == 1 || $0.opcode == 2 }
    #expect(back.map { $0.words[1] } == [popup.surface, setup.window.surface])
    #expect(setup.compositor.takeLayers()?.layers.count == 1)
  }

  @Test func focusedClientThatGoesLeavesNothingBehind() {
    let setup = Setup()
    let other = TestClient(setup.compositor)
    let keyboard = other.make(other.seat, 1)
    let pointer = other.make(other.seat, 0)
    let window = other.window(200, 100, blue)
    setup.send(.pointerMotion(x: 20, y: 20), .pointerButton(code: left, isPressed: true), .touchDown(id: 1, x: 30, y: 30))
    setup.send(.key(code: 30, isPressed: true))
    #expect(other.take(pointer, 0).count == 1 && other.take(keyboard, 1).map { $0.words[1] } == [window.surface])
    setup.compositor.disconnect(other.client, reason: "test", now: TestClient.start)
    setup.send(
      .touchMotion(id: 1, x: 40, y: 40), .touchUp(id: 1), .pointerButton(code: left, isPressed: false), .key(code: 30, isPressed: false))
    setup.send(.pointerMotion(x: 21, y: 20))
    #expect(setup.pointerEvents.last == [2, 21, 20])
    #expect(setup.client.take(setup.keyboard, 1).count == 2)
  }
}
