import CEvdev

/// Keys and buttons by the names that Linux has for them (`linux/input-event-codes.h`).
enum InputKey {
  /// Codes that name a key.
  static let codes = 1...0x2ff

  /// The code of `KEY_F1`, `BTN_0` or the like; nil when there is no such key.
  static func code(of name: String) -> UInt32? {
    let code = unsafe libevdev_event_code_from_name(UInt32(EV_KEY), name)
    return codes.contains(Int(code)) ? UInt32(code) : nil
  }

  /// The names of all keys.
  static var names: [String] {
    codes.compactMap { unsafe libevdev_event_code_get_name(UInt32(EV_KEY), UInt32($0)).map { unsafe String(cString: $0) } }
  }
}
