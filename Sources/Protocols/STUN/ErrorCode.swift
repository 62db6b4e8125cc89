import Bytes

/// Code and reason phrase of an error response (RFC 8489 section 14.8, RFC 8656 section 19).
public struct ErrorCode: Error, Sendable, Hashable, CustomStringConvertible {
  /// The code, 300 to 699.
  public var code: Int
  /// The reason as the server worded it; may be empty.
  public var reason: String

  /// The code with a reason.
  public init(_ code: Int, _ reason: String = "") { (self.code, self.reason) = (code, reason) }

  /// `401 Unauthorized`.
  public var description: String { reason.isEmpty ? String(code) : "\(code) \(reason)" }

  /// Go to the server named in ALTERNATE-SERVER.
  public static let tryAlternate = 300
  /// The request was malformed.
  public static let badRequest = 400
  /// Credentials are missing or wrong.
  public static let unauthenticated = 401
  /// The user may not do this.
  public static let forbidden = 403
  /// There are attributes that the server must understand and does not.
  public static let unknownAttribute = 420
  /// There is no such allocation, or there already is one.
  public static let allocationMismatch = 437
  /// The nonce is no longer valid; the response has a new one.
  public static let staleNonce = 438
  /// The server has no addresses of that family.
  public static let addressFamilyNotSupported = 440
  /// The user has too many allocations.
  public static let allocationQuotaReached = 486
  /// ICE: both agents take the same role.
  public static let roleConflict = 487
  /// The server's fault.
  public static let serverError = 500
  /// The server is full.
  public static let insufficientCapacity = 508
}

extension Message {
  /// The ERROR-CODE of the message; nil when there is none or it is malformed.
  public var errorCode: ErrorCode? {
    guard let value = attribute(.errorCode), value.byteCount >= 4 else { return nil }
    var reader = ByteReader(value)
    guard let field = try? reader.uint32() else { return nil }
    let (hundreds, rest) = (Int(field >> 8 & 0b111), Int(field & 0xFF))
    guard (3...6).contains(hundreds), rest < 100 else { return nil }
    return ErrorCode(hundreds * 100 + rest, String(decoding: reader.rest(), as: UTF8.self))
  }
}
