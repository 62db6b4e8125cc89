/// Media descriptions that belong together: the line `a=group` (RFC 5888, RFC 8843).
public struct Group: Sendable, Hashable, CustomStringConvertible {
  /// `BUNDLE` or `LS`.
  public var semantics: String
  /// The `a=mid` of each member.
  public var mids: [String]

  public init(semantics: String, mids: [String]) {
    self.semantics = semantics
    self.mids = mids
  }

  init?(_ text: Substring) {
    let fields = text.parts()
    guard let first = fields.first else { return nil }
    self.init(semantics: String(first), mids: fields.dropFirst().map(String.init))
  }

  public var description: String { ([semantics] + mids).joined(separator: " ") }
}
