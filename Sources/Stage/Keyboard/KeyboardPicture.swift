/// What an on-screen keyboard looks like at the moment.
struct KeyboardPicture: Equatable {
  /// A key as it is drawn.
  struct Cap: Equatable {
    var face: Rectangle
    var label: String
    /// Whether it types text; the others are drawn darker.
    var isText: Bool
    var isPressed = false
    /// Whether what it switches is on.
    var isOn = false
    /// Whether that stays on.
    var isLocked = false
  }

  /// All that the keyboard covers.
  var area: Rectangle
  var caps: [Cap]
}
