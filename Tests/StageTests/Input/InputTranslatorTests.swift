import Frames
import Testing

@testable import Stage

@Suite struct InputTranslatorTests {
  private let f1: UInt32 = 59
  private let letterA: UInt32 = 30
  private let left: UInt32 = 0x110

  /// A translator, and what came of the events that it took.
  private struct Hands {
    var translator: InputTranslator
    private var actions: [InputAction] = []

    init(_ width: Int = 800, _ height: Int = 600, rotation: VideoFrame.Rotation = .none, callKeys: Set<UInt32> = []) {
      translator = InputTranslator(screen: InputScreen(width: width, height: height, rotation: rotation), callKeys: callKeys)
    }

    /// What comes of events of one device.
    mutating func take(_ kinds: DeviceEvent.Kind..., from device: Int = 1) -> [InputAction] {
      actions.removeAll()
      for kind in kinds { translator.take(DeviceEvent(device: device, kind), into: &actions) }
      return actions
    }

    mutating func inputs(_ kinds: DeviceEvent.Kind..., from device: Int = 1) -> [StageInput] {
      actions.removeAll()
      for kind in kinds { translator.take(DeviceEvent(device: device, kind), into: &actions) }
      return actions.compactMap { if case .input(let input) = $0 { input } else { nil } }
    }
  }

  private static func capabilities(keyboard: Bool = false, pointer: Bool = false, touch: Bool = false) -> DeviceEvent.Capabilities {
    var capabilities = DeviceEvent.Capabilities()
    (capabilities.isKeyboard, capabilities.isPointer, capabilities.isTouchScreen) = (keyboard, pointer, touch)
    return capabilities
  }

  // MARK: Places

  /// A monitor of 1,000 by 500 pixels, however the picture is turned on it. A finger at (100, 50) of its glass is on the picture's …
  @Test(arguments: [
    (VideoFrame.Rotation.none, 1_000, 500, 100.0, 50.0),
    // … turned clockwise, the picture's upper edge is at the monitor's right.
    (.quarter, 500, 1_000, 50, 900), (.half, 1_000, 500, 900, 450), (.threeQuarters, 500, 1_000, 450, 100),
  ])
  func touchIsWhereTheFingerIs(rotation: VideoFrame.Rotation, width: Int, height: Int, x: Double, y: Double) {
    var hands = Hands(width, height, rotation: rotation)
    #expect(hands.inputs(.touchDown(slot: 3, x: 0.1, y: 0.1)) == [.touchDown(id: 3, x: x, y: y)])
    #expect(hands.inputs(.pointerPlace(x: 0.1, y: 0.1)) == [.pointerMotion(x: x, y: y)])
  }

  /// The picture is composed upright, and its pixel (x, y) is turned onto the monitor: a finger on that spot must be at (x, y) again.
  @Test(arguments: [VideoFrame.Rotation.none, .quarter, .half, .threeQuarters])
  func touchFindsThePixelThatIsShownThere(rotation: VideoFrame.Rotation) {
    let isSideways = rotation == .quarter || rotation == .threeQuarters
    let (width, height) = (64.0, 36.0)
    let screen = InputScreen(width: Int(width), height: Int(height), rotation: rotation)
    let (monitorWidth, monitorHeight) = isSideways ? (height, width) : (width, height)
    for (x, y) in [(0.5, 0.5), (63.5, 0.5), (0.5, 35.5), (20.5, 10.5)] {
      var (column, row) = (x, y)
      // Quarter turns clockwise: the left column becomes the upper row.
      var (turnedWidth, turnedHeight) = (width, height)
      for _ in 0..<(rotation.rawValue / 90) {
        (column, row) = (turnedHeight - row, column)
        (turnedWidth, turnedHeight) = (turnedHeight, turnedWidth)
      }
      #expect((turnedWidth, turnedHeight) == (monitorWidth, monitorHeight))
      let pixel = screen.pixel(x: column / monitorWidth, y: row / monitorHeight)
      #expect(abs(pixel.x - x) < 1e-9 && abs(pixel.y - y) < 1e-9)
    }
  }

