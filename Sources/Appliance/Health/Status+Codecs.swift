import Codecs

extension Status {
  /// Who codes pictures of one codec, in one direction, and why.
  public struct Codec: Codable, Sendable, Equatable {
    /// Its name in SDP.
    public var codec: String
    /// `encode` or `decode`.
    public var direction: String
    /// The library or device, as `getStats` names it.
    public var implementation: String
    public var hardware: Bool
    /// Why it and no other, in words.
    public var reason: String

    /// What was chosen.
    public init(_ choice: CodecChoice) {
      (codec, direction, implementation) = (choice.codec.rawValue, choice.direction.rawValue, choice.implementation)
      (hardware, reason) = (choice.isHardware, choice.reason)
    }

    var text: String { "\(codec) \(direction): \(implementation) (\(reason))" }
  }
}
