import Base

/// The panels that wait, the one that is shown, and what is being done to it. Time and input go in; answers come out.
struct PanelDesk {
  /// An answer, and who waits for it.
  struct Reply {
    var answer: Panel.Answer
    var receiver: @Sendable (Panel.Answer) -> Void

    func deliver() { receiver(answer) }
  }

  private struct Entry {
    var panel: Panel
    var receiver: @Sendable (Panel.Answer) -> Void
  }

  /// What presses a part of the panel.
  private enum Presser: Equatable {
    case pointer
    case finger(Int32)
  }

  private struct Press {
    var presser: Presser
    var part: PanelLayout.Part
    var isInside = true
  }

  /// The first is shown.
  private var entries: [Entry] = []
  /// Where the shown panel's parts stand; nil until it was drawn. What nobody can see yet cannot be answered.
  private(set) var layout: PanelLayout?
  private var start: Instant?
  private var field = TextField()
  private var press: Press?
  /// How often a prompt's field was shown or touched.
  private var fieldCount: UInt64 = 0

  /// Where the pointer was moved to while the panel was shown.
  private(set) var pointer: (x: Double, y: Double)?
  private var lastPointer = (x: 0.0, y: 0.0)

  // What went down under a panel comes up for it, even when it is gone by then; what went down before belongs to the client.
  private var heldKeys: Set<UInt32> = []
  private var heldButtons: Set<UInt32> = []
  private var fingers: [Int32: (x: Double, y: Double)] = [:]

  /// What keys type; made when the first is pressed, and followed from then on, whoever gets the keys.
  private var keyboard: Wayland.Keymap?
  private let keyboardLayout: String

  /// More panels than a person would ever answer are answered at once.
  private static let limit = 64

  /// A desk without panels. `keyboardLayout` is XKB's name of what is printed on the keys.
  init(keyboardLayout: String) { self.keyboardLayout = keyboardLayout }

  /// Whether a panel is shown or about to be.
  var isBusy: Bool { !entries.isEmpty }

  // MARK: Panels

  /// Puts a panel behind those that wait. Returns the answer when too many do.
  mutating func add(_ panel: Panel, receiver: @escaping @Sendable (Panel.Answer) -> Void) -> Reply? {
    guard entries.count < PanelDesk.limit else { return Reply(answer: .dismissed, receiver: receiver) }
    entries.append(Entry(panel: panel, receiver: receiver))
    if entries.count == 1 { begin() }
    return nil
  }

  /// Takes all panels away.
  mutating func removeAll() -> [Reply] {
    defer {
      entries = []
      begin()
    }
    return entries.map { Reply(answer: .dismissed, receiver: $0.receiver) }
  }

  private mutating func begin() {
    (layout, start, press, pointer) = (nil, nil, nil, nil)
    field = TextField()
    if case .prompt(let text) = entries.first?.panel.kind {
      field = TextField(text)
      fieldCount += 1
    }
  }

  private mutating func answer(_ answer: Panel.Answer) -> Reply? {
    guard !entries.isEmpty else { return nil }
    let entry = entries.removeFirst()
    begin()
    return Reply(answer: answer, receiver: entry.receiver)
  }

  private mutating func accept() -> Reply? { answer(.accepted(text: isPrompt ? field.text : nil)) }

  private var isPrompt: Bool {
    if case .prompt = entries.first?.panel.kind { return true }
    return false
  }

  /// The field of the prompt that is shown. Its numbers are none that clients' fields have.
  var focusedField: FocusedField? { isPrompt ? FocusedField(activation: 1 << 63 | fieldCount) : nil }

  // MARK: Time

  /// Lets time pass: the countdown begins when the panel is first about to be shown. Returns the answer of a panel whose time is over.
  mutating func advance(to now: Instant) -> Reply? {
    guard let panel = entries.first?.panel else { return nil }
    let start = start ?? now
    self.start = start
    guard let countdown = panel.countdown, now - start >= .seconds(Double(max(0, countdown))) else { return nil }
    return answer(.dismissed)
  }

  /// What the screen is to show.
  func content(at now: Instant) -> PanelContent? {
    guard let panel = entries.first?.panel else { return nil }
    return PanelContent(
      panel: panel, secondsLeft: Stage.secondsLeft(of: panel.countdown, since: start, now: now), field: isPrompt ? field : nil,
      pressed: press.flatMap { $0.isInside ? $0.part : nil })
  }

  /// Says where the parts of the shown panel stand.
  mutating func drawn(_ layout: PanelLayout?) { self.layout = entries.isEmpty ? nil : layout }

  // MARK: Input

