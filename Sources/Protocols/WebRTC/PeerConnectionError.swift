/// Why a call on a peer connection was refused: the W3C exception's name, and what was wrong.
public struct PeerConnectionError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The DOM exception that W3C WebRTC names for the case.
  public enum Name: String, Sendable {
    case invalidState = "InvalidStateError"
    case invalidAccess = "InvalidAccessError"
    case invalidModification = "InvalidModificationError"
    case operation = "OperationError"
    case notSupported = "NotSupportedError"
    case syntax = "SyntaxError"
    case type = "TypeError"
  }

  /// The exception's name.
  public var name: Name
  /// What was wrong and where, for a person.
  public var message: String

  /// An error of the given name.
  public init(_ name: Name, _ message: String) { (self.name, self.message) = (name, message) }

  /// `InvalidStateError: …`.
  public var description: String { "\(name.rawValue): \(message)" }
}
