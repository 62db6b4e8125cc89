import Base

/// A keyboard on the screen, for boxes that have none: what is focused, what a person does and time go in; what is typed comes out.
///
/// Keys act when they are pressed. Each finger presses a key of its own.
struct OnScreenKeyboard {
  /// Whether letters are capitals.
  enum Shift { case off, once, locked }

  /// What presses a key.
  private enum Presser: Hashable {
    case pointer
    case finger(Int32)
  }

  /// How long backspace is held until it is repeated, and how long between two repetitions.
  static let repeatDelay = Interval.milliseconds(500)
  static let repeatInterval = Interval.milliseconds(60)
  /// How long a program has to take the focus from a field that was pressed, or rather something else was.
  static let returnDelay = Interval.milliseconds(250)

  private var screen: Rectangle
  private var language: KeyboardLanguage
  private var isKeyboardAttached: Bool
  private var field: FocusedField?
  /// Whether the keyboard is off the screen for the time being: the person put it away, or nobody has touched the program yet.
  private var isPutAway = false
  /// Whether somebody asks for it again, and from when on it is granted.
  private var isAskedFor = false
  private var returnTime: Instant?
  /// Where the person pressed and the caret was said to be, maybe still in the field before, when the keyboard was asked for.
  private var first: (press: Rectangle?, caret: Rectangle?)

  private var page = KeyboardLayout.Page.letters
  private var shift = Shift.off
  private var isAtTop = false
  /// Where the keys stand; nil while there is no keyboard on the screen.
  private(set) var plan: KeyboardPlan?
  /// What it looks like; nil while there is none.
  private(set) var picture: KeyboardPicture?
  private var pressed: [Presser: KeyboardLayout.Key] = [:]

  // What went down on the keyboard comes up for it, even when it is gone by then; what went down elsewhere belongs there.
  private var fingers: Set<Int32> = []
  private var heldButtons: Set<UInt32> = []
  private var otherButtons: Set<UInt32> = []
  private var lastPointer: (x: Double, y: Double)?
  /// Where the pointer is while it is on the keyboard.
  private(set) var pointer: (x: Double, y: Double)?

  private var repeating: Presser?
  private var nextRepeat: Instant?

  /// A keyboard that is not on the screen yet. `isKeyboardAttached` says whether there is a real one, which makes this one needless.
  init(screen: Rectangle, language: KeyboardLanguage, isKeyboardAttached: Bool) {
    (self.screen, self.language, self.isKeyboardAttached) = (screen, language, isKeyboardAttached)
  }

  // MARK: What there is to type into

  /// A real keyboard came or went.
  mutating func setKeyboardAttached(_ isAttached: Bool) {
    guard isAttached != isKeyboardAttached else { return }
    isKeyboardAttached = isAttached
    isPutAway = false
    update()
  }

  /// Other letters stand on the keys.
  mutating func setLanguage(_ new: KeyboardLanguage) {
    guard new != language else { return }
    language = new
    update()
  }

  /// The screen has another size.
  mutating func setScreen(_ new: Rectangle) {
    guard new != screen else { return }
    screen = new
    letGo()
    isAtTop = false
    update()
  }

  /// Another field has the focus, or the same one in another state; nil: none.
  mutating func setField(_ new: FocusedField?) {
    guard new != field else { return }
    let old = field
    field = new
    if let new {
      let isOther = old?.activation != new.activation
      if isOther || old?.purpose != new.purpose {
        page = KeyboardLayout.firstPage(for: new.purpose)
        shift = new.hints.contains(.uppercase) ? .locked : .off
      }
      if isOther {
        // A page may focus a field where nobody is.
        isPutAway = new.pressCount == 0
        begin(new)
      } else if isPutAway, old?.pressCount != new.pressCount {
        // Who presses it wants to type, unless that takes the focus away. Not every program enables its field again.
        (isAskedFor, returnTime) = (true, nil)
      }
      // Only as a sentence begins: who wants a small letter there takes the shift back.
      let isSentenceNew = new.isAtSentenceStart && (isOther || old?.isAtSentenceStart == false)
      if isSentenceNew, shift == .off, new.hints.contains(.autoCapitalization) { shift = .once }
    } else {
      isAskedFor = false
    }
    update()
  }

  private mutating func begin(_ field: FocusedField) {
    (isAskedFor, isAtTop, first) = (false, false, (field.press, field.caret))
  }

  /// Brings the keyboard to where it belongs, or off the screen.
  private mutating func update() {
    guard let field, !isPutAway, !isKeyboardAttached else {
      letGo()
      (plan, pointer, picture) = (nil, nil, nil)
      return
    }
    let layout = KeyboardLayout.page(page, language: language, purpose: field.purpose)
    func makePlan(isAtTop: Bool) -> KeyboardPlan { KeyboardPlan(layout, screen: screen, isAtTop: isAtTop) }
    var new = makePlan(isAtTop: isAtTop)
    // Web engines tell late where the caret is.
    let place = field.caret == first.caret ? first.press ?? field.caret : field.caret
    if let place, pressed.isEmpty, hides(new, place) {
      let other = makePlan(isAtTop: !isAtTop)
      if !hides(other, place) {
        isAtTop.toggle()
        new = other
      }
    }
    plan = new
    picture = OnScreenKeyboard.picture(new, pressed: Set(pressed.values), shift: shift, isSecret: field.isSecret)
  }

