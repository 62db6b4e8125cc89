import Testing

@testable import Stage

@Suite struct KeyCodeTests {
  @Test(
    arguments: [
      (16, "q", "Q"), (50, "m", "M"), (2, "1", "!"), (11, "0", ")"), (13, "=", "+"), (26, "[", "{"), (40, "'", "\""), (41, "`", "~"),
      (43, "\\", "|"), (53, "/", "?"), (57, " ", " "),
    ] as [(UInt32, Character, Character)])
  func keysTypeWhatAUSKeyboardSays(code: UInt32, plain: Character, shifted: Character) {
    #expect(KeyCode.character(code, isShifted: false, isCapsLocked: false) == plain)
    #expect(KeyCode.character(code, isShifted: true, isCapsLocked: false) == shifted)
    // The lock turns letters over, and only letters.
    #expect(KeyCode.character(code, isShifted: false, isCapsLocked: true) == (plain.isLetter ? shifted : plain))
    #expect(KeyCode.character(code, isShifted: true, isCapsLocked: true) == (plain.isLetter ? plain : shifted))
  }

  @Test func otherKeysTypeNothing() {
    for code in [0, 1, 14, 15, 28, 29, 42, 54, 56, 58, 59, 102, 105, 125, 240, 0x110, .max] as [UInt32] {
      #expect(KeyCode.character(code, isShifted: false, isCapsLocked: false) == nil)
    }
  }
}
