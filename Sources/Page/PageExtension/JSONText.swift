/// Writes one flat JSON object. The web process gets no more of Foundation than this.
struct JSONText {
  private var members: [String] = []

  mutating func add(_ name: String, _ value: String) { members.append("\(Self.quoted(name)):\(Self.quoted(value))") }
  mutating func add(_ name: String, _ value: UInt32) { members.append("\(Self.quoted(name)):\(value)") }
  mutating func add(_ name: String, _ value: Bool) { members.append("\(Self.quoted(name)):\(value)") }
  mutating func add(_ name: String, _ values: [String]) {
    members.append("\(Self.quoted(name)):[\(values.map(Self.quoted).joined(separator: ","))]")
  }
  mutating func add(_ name: String, _ value: JSONText) { members.append("\(Self.quoted(name)):\(value.text)") }

  var text: String { "{\(members.joined(separator: ","))}" }

  /// A JSON string (RFC 8259 §7).
  static func quoted(_ value: String) -> String {
    var result = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..<" ":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
