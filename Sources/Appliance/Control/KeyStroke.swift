/// A key of the keyboard, alone or with others held: what `parlor key` presses. Codes are those of Linux's input event interface.
struct KeyStroke: Equatable {
  /// Keys that are held meanwhile, in the order they go down.
  var held: [UInt32] = []
  /// The key.
  var key: UInt32

  private static let modifiers: [String: UInt32] = ["control": 29, "ctrl": 29, "shift": 42, "alt": 56, "altgr": 100, "super": 125]

  /// Names in lower case; of the names of one key, any will do.
  private static let keys: [String: UInt32] = {
    var keys: [String: UInt32] = [
      "escape": 1, "backspace": 14, "tab": 15, "enter": 28, "return": 28, "space": 57, "home": 102, "up": 103, "pageup": 104, "left": 105,
      "right": 106, "end": 107, "down": 108, "pagedown": 109, "insert": 110, "delete": 111, "minus": 12, "equal": 13, "comma": 51,
      "period": 52, "slash": 53, "f11": 87, "f12": 88,
    ]
    for (first, row) in [(UInt32(2), "1234567890"), (16, "qwertyuiop"), (30, "asdfghjkl"), (44, "zxcvbnm")] {
      for (index, letter) in row.enumerated() { keys[String(letter)] = first + UInt32(index) }
    }
    for number in 1...10 { keys["f\(number)"] = 58 + UInt32(number) }
    return keys
  }()

  /// Reads `Enter`, `F5`, `a`, or with held keys `Control+Shift+a`. Throws what would be right.
  init(_ text: String) throws(VerbFailure) {
    var names = text.lowercased().split(separator: "+", omittingEmptySubsequences: false).map(String.init)
    let last = names.removeLast()
    for name in names {
      guard let code = KeyStroke.modifiers[name] else { throw KeyStroke.unknown(name, text, KeyStroke.modifiers.keys.sorted()) }
      held.append(code)
    }
    guard let code = KeyStroke.keys[last] else { throw KeyStroke.unknown(last, text, KeyStroke.keys.keys.sorted()) }
    key = code
  }

  private static func unknown(_ name: String, _ text: String, _ names: [String]) -> VerbFailure {
    let nearest = NearestName.find(name, among: names).map { "did you mean \($0)?" }
    return VerbFailure(.usage, "\"\(text)\" is no key; " + (nearest ?? "accepted: " + names.joined(separator: ", ")))
  }

  /// Every key down and up: code and whether it goes down.
  var steps: [(code: UInt32, isPressed: Bool)] {
    (held + [key]).map { ($0, true) } + (held + [key]).reversed().map { ($0, false) }
  }
}
