/// Which ways media flows, seen from who wrote the description (RFC 8866 section 6.7).
public enum Direction: String, Sendable, Hashable, CaseIterable {
  case sendrecv, sendonly, recvonly, inactive

  public var sends: Bool { self == .sendrecv || self == .sendonly }
  public var receives: Bool { self == .sendrecv || self == .recvonly }

  /// The direction that sends and receives as told.
  public init(sends: Bool, receives: Bool) {
    self = sends ? (receives ? .sendrecv : .sendonly) : (receives ? .recvonly : .inactive)
  }

  /// The same direction seen from the other side.
  public var reversed: Direction { Direction(sends: receives, receives: sends) }

  /// What both directions have in common.
  public func intersection(_ other: Direction) -> Direction { Direction(sends: sends && other.sends, receives: receives && other.receives) }
}

/// Who begins the DTLS handshake (RFC 4145 section 4, RFC 8842 section 5).
public enum Setup: String, Sendable, Hashable, CaseIterable { case active, passive, actpass, holdconn }

/// The line `a=fingerprint` (RFC 8122), not yet understood: `DTLS.Fingerprint(parsing:)` reads the `description`.
public struct CertificateFingerprint: Sendable, Hashable, CustomStringConvertible {
  /// The hash function, such as `sha-256`.
  public var algorithm: String
  /// Hexadecimal bytes joined by colons.
  public var value: String

  public init(algorithm: String, value: String) {
    self.algorithm = algorithm
    self.value = value
  }

  init?(_ text: Substring) {
    let fields = text.parts()
    guard fields.count == 2 else { return nil }
    self.init(algorithm: String(fields[0]), value: String(fields[1]))
  }

  public var description: String { "\(algorithm) \(value)" }
}
