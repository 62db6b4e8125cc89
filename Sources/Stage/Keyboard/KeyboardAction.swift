/// What the on-screen keyboard does to whoever has the focus.
package enum KeyboardAction: Sendable, Equatable {
  /// Text is typed.
  case text(String)
  /// A key that types no text is pressed and let go, by its code in Linux's input event interface.
  case key(UInt32)
  /// The pointer has gone onto the keyboard, and is nobody else's until it leaves it.
  case pointerLeft
}
