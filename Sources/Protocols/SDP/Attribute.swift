/// A line `a=name` or `a=name:value` that this room attaches no meaning to (RFC 8866 section 5.13).
public struct Attribute: Sendable, Hashable, CustomStringConvertible {
  public var name: String
  /// What stands after the colon; nil without one.
  public var value: String?

  public init(name: String, value: String? = nil) {
    self.name = name
    self.value = value
  }

  /// Reads what stands after `a=`.
  init(_ text: Substring) {
    if let (name, value) = text.cut(":") {
      self.init(name: String(name), value: String(value))
    } else {
      self.init(name: String(text))
    }
  }

  /// What stands after `a=`.
  public var description: String { value.map { "\(name):\($0)" } ?? name }
}

/// A line of another type than this room attaches a meaning to, such as `i=` or `k=`.
public struct Line: Sendable, Hashable, CustomStringConvertible {
  /// The letter before the equals sign.
  public var type: Character
  public var value: String

  public init(type: Character, value: String) {
    self.type = type
    self.value = value
  }

  public var description: String { "\(type)=\(value)" }
}
