/// A key file as GLib reads it (Desktop Entry Specification, with GKeyFile's escapes), which is how NetworkManager keeps connections.
struct KeyFile {
  private(set) var text = ""

  /// Begins a group.
  mutating func group(_ name: String) { text += (text.isEmpty ? "" : "\n") + "[\(name)]\n" }

  /// Adds a text.
  mutating func set(_ key: String, _ value: String) { text += "\(key)=\(KeyFile.escaped(value))\n" }

  /// Adds a whole number.
  mutating func set(_ key: String, _ value: Int) { set(key, "\(value)") }

  /// Adds true or false.
  mutating func set(_ key: String, _ value: Bool) { set(key, value ? "true" : "false") }

  /// Adds bytes, each as a number.
  mutating func set(_ key: String, bytes: [UInt8]) { text += "\(key)=" + bytes.map { "\($0);" }.joined() + "\n" }

  /// The value as it has to stand behind the equals sign: white space at its beginning would be lost, a backslash would begin an escape.
  static func escaped(_ value: String) -> String {
    var (result, isLeading) = ("", true)
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case " " where isLeading: result += "\\s"
      default: result.unicodeScalars.append(scalar)
      }
      if scalar != " " { isLeading = false }
    }
    return result
  }
}