  /// Takes an event when it is the panel's, and says whether it was, and what it answered.
  mutating func input(_ event: StageInput) -> (isTaken: Bool, reply: Reply?) {
    if case .key(let code, let isPressed) = event { follow(key: code, isPressed: isPressed) }
    // Whoever does something is there, and gets the whole time again.
    if isBusy { start = nil }
    switch event {
    case .pointerMotion(let x, let y):
      lastPointer = (x, y)
      guard isBusy else { return (false, nil) }
      pointer = (x, y)
      move(.pointer, x, y)
      return (true, nil)
    case .pointerButton(let code, true):
      guard isBusy else { return (false, nil) }
      heldButtons.insert(code)
      if code == KeyCode.leftButton { press(.pointer, lastPointer.x, lastPointer.y) }
      return (true, nil)
    case .pointerButton(let code, false):
      guard heldButtons.remove(code) != nil else { return (false, nil) }
      return (true, code == KeyCode.leftButton ? release(.pointer) : nil)
    case .pointerAxis: return (isBusy, nil)
    case .touchDown(let id, let x, let y):
      guard isBusy else { return (false, nil) }
      fingers[id] = (x, y)
      press(.finger(id), x, y)
      return (true, nil)
    case .touchMotion(let id, let x, let y):
      guard fingers[id] != nil else { return (false, nil) }
      fingers[id] = (x, y)
      move(.finger(id), x, y)
      return (true, nil)
    case .touchUp(let id):
      guard fingers.removeValue(forKey: id) != nil else { return (false, nil) }
      return (true, release(.finger(id)))
    case .touchCancel(let id):
      guard fingers.removeValue(forKey: id) != nil else { return (false, nil) }
      if press?.presser == .finger(id) { press = nil }
      return (true, nil)
    case .key(let code, true):
      guard isBusy else { return (false, nil) }
      heldKeys.insert(code)
      return (true, layout == nil ? nil : type(code))
    case .key(let code, false): return (heldKeys.remove(code) != nil, nil)
    case .text(let text):
      guard isBusy else { return (false, nil) }
      if layout != nil && isPrompt { field.insert(text) }
      return (true, nil)
    }
  }

  /// Takes what the on-screen keyboard does, and says whether there was a panel for it, and what it answered.
  mutating func take(_ action: KeyboardAction) -> (isTaken: Bool, reply: Reply?) {
    guard isBusy else { return (false, nil) }
    start = nil
    guard layout != nil else { return (true, nil) }
    switch action {
    case .text(let text): if isPrompt { field.insert(text) }
    case .key(let code): return (true, type(code))
    case .pointerLeft: pointer = nil
    }
    return (true, nil)
  }

  private mutating func press(_ presser: Presser, _ x: Double, _ y: Double) {
    guard press == nil, let layout, let part = layout.part(x: x, y: y) else { return }
    if part == .field {
      field.moveCaret(to: layout.caret(at: x))
      fieldCount += 1
    }
    press = Press(presser: presser, part: part)
  }

  private mutating func move(_ presser: Presser, _ x: Double, _ y: Double) {
    guard let press, press.presser == presser else { return }
    self.press?.isInside = layout?.part(x: x, y: y) == press.part
  }

  private mutating func release(_ presser: Presser) -> Reply? {
    guard let press, press.presser == presser else { return nil }
    self.press = nil
    guard press.isInside else { return nil }
    switch press.part {
    case .accept: return accept()
    case .cancel: return answer(.cancelled)
    case .field: return nil
    }
  }

  private mutating func type(_ code: UInt32) -> Reply? {
    switch code {
    case KeyCode.enter, KeyCode.keypadEnter: return accept()
    case KeyCode.escape: return answer(.cancelled)
    case _ where !isPrompt: return nil
    case KeyCode.backspace: field.deleteBackward()
    case KeyCode.delete: field.deleteForward()
    case KeyCode.left: field.moveCaret(to: field.caret - 1)
    case KeyCode.right: field.moveCaret(to: field.caret + 1)
    case KeyCode.home: field.moveCaret(to: 0)
    case KeyCode.end: field.moveCaret(to: field.characters.count)
    default:
      if let text = keyboard?.text(key: code) { field.insert(text) }
    }
    return nil
  }

  /// Modifiers count also when they were pressed before the panel came.
  private mutating func follow(key code: UInt32, isPressed: Bool) {
    if keyboard == nil { keyboard = Wayland.Keymap(.layout(keyboardLayout)) ?? Wayland.Keymap(.layout("us")) }
    _ = keyboard?.update(key: code, isPressed: isPressed)
  }
}
