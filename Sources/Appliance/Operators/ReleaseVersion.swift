/// A version such as `1.4.2` or `1.4.2-7-gc0ffee`: numbers count as numbers, and more parts are later.
struct ReleaseVersion: Comparable, CustomStringConvertible {
  let description: String

  init(_ text: String) { description = text }

  private enum Part: Comparable {
    case word(String)
    case number(Int)
  }

  private var parts: [Part] {
    description.split { !$0.isLetter && !$0.isNumber }.map { part in Int(part).map(Part.number) ?? .word(String(part)) }
  }

  static func == (a: ReleaseVersion, b: ReleaseVersion) -> Bool { a.parts == b.parts }
  static func < (a: ReleaseVersion, b: ReleaseVersion) -> Bool { a.parts.lexicographicallyPrecedes(b.parts) }
}
