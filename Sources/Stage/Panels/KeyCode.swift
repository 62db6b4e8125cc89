/// Keys that edit and answer, and a pointer's button, by their codes in Linux's input event interface (`linux/input-event-codes.h`).
enum KeyCode {
  static let escape: UInt32 = 1
  static let backspace: UInt32 = 14
  static let enter: UInt32 = 28
  static let keypadEnter: UInt32 = 96
  static let home: UInt32 = 102
  static let left: UInt32 = 105
  static let right: UInt32 = 106
  static let end: UInt32 = 107
  static let delete: UInt32 = 111

  /// The left button of a pointer.
  static let leftButton: UInt32 = 0x110
}