  /// Whether what is typed at a place cannot be seen, or barely.
  private func hides(_ plan: KeyboardPlan, _ place: Rectangle) -> Bool {
    let margin = screen.height / 40
    return plan.area.overlaps(
      Rectangle(x: place.x, y: place.y - margin, width: max(1, place.width), height: max(1, place.height) + 2 * margin))
  }

  private mutating func letGo() {
    pressed.removeAll()
    (repeating, nextRepeat) = (nil, nil)
  }

  // MARK: Time

  /// When `advance` has something to do next.
  var deadline: Instant? { [nextRepeat, isAskedFor ? returnTime : nil].compactMap { $0 }.min() }

  /// Lets time pass: a key that is held is repeated, from the first call after it went down.
  mutating func advance(to now: Instant) -> [KeyboardAction] {
    if isAskedFor, let field {
      let due = returnTime ?? now + OnScreenKeyboard.returnDelay
      returnTime = due
      if now >= due {
        isPutAway = false
        begin(field)
        update()
      }
    }
    guard repeating != nil else { return [] }
    guard let due = nextRepeat else {
      nextRepeat = now + OnScreenKeyboard.repeatDelay
      return []
    }
    guard now >= due else { return [] }
    // A machine that was held up does not make up for what it missed.
    nextRepeat = now + OnScreenKeyboard.repeatInterval
    return [.key(KeyCode.backspace)]
  }

  // MARK: Input

  /// Takes an event when it is the keyboard's, and says whether it was, and what comes of it.
  mutating func input(_ event: StageInput) -> (isTaken: Bool, actions: [KeyboardAction]) {
    switch event {
    case .pointerMotion(let x, let y):
      lastPointer = (x, y)
      return (isOnKeyboard(x, y), movePointer())
    case .pointerButton(let code, true):
      let actions = movePointer()
      guard let pointer else {
        otherButtons.insert(code)
        return (false, [])
      }
      heldButtons.insert(code)
      return (true, actions + (code == KeyCode.leftButton ? press(.pointer, pointer.x, pointer.y) : []))
    case .pointerButton(let code, false):
      otherButtons.remove(code)
      guard heldButtons.remove(code) != nil else { return (false, []) }
      if code == KeyCode.leftButton { release(.pointer) }
      return (true, movePointer())
    case .pointerAxis: return (pointer != nil, [])
    case .touchDown(let id, let x, let y):
      guard plan?.covers(x, y) ?? false else { return (false, []) }
      fingers.insert(id)
      return (true, press(.finger(id), x, y))
    case .touchMotion(let id, let x, let y):
      guard fingers.contains(id) else { return (false, []) }
      if repeating == .finger(id), plan?.key(x, y)?.key != .backspace { (repeating, nextRepeat) = (nil, nil) }
      return (true, [])
    case .touchUp(let id), .touchCancel(let id):
      guard fingers.remove(id) != nil else { return (false, []) }
      release(.finger(id))
      return (true, [])
    case .key, .text: return (false, [])
    }
  }

  /// Whether a pointer at this point is the keyboard's: it stays with whom a button was pressed on.
  private func isOnKeyboard(_ x: Double, _ y: Double) -> Bool {
    !heldButtons.isEmpty || (otherButtons.isEmpty && plan?.covers(x, y) ?? false)
  }

  private mutating func movePointer() -> [KeyboardAction] {
    guard let place = lastPointer, isOnKeyboard(place.x, place.y), plan != nil else {
      pointer = nil
      return []
    }
    let isNew = pointer == nil
    pointer = place
    if repeating == .pointer, plan?.key(place.x, place.y)?.key != .backspace { (repeating, nextRepeat) = (nil, nil) }
    return isNew ? [.pointerLeft] : []
  }

  private mutating func press(_ presser: Presser, _ x: Double, _ y: Double) -> [KeyboardAction] {
    guard let key = plan?.key(x, y)?.key else { return [] }
    pressed[presser] = key
    var actions: [KeyboardAction] = []
    switch key {
    case .text, .space:
      actions = key.text(isShifted: shift != .off).map { [.text($0)] } ?? []
      if shift == .once { shift = .off }
    case .enter: actions = [.key(KeyCode.enter)]
    case .backspace:
      actions = [.key(KeyCode.backspace)]
      (repeating, nextRepeat) = (presser, nil)
    case .shift: shift = shift == .off ? .once : shift == .once ? .locked : .off
    case .page(let new): (page, shift) = (new, .off)
    case .hide: isPutAway = true
    case .none: break
    }
    update()
    return actions
  }

  private mutating func release(_ presser: Presser) {
    pressed[presser] = nil
    if repeating == presser { (repeating, nextRepeat) = (nil, nil) }
    // The caret may have moved under the keyboard meanwhile.
    update()
  }

  // MARK: Picture

  private static func picture(_ plan: KeyboardPlan, pressed: Set<KeyboardLayout.Key>, shift: Shift, isSecret: Bool) -> KeyboardPicture {
    KeyboardPicture(
      area: plan.area,
      caps: plan.keys.map { placed in
        let isText = placed.key.text(isShifted: false) != nil
        return KeyboardPicture.Cap(
          face: placed.face, label: placed.key.label(isShifted: shift != .off), isText: isText,
          // Of what is secret, no key that is pressed is shown to those who watch.
          isPressed: pressed.contains(placed.key) && !(isText && isSecret), isOn: placed.key == .shift && shift != .off,
          isLocked: placed.key == .shift && shift == .locked)
      })
  }
}
