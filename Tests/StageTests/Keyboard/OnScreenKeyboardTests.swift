import Base
import Testing

@testable import Stage

@Suite struct OnScreenKeyboardTests {
  private static let screen = Rectangle(x: 0, y: 0, width: 640, height: 360)

  /// A keyboard that is used with fingers and a pointer.
  private final class Desk {
    var keyboard: OnScreenKeyboard
    var actions: [KeyboardAction] = []
    private var finger: Int32 = 100

    init(language: KeyboardLanguage = .english, _ field: FocusedField? = FocusedField(activation: 1)) {
      keyboard = OnScreenKeyboard(screen: OnScreenKeyboardTests.screen, language: language, isKeyboardAttached: false)
      keyboard.setField(field)
    }

    /// The middle of a key.
    func place(_ key: KeyboardLayout.Key) -> (x: Double, y: Double)? {
      guard let cell = keyboard.plan?.keys.first(where: { $0.key == key })?.cell else { return nil }
      return (Double(cell.x) + Double(cell.width) / 2, Double(cell.y) + Double(cell.height) / 2)
    }

    @discardableResult func send(_ event: StageInput) -> Bool {
      let (isTaken, new) = keyboard.input(event)
      actions += new
      return isTaken
    }

    func down(_ key: KeyboardLayout.Key, finger: Int32) {
      guard let place = place(key) else {
        Issue.record("there is no key \(key)")
        return
      }
      #expect(send(.touchDown(id: finger, x: place.x, y: place.y)))
    }

    func tap(_ keys: KeyboardLayout.Key...) {
      for key in keys {
        finger += 1
        down(key, finger: finger)
        #expect(send(.touchUp(id: finger)))
      }
    }

    func tap(_ text: String) { for character in text { tap(.text(String(character))) } }

    func taken() -> [KeyboardAction] {
      defer { actions = [] }
      return actions
    }

    /// What was typed, keys left out.
    func typed() -> String {
      taken().map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }

    func advance(to milliseconds: Int64) -> [KeyboardAction] { keyboard.advance(to: Desk.at(milliseconds)) }

    static func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    func cap(_ label: String) -> KeyboardPicture.Cap? { keyboard.picture?.caps.first { $0.label == label } }
  }

  @Test func isThereForAFieldAndNoKeyboard() {
    let desk = Desk(nil)
    #expect(desk.keyboard.plan == nil && desk.keyboard.picture == nil)
    desk.keyboard.setField(FocusedField(activation: 1))
    #expect(desk.keyboard.plan != nil)
    desk.keyboard.setKeyboardAttached(true)
    #expect(desk.keyboard.plan == nil && !desk.send(.touchDown(id: 1, x: 320, y: 350)))
    desk.keyboard.setKeyboardAttached(false)
    #expect(desk.keyboard.plan != nil)
    desk.keyboard.setField(nil)
    #expect(desk.keyboard.plan == nil)
  }

  @Test func fingersType() {
    let desk = Desk()
    desk.tap("hi")
    desk.tap(.space)
    desk.tap("you")
    #expect(desk.typed() == "hi you")
    desk.tap(.backspace, .enter)
    #expect(desk.taken() == [.key(14), .key(28)])
    // Beside the keyboard nothing is taken.
    #expect(!desk.send(.touchDown(id: 1, x: 320, y: 10)) && !desk.send(.touchMotion(id: 1, x: 320, y: 350)) && !desk.send(.touchUp(id: 1)))
    // Between keys, what is done there is nobody else's.
    #expect(desk.send(.touchDown(id: 1, x: 320, y: 359)) && desk.send(.touchUp(id: 1)) && desk.taken() == [])
    #expect(!desk.send(.key(code: 30, isPressed: true)) && !desk.send(.text("x")))
  }

