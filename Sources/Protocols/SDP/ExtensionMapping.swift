/// An RTP header extension and its identifier in packets: the line `a=extmap` (RFC 8285 section 5).
public struct ExtensionMapping: Sendable, Hashable, CustomStringConvertible {
  /// 1 to 14 in one-byte headers, to 255 in two-byte headers; an offer may use 4096 and above for alternatives.
  public var identifier: UInt16
  /// Nil for both ways.
  public var direction: Direction?
  public var uri: String
  /// What stands behind the URI; nil when nothing does.
  public var attributes: String?

  public init(identifier: UInt16, direction: Direction? = nil, uri: String, attributes: String? = nil) {
    self.identifier = identifier
    self.direction = direction
    self.uri = uri
    self.attributes = attributes
  }

  init?(_ text: Substring) {
    guard let (first, rest) = text.cut(" ") else { return nil }
    var number = first
    var direction: Direction?
    if let (head, tail) = first.cut("/") {
      guard let known = Direction(rawValue: String(tail)) else { return nil }
      (number, direction) = (head, known)
    }
    let value = rest.trimmed
    guard let identifier = number.number(UInt16.self), identifier > 0, !value.isEmpty else { return nil }
    let (uri, attributes) = value.cut(" ") ?? (value, "")
    self.init(
      identifier: identifier, direction: direction, uri: String(uri),
      attributes: attributes.trimmed.isEmpty ? nil : String(attributes.trimmed))
  }

  public var description: String {
    "\(identifier)" + (direction.map { "/\($0.rawValue)" } ?? "") + " \(uri)" + (attributes.map { " \($0)" } ?? "")
  }
}
