/// What makes a USB stick one that this box takes its configuration from: the same file that lay beside its first one.
enum ProvisioningKey {
  /// The file's name.
  static let file = "provisioning.key"
  /// What is shorter can be guessed.
  static let shortest = 16

  /// Whether `stick` may set up a box that runs with `current`; nil: it never was set up, and takes any.
  static func admits(_ stick: ConfigurationSet, to current: ConfigurationSet?) -> Bool {
    guard let current else { return true }
    guard let key = current.files[file].map(trimmed), key.count >= shortest, let shown = stick.files[file].map(trimmed) else {
      return false
    }
    return key == shown
  }

  /// Editors end a file with a line's end, or do not.
  private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    let end = bytes.lastIndex { $0 > 32 }.map { $0 + 1 } ?? 0
    return bytes[..<end]
  }
}
