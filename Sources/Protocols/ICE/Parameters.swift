import STUN

/// The credentials of one side for one generation of candidates (RFC 8445 section 5.3).
public struct Parameters: Sendable, Equatable {
  /// Names the generation; 4 to 256 characters.
  public var usernameFragment: String
  /// Signs the checks towards this side; 22 to 256 characters.
  public var password: String
  /// The side only answers checks (RFC 8445 section 2.5).
  public var isLite: Bool

  /// The credentials with these fields.
  public init(usernameFragment: String, password: String, isLite: Bool = false) {
    (self.usernameFragment, self.password, self.isLite) = (usernameFragment, password, isLite)
  }

  /// New credentials: 48 bits of fragment and 144 bits of password.
  init(using random: inout Randomness) {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    func text(_ count: Int) -> String {
      String(decoding: (0..<count).map { _ in alphabet[Int(random.next() & 63)] }, as: UTF8.self)
    }
    self.init(usernameFragment: text(8), password: text(24))
  }
}