  @Test func relativeMotionIsAsThePersonSeesItAndStaysOnTheScreen() {
    var hands = Hands(800, 600, rotation: .quarter)
    #expect(hands.inputs(.pointerMotion(x: 10, y: -20)) == [.pointerMotion(x: 410, y: 280)])
    #expect(hands.inputs(.pointerMotion(x: -9_999, y: 9_999)) == [.pointerMotion(x: 0, y: 599.99)])
    #expect(hands.inputs(.pointerMotion(x: 5, y: -9.99)) == [.pointerMotion(x: 5, y: 590)])
    #expect(hands.inputs(.pointerPlace(x: .nan, y: 2)) == [.pointerMotion(x: 799.99, y: 0)])
  }

  @Test func pointerStaysOnAScreenThatChangesItsSize() {
    var hands = Hands(800, 600)
    _ = hands.inputs(.pointerMotion(x: 399, y: 0))
    hands.translator.screen = InputScreen(width: 400, height: 1_200)
    #expect(hands.inputs(.pointerMotion(x: 0, y: 0)) == [.pointerMotion(x: 399.5, y: 600)])
  }

  @Test func wheelGoesThroughWithItsSignAndItsEndDoesNot() {
    var hands = Hands()
    #expect(
      hands.inputs(.scroll(horizontal: 0, vertical: 60), .scroll(horizontal: -4, vertical: 0), .scroll(horizontal: 0, vertical: 0))
        == [.pointerAxis(horizontal: 0, vertical: 60), .pointerAxis(horizontal: -4, vertical: 0)])
  }

  // MARK: A dark screen

  @Test func firstTouchOfADarkScreenOnlyWakesIt() {
    var hands = Hands()
    hands.translator.isBlanked = true
    #expect(hands.take(.touchDown(slot: 0, x: 0.5, y: 0.5), .touchMotion(slot: 0, x: 0.6, y: 0.5)) == [.wake])
    hands.translator.isBlanked = false
    // A second finger while the first is still down belongs to the same touch.
    #expect(hands.take(.touchMotion(slot: 0, x: 0.7, y: 0.5), .touchDown(slot: 1, x: 0, y: 0), .touchUp(slot: 0)) == [])
    #expect(hands.take(.touchMotion(slot: 1, x: 0.7, y: 0.5), .touchDown(slot: 0, x: 0, y: 0)) == [])
    #expect(hands.take(.touchUp(slot: 1), .touchCancel(slot: 0)) == [])
    #expect(
      hands.take(.touchDown(slot: 0, x: 0.5, y: 0.5), .touchUp(slot: 0)) == [
        .input(.touchDown(id: 0, x: 400, y: 300)), .input(.touchUp(id: 0)),
      ])
  }

  @Test func keysButtonsAndPointersWakeADarkScreenAndDoNothingElse() {
    var hands = Hands()
    hands.translator.isBlanked = true
    #expect(hands.take(.key(code: letterA, isPressed: true)) == [.wake])
    #expect(hands.take(.key(code: 115, isPressed: true)) == [.wake])
    #expect(hands.take(.pointerButton(code: left, isPressed: true)) == [.wake])
    #expect(hands.take(.pointerMotion(x: 1, y: 0), .pointerPlace(x: 1, y: 0)) == [.wake])
    #expect(hands.take(.scroll(horizontal: 0, vertical: 15)) == [.wake])
    hands.translator.isBlanked = false
    #expect(hands.take(.key(code: letterA, isPressed: false), .pointerButton(code: left, isPressed: false)) == [])
    #expect(
      hands.take(.key(code: letterA, isPressed: true), .key(code: letterA, isPressed: false)) == [
        .input(.key(code: letterA, isPressed: true)), .input(.key(code: letterA, isPressed: false)),
      ])
    // The pointer has not moved meanwhile.
    #expect(hands.inputs(.pointerMotion(x: 0, y: 0)) == [.pointerMotion(x: 400, y: 300)])
  }

  @Test func whatWasDownBeforeTheScreenWentDarkComesUp() {
    var hands = Hands()
    _ = hands.take(.key(code: letterA, isPressed: true), .touchDown(slot: 0, x: 0, y: 0))
    hands.translator.isBlanked = true
    #expect(
      hands.take(.key(code: letterA, isPressed: false), .touchUp(slot: 0)) == [
        .input(.key(code: letterA, isPressed: false)), .input(.touchUp(id: 0)),
      ])
  }

  // MARK: Keys of the box

  @Test func callKeyIsNobodyElsesAndActsOnADarkScreenToo() {
    var hands = Hands(callKeys: [f1])
    #expect(hands.take(.key(code: f1, isPressed: true), .key(code: f1, isPressed: true), .key(code: f1, isPressed: false)) == [.callKey])
    #expect(hands.take(.callButton(isPressed: true), .callButton(isPressed: false)) == [.callKey])
    hands.translator.isBlanked = true
    #expect(hands.take(.key(code: f1, isPressed: true), .key(code: f1, isPressed: false)) == [.wake, .callKey])
    #expect(hands.take(.callButton(isPressed: true)) == [.wake, .callKey])
  }

  @Test func volumeKeysAreStepsAndNotInput() {
    var hands = Hands()
    #expect(
      hands.take(.key(code: 115, isPressed: true), .key(code: 115, isPressed: false), .key(code: 114, isPressed: true)) == [
        .volume(.up), .volume(.down),
      ])
    #expect(hands.take(.key(code: 113, isPressed: true)) == [.volume(.mute)])
  }

  // MARK: Devices that come and go

  @Test func onlyLettersMakeAKeyboard() {
    var hands = Hands()
    #expect(hands.take(.added(Self.capabilities(pointer: true)), from: 1) == [])
    #expect(hands.take(.added(Self.capabilities(keyboard: true)), from: 2) == [.keyboardAttached(true)])
    #expect(hands.take(.added(Self.capabilities(keyboard: true)), from: 3) == [])
    #expect(hands.take(.removed, from: 2) == [])
    #expect(hands.take(.removed, from: 3) == [.keyboardAttached(false)])
    #expect(hands.take(.removed, from: 3) == [])
  }

  @Test func whatIsDownOnADeviceThatGoesIsReleased() {
    var hands = Hands(callKeys: [f1])
    _ = hands.take(
      .added(Self.capabilities(keyboard: true, pointer: true, touch: true)), .key(code: letterA, isPressed: true),
      .key(code: f1, isPressed: true), .pointerButton(code: left, isPressed: true), .touchDown(slot: 4, x: 0, y: 0))
    #expect(
      hands.take(.removed) == [
        .input(.key(code: letterA, isPressed: false)), .input(.pointerButton(code: left, isPressed: false)), .input(.touchCancel(id: 4)),
        .keyboardAttached(false),
      ])
    // What libinput may still say about it is no news.
    #expect(hands.take(.key(code: letterA, isPressed: false), .touchUp(slot: 4)) == [])
  }

  @Test func keyHeldOnTwoKeyboardsIsReleasedWithTheSecond() {
    var hands = Hands()
    #expect(hands.inputs(.key(code: letterA, isPressed: true), from: 1) == [.key(code: letterA, isPressed: true)])
    #expect(hands.inputs(.key(code: letterA, isPressed: true), from: 2) == [])
    #expect(hands.inputs(.removed, from: 1) == [])
    #expect(hands.inputs(.key(code: letterA, isPressed: false), from: 2) == [.key(code: letterA, isPressed: false)])
  }

  @Test func fingerOfATouchScreenThatGoesNoLongerHoldsOthersBack() {
    var hands = Hands()
    hands.translator.isBlanked = true
    #expect(hands.take(.touchDown(slot: 0, x: 0, y: 0), from: 1) == [.wake])
    hands.translator.isBlanked = false
    #expect(hands.take(.removed, from: 1) == [])
    #expect(hands.take(.touchDown(slot: 1, x: 0, y: 0), from: 2) == [.input(.touchDown(id: 1, x: 0, y: 0))])
  }
}
