/// One line of text that is being typed, and where in it.
struct TextField: Equatable {
  /// What stands in it.
  private(set) var characters: [Character] = []
  /// Before which character the next is inserted: 0 to the number of characters.
  private(set) var caret = 0

  /// More is not taken.
  private static let limit = 1_000

  /// A field with this text, the caret at its end.
  init(_ text: String = "") {
    insert(text)
  }

  /// What stands in the field.
  var text: String { String(characters) }

  /// Inserts text at the caret; control characters, line breaks among them, have no place in a line.
  mutating func insert(_ text: String) {
    let room = TextField.limit - characters.count
    let new = text.filter { !$0.isNewline && $0.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control } }.prefix(room)
    characters.insert(contentsOf: new, at: caret)
    caret += new.count
  }

  /// Takes away the character before the caret.
  mutating func deleteBackward() {
    guard caret > 0 else { return }
    caret -= 1
    characters.remove(at: caret)
  }

  /// Takes away the character behind the caret.
  mutating func deleteForward() {
    if caret < characters.count { characters.remove(at: caret) }
  }

  /// Puts the caret before the given character, or at the nearest end.
  mutating func moveCaret(to index: Int) { caret = min(max(0, index), characters.count) }
}
