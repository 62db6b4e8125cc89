/// Keys by their codes in Linux's input event interface (`linux/input-event-codes.h`), and what they type on a US keyboard.
enum KeyCode {
  static let escape: UInt32 = 1
  static let backspace: UInt32 = 14
  static let enter: UInt32 = 28
  static let leftControl: UInt32 = 29
  static let leftShift: UInt32 = 42
  static let rightShift: UInt32 = 54
  static let leftAlt: UInt32 = 56
  static let capsLock: UInt32 = 58
  static let keypadEnter: UInt32 = 96
  static let rightControl: UInt32 = 97
  static let rightAlt: UInt32 = 100
  static let home: UInt32 = 102
  static let left: UInt32 = 105
  static let right: UInt32 = 106
  static let end: UInt32 = 107
  static let delete: UInt32 = 111
  static let leftMeta: UInt32 = 125
  static let rightMeta: UInt32 = 126

  /// The left button of a pointer.
  static let leftButton: UInt32 = 0x110

  /// Rows of keys: the code of the first, and what each types without and with Shift.
  private static let rows: [(first: UInt32, plain: [Character], shifted: [Character])] = [
    (2, Array("1234567890-="), Array("!@#$%^&*()_+")),
    (16, Array("qwertyuiop[]"), Array("QWERTYUIOP{}")),
    (30, Array("asdfghjkl;'`"), Array("ASDFGHJKL:\"~")),
    (43, Array("\\zxcvbnm,./"), Array("|ZXCVBNM<>?")),
    (57, [" "], [" "]),
  ]

  /// Of the keypad, with its lock on.
  private static let keypad: [UInt32: Character] = [
    55: "*", 71: "7", 72: "8", 73: "9", 74: "-", 75: "4", 76: "5", 77: "6", 78: "+", 79: "1", 80: "2", 81: "3", 82: "0", 83: ".", 98: "/",
  ]

  /// What a key types; nil for one that types nothing.
  static func character(_ code: UInt32, isShifted: Bool, isCapsLocked: Bool) -> Character? {
    for row in rows where code >= row.first && code - row.first < UInt32(row.plain.count) {
      let index = Int(code - row.first)
      // The lock is for letters alone.
      return (row.plain[index].isLetter && isCapsLocked) != isShifted ? row.shifted[index] : row.plain[index]
    }
    return keypad[code]
  }
}
