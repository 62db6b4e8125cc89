import Testing

@testable import Stage

@Suite struct TextFieldTests {
  @Test func textIsInsertedAtTheCaret() {
    var field = TextField("ac")
    #expect(field.caret == 2)
    field.moveCaret(to: 1)
    field.insert("b")
    #expect(field.text == "abc" && field.caret == 2)
    field.deleteForward()
    #expect(field.text == "ab" && field.caret == 2)
    field.deleteBackward()
    #expect(field.text == "a" && field.caret == 1)
  }

  @Test func endsAreEnds() {
    var field = TextField()
    field.deleteBackward()
    field.deleteForward()
    field.moveCaret(to: -5)
    #expect(field.text.isEmpty && field.caret == 0)
    field.insert("x")
    field.moveCaret(to: 99)
    #expect(field.caret == 1)
  }

  @Test func charactersOfSeveralScalarsAreOne() {
    var field = TextField("e\u{301}👨‍👩‍👧")
    #expect(field.characters.count == 2)
    field.deleteBackward()
    #expect(field.text == "e\u{301}")
  }

  @Test func controlCharactersAndLineBreaksStayOut() {
    #expect(TextField("a\nb\r\nc\u{0}d\te\u{2028}f\u{1b}").text == "abcdef")
  }

  @Test func lengthIsLimited() {
    var field = TextField(String(repeating: "x", count: 5_000))
    #expect(field.characters.count == 1_000)
    field.insert("y")
    #expect(field.characters.count == 1_000 && !field.text.contains("y"))
  }
}
