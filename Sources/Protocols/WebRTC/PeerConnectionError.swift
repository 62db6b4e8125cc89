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
    case range = "RangeError"
    case invalidCharacter = "InvalidCharacterError"
  }

  /// What failed below: W3C `RTCErrorDetailType`, so far as it can happen here. An error with a detail is an `RTCError`.
  public enum Detail: String, Sendable {
    case dataChannelFailure = "data-channel-failure"
    case dtlsFailure = "dtls-failure"
    case fingerprintFailure = "fingerprint-failure"
    case sctpFailure = "sctp-failure"
    case sdpSyntaxError = "sdp-syntax-error"
  }

  /// The exception's name.
  public var name: Name
  /// What was wrong and where, for a person.
  public var message: String

  /// Set for an `RTCError` (W3C section 11).
  public var detail: Detail?
  /// The line of the description that cannot be read, 1 for the first; with `sdpSyntaxError` only.
  public var sdpLineNumber: Int?

  /// An error of the given name.
  public init(_ name: Name, _ message: String, detail: Detail? = nil, sdpLineNumber: Int? = nil) {
    (self.name, self.message, self.detail, self.sdpLineNumber) = (name, message, detail, sdpLineNumber)
  }

  /// `InvalidStateError: …`.
  public var description: String { "\(name.rawValue): \(message)" }
}