  @Test func eachFingerPressesItsOwnKey() {
    let desk = Desk()
    desk.down(.text("a"), finger: 1)
    desk.down(.text("b"), finger: 2)
    #expect(desk.typed() == "ab" && desk.cap("a")?.isPressed == true && desk.cap("b")?.isPressed == true)
    #expect(desk.send(.touchUp(id: 1)) && desk.cap("a")?.isPressed == false && desk.cap("b")?.isPressed == true)
    // A finger that slides away has pressed what it pressed, and is nobody else's.
    #expect(desk.send(.touchMotion(id: 2, x: 10, y: 10)) && desk.send(.touchUp(id: 2)))
    #expect(desk.typed() == "" && desk.cap("b")?.isPressed == false)
  }

  @Test func shiftIsForOneLetterOrForAll() {
    let desk = Desk()
    desk.tap(.shift)
    #expect(desk.cap("Q") != nil && desk.cap("⇧")?.isOn == true && desk.cap("⇧")?.isLocked == false)
    desk.tap("ab")
    #expect(desk.typed() == "Ab")
    desk.tap(.shift, .shift)
    #expect(desk.cap("⇧")?.isLocked == true)
    desk.tap("ab")
    desk.tap(.shift)
    desk.tap("ab")
    #expect(desk.typed() == "ABab")
  }

  @Test func umlautsAreReached() {
    let german = Desk(language: .german)
    german.tap("grüße")
    german.tap(.shift)
    german.tap("ä")
    german.tap(.shift)
    german.tap("ß")
    #expect(german.typed() == "grüßeÄß")
    let english = Desk()
    english.tap(.page(.symbols), .page(.accents), .shift)
    english.tap("üß")
    english.tap(.page(.letters))
    english.tap("a")
    #expect(english.typed() == "Üßa")
  }

  @Test func backspaceRepeatsWhileItIsHeld() {
    let desk = Desk()
    desk.down(.backspace, finger: 1)
    #expect(desk.taken() == [.key(14)] && desk.keyboard.deadline == nil)
    #expect(desk.advance(to: 0) == [] && desk.keyboard.deadline == Desk.at(500))
    #expect(desk.advance(to: 499) == [])
    #expect(desk.advance(to: 500) == [.key(14)] && desk.keyboard.deadline == Desk.at(560))
    #expect(desk.advance(to: 560) == [.key(14)])
    // What was missed is not made up for.
    #expect(desk.advance(to: 5_000) == [.key(14)] && desk.advance(to: 5_001) == [])
    // Another finger types meanwhile; the one that slides off repeats no more.
    desk.tap("a")
    #expect(desk.advance(to: 5_060) == [.key(14)])
    desk.send(.touchMotion(id: 1, x: 10, y: 10))
    #expect(desk.keyboard.deadline == nil && desk.advance(to: 9_000) == [])
    desk.send(.touchUp(id: 1))
    // Nor does one that is lifted, nor a key that types.
    desk.down(.backspace, finger: 2)
    _ = desk.advance(to: 9_000)
    desk.send(.touchUp(id: 2))
    #expect(desk.advance(to: 19_000) == [])
    desk.down(.text("x"), finger: 3)
    #expect(desk.advance(to: 20_000) == [] && desk.keyboard.deadline == nil)
    // Nor when the field is gone under the finger.
    desk.down(.backspace, finger: 4)
    _ = desk.advance(to: 20_000)
    desk.keyboard.setField(nil)
    #expect(desk.keyboard.deadline == nil && desk.advance(to: 30_000) == [] && desk.send(.touchUp(id: 4)))
  }

  @Test func purposeDecidesOnTheFirstPage() {
    for (purpose, key) in [
      (FocusedField.Purpose.phone, KeyboardLayout.Key.text("#")), (.number, .text("-")), (.pin, .text("7")), (.email, .text("@")),
      (.password, .text("q")), (.datetime, .text(":")),
    ] {
      #expect(Desk(FocusedField(activation: 1, purpose: purpose)).place(key) != nil, "\(purpose)")
    }
    // Some programs say what it is for only after it got the focus.
    let late = Desk()
    late.keyboard.setField(FocusedField(activation: 1, purpose: .phone))
    #expect(late.place(.text("#")) != nil && late.place(.text("q")) == nil)
    // The next field begins anew.
    let desk = Desk()
    desk.tap(.page(.symbols))
    desk.keyboard.setField(FocusedField(activation: 1, caret: Rectangle(x: 0, y: 0, width: 1, height: 9)))
    #expect(desk.place(.text("#")) != nil)
    desk.keyboard.setField(FocusedField(activation: 2))
    #expect(desk.place(.text("q")) != nil)
  }

