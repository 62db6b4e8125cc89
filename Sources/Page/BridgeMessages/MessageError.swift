/// A control message that is not as BRIDGE.md describes it.
public struct MessageError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The member at fault with those it lies in, such as `candidate.sdpMid`; empty for the whole text.
  public var member: String
  /// What is wrong with it, for a person.
  public var reason: String

  /// An error in `member`.
  public init(member: String, reason: String) { (self.member, self.reason) = (member, reason) }

  /// The error that a decoder threw.
  public init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context): self.init(context.codingPath + [key], "is missing")
    case .valueNotFound(_, let context): self.init(context.codingPath, "is null")
    case .typeMismatch(let type, let context): self.init(context.codingPath, "is not of type \(type)")
    case .dataCorrupted(let context): self.init(context.codingPath, context.debugDescription)
    @unknown default: self.init([], "cannot be read")
    }
  }

  private init(_ path: [any CodingKey], _ reason: String) {
    self.init(member: path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "."), reason: reason)
  }

  /// `candidate.sdpMid: is missing`.
  public var description: String { member.isEmpty ? reason : "\(member): \(reason)" }
}
