extension Wayland {
  /// Which text field is typed into.
  struct TextFocus {
    /// Nil: none.
    weak var input: TextInput?
    /// How often a field began to be typed into.
    var count: UInt64 = 0
  }
}

extension Wayland.Seat {
  /// The field that is typed into; nil when there is none.
  var field: FocusedField? { textFocus.input?.field(activation: textFocus.count) }

  /// Remembers where a client was pressed.
  func notePress(on surface: Wayland.Surface, x: Double, y: Double) {
    surface.client.lastPress = Rectangle(x: Int(x), y: Int(y), width: 1, height: 1)
    surface.client.pressCount += 1
  }

  /// Tells a text input that was just made whether it has the focus.
  func welcome(_ input: Wayland.TextInput) {
    if let surface = keyboardFocus, surface.client === input.client { input.enter(surface) }
  }

  /// A field wants to be typed into. False when another one is, which comes first.
  func enable(_ input: Wayland.TextInput) -> Bool {
    guard textFocus.input == nil || textFocus.input === input else { return false }
    textFocus.input = input
    textFocus.count += 1
    return true
  }

  /// A field wants no more text.
  func disable(_ input: Wayland.TextInput) { if textFocus.input === input { textFocus.input = nil } }

  /// Types as an on-screen keyboard does: with keys, as real ones do.
  ///
  /// Pages see keys go down, and all comes in order: toolkits take the text of an input method at once, and keys only later.
  func handle(_ action: KeyboardAction) {
    switch action {
    case .text(let text):
      // A client that has no keyboard can still be given text.
      if let input = textFocus.input, input.client.keyboards.isEmpty { input.insert(text) } else { type(text) }
    case .key(let code):
      // One that a real keyboard holds down stays so.
      guard !keys.contains(code) else { return }
      for isPressed in [true, false] { pressKey(code, isPressed: isPressed) }
    case .pointerLeft: hidePointer()
    }
  }
}