  @Test func keyboardThatWasPutAwayComesWithTheNextTouchOfAField() {
    let desk = Desk()
    desk.down(.hide, finger: 1)
    #expect(desk.keyboard.plan == nil)
    // The finger is still the keyboard's.
    #expect(desk.send(.touchMotion(id: 1, x: 300, y: 10)) && desk.send(.touchUp(id: 1)))
    desk.keyboard.setField(FocusedField(activation: 1, caret: Rectangle(x: 5, y: 5, width: 1, height: 9)))
    #expect(desk.keyboard.plan == nil && desk.advance(to: 0) == [] && desk.keyboard.deadline == nil)
    desk.keyboard.setField(FocusedField(activation: 2))
    #expect(desk.keyboard.plan != nil)
    // The same field was pressed, as far as can be told.
    desk.tap(.hide)
    let low = Rectangle(x: 100, y: 300, width: 1, height: 1)
    desk.keyboard.setField(FocusedField(activation: 2, press: low, pressCount: 2))
    #expect(desk.advance(to: 1_000) == [] && desk.keyboard.deadline == Desk.at(1_250) && desk.keyboard.plan == nil)
    #expect(desk.advance(to: 1_250) == [] && desk.keyboard.plan?.area.y == 0 && desk.keyboard.deadline == nil)
    // What was pressed took the focus away.
    desk.tap(.hide)
    desk.keyboard.setField(FocusedField(activation: 2, press: low, pressCount: 3))
    _ = desk.advance(to: 2_000)
    desk.keyboard.setField(nil)
    #expect(desk.advance(to: 3_000) == [] && desk.keyboard.plan == nil && desk.keyboard.deadline == nil)
  }

  @Test func fieldOfAPageThatNobodyTouchedDoesNotBringItUp() {
    let desk = Desk(FocusedField(activation: 1, pressCount: 0))
    #expect(desk.keyboard.plan == nil)
    desk.keyboard.setField(FocusedField(activation: 1, pressCount: 1))
    _ = (desk.advance(to: 0), desk.advance(to: 250))
    #expect(desk.keyboard.plan != nil)
  }

  @Test func fieldStaysInSight() throws {
    let desk = Desk(FocusedField(activation: 1, caret: Rectangle(x: 100, y: 300, width: 1, height: 20)))
    #expect(desk.keyboard.plan?.area.y == 0)
    // It stays where it is as long as it hides nothing.
    desk.keyboard.setField(FocusedField(activation: 1, caret: Rectangle(x: 100, y: 200, width: 1, height: 20)))
    #expect(desk.keyboard.plan?.area.y == 0)
    // The caret moves under it, while a finger is on it: then it waits.
    desk.down(.text("a"), finger: 1)
    desk.keyboard.setField(FocusedField(activation: 1, caret: Rectangle(x: 100, y: 20, width: 1, height: 20)))
    #expect(desk.keyboard.plan?.area.y == 0)
    desk.send(.touchUp(id: 1))
    let area = try #require(desk.keyboard.plan?.area)
    #expect(area.y > 180 && area.y + area.height == 360)
    // A caret as tall as the screen is hidden anyway.
    desk.keyboard.setField(FocusedField(activation: 1, caret: Rectangle(x: 100, y: 0, width: 1, height: 360)))
    #expect(desk.keyboard.plan?.area == area)
    // Where the caret was in the field before says nothing; where the finger was does, until the caret moves.
    let (stale, finger) = (Rectangle(x: 9, y: 9, width: 1, height: 9), Rectangle(x: 100, y: 320, width: 1, height: 1))
    desk.keyboard.setField(FocusedField(activation: 2, caret: stale, press: finger))
    #expect(desk.keyboard.plan?.area.y == 0)
    desk.keyboard.setField(FocusedField(activation: 2, caret: Rectangle(x: 9, y: 30, width: 1, height: 9), press: finger))
    #expect(desk.keyboard.plan?.area == area)
    // On another screen, all is found anew.
    desk.keyboard.setScreen(Rectangle(x: 0, y: 0, width: 360, height: 640))
    #expect(desk.keyboard.plan.map { $0.area.width == 360 && $0.area.y + $0.area.height == 640 } ?? false)
  }

  @Test func sentencesBeginWithCapitals() {
    let desk = Desk(FocusedField(activation: 1, hints: .autoCapitalization, isAtSentenceStart: true))
    desk.tap("a")
    #expect(desk.typed() == "A")
    desk.keyboard.setField(FocusedField(activation: 1, hints: .autoCapitalization))
    desk.tap("b")
    desk.keyboard.setField(FocusedField(activation: 1, hints: .autoCapitalization, isAtSentenceStart: true))
    // Whoever wants a small letter takes the shift back.
    desk.tap(.shift, .shift)
    desk.tap("c")
    #expect(desk.typed() == "bc")
    desk.keyboard.setField(FocusedField(activation: 2, isAtSentenceStart: true))
    desk.tap("d")
    desk.keyboard.setField(FocusedField(activation: 3, hints: .uppercase))
    desk.tap("ef")
    #expect(desk.typed() == "dEF")
  }

  @Test func secretsAreNotShown() {
    for field in [FocusedField(activation: 1, purpose: .password), FocusedField(activation: 1, hints: .hiddenText)] {
      let desk = Desk(field)
      let before = desk.keyboard.picture
      desk.down(.text("k"), finger: 1)
      #expect(desk.keyboard.picture == before && desk.typed() == "k")
      desk.down(.backspace, finger: 2)
      #expect(desk.cap("⌫")?.isPressed == true)
    }
  }

  @Test func pointerTypesAndIsNobodyElsesMeanwhile() throws {
    let desk = Desk()
    let key = try #require(desk.place(.text("m")))
    #expect(!desk.send(.pointerMotion(x: 10, y: 10)) && desk.keyboard.pointer == nil)
    #expect(desk.send(.pointerMotion(x: key.x, y: key.y)) && desk.keyboard.pointer?.x == key.x)
    #expect(desk.taken() == [.pointerLeft])
    #expect(desk.send(.pointerButton(code: 0x110, isPressed: true)) && desk.send(.pointerAxis(horizontal: 0, vertical: 5)))
    // The button keeps it.
    #expect(desk.send(.pointerMotion(x: 10, y: 10)) && desk.send(.pointerButton(code: 0x110, isPressed: false)))
    #expect(desk.taken() == [.text("m")] && desk.keyboard.pointer == nil)
    #expect(!desk.send(.pointerMotion(x: 11, y: 10)))
    // What was pressed elsewhere stays there.
    #expect(!desk.send(.pointerButton(code: 0x110, isPressed: true)) && !desk.send(.pointerMotion(x: key.x, y: key.y)))
    #expect(!desk.send(.pointerButton(code: 0x110, isPressed: false)) && desk.taken() == [])
    // The keyboard comes up under a pointer that rests.
    desk.keyboard.setField(nil)
    #expect(!desk.send(.pointerMotion(x: key.x, y: key.y)))
    desk.keyboard.setField(FocusedField(activation: 2))
    #expect(desk.send(.pointerButton(code: 0x110, isPressed: true)) && desk.taken() == [.pointerLeft, .text("m")])
    // And goes under one that is held.
    desk.keyboard.setField(nil)
    #expect(desk.keyboard.pointer == nil && desk.send(.pointerButton(code: 0x110, isPressed: false)))
    #expect(!desk.send(.pointerButton(code: 0x110, isPressed: true)))
  }

  @Test func nonsenseIsNowhere() {
    let desk = Desk()
    #expect(!desk.send(.touchDown(id: 1, x: .nan, y: 350)) && !desk.send(.touchDown(id: 2, x: 1e300, y: 350)))
    #expect(!desk.send(.pointerMotion(x: .nan, y: .infinity)))
  }
}
