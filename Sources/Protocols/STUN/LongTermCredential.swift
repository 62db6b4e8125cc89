import Bytes

/// Name and password for a server, and what the server told about how to prove them (RFC 8489 section 9.2).
///
/// The password is used byte for byte: text in ASCII is its own OpaqueString (RFC 8265).
public struct LongTermCredential: Sendable {
  /// How the key comes from the password.
  public enum Algorithm: UInt16, Sendable {
    case md5 = 1
    case sha256 = 2
  }

  /// The user's name.
  public let username: String
  private let password: String
  /// The server's realm and nonce, empty until it asked for credentials.
  public private(set) var realm = "", nonce = ""
  /// The algorithm in use; SHA-256 when the server offers it.
  public private(set) var algorithm = Algorithm.md5
  /// PASSWORD-ALGORITHMS as the server sent it, to be sent back so that nobody can take an algorithm out on the way.
  private var offeredAlgorithms: [UInt8]?
  private var key: [UInt8] = []

  /// The credential of `username`.
  public init(username: String, password: String) { (self.username, self.password) = (username, password) }

  /// Whether the server has asked, so that requests can be signed.
  public var isChallenged: Bool { !key.isEmpty }

  /// Takes realm and nonce from a 401 or 438 response. False when the response lacks them, or when it changes nothing.
  public mutating func learn(from response: borrowing Message) -> Bool {
    guard let newNonce = response.text(.nonce), let newRealm = response.text(.realm) ?? (isChallenged ? realm : nil) else { return false }
    let changes = newNonce != nonce || newRealm != realm || !isChallenged
    (nonce, realm) = (newNonce, newRealm)
    chooseAlgorithm(response)
    switch algorithm {
    case .md5: key = Digest.hash(.md5, Array("\(username):\(realm):\(password)".utf8))
    case .sha256: key = Digest.hash(.sha256, Array("\(username):\(realm):\(password)".utf8))
    }
    return changes
  }

  /// Appends who asks, and the integrity; nothing while the server has not asked.
  public func sign(_ builder: inout MessageBuilder) {
    guard isChallenged else { return }
    builder.append(.username, text: username)
    builder.append(.realm, text: realm)
    builder.append(.nonce, text: nonce)
    guard let offeredAlgorithms else { return builder.appendIntegrity(key: key) }
    builder.append(.passwordAlgorithms, bytes: offeredAlgorithms)
    builder.append(.passwordAlgorithm, bytes: [0, UInt8(algorithm.rawValue), 0, 0])
    builder.appendIntegritySHA256(key: key)
  }

  /// Whether a response to a signed request is the server's.
  public func verifies(_ response: borrowing Message) -> Bool {
    isChallenged && (offeredAlgorithms == nil ? response.hasValidIntegrity(key: key) : response.hasValidIntegritySHA256(key: key))
  }

  /// The server offers algorithms by a list and by a nonce that says so (RFC 8489 section 9.2.1).
  private mutating func chooseAlgorithm(_ response: borrowing Message) {
    (algorithm, offeredAlgorithms) = (.md5, nil)
    guard LongTermCredential.offersAlgorithms(nonce: nonce), let list = response.attribute(.passwordAlgorithms) else { return }
    var reader = ByteReader(list)
    while let number = try? reader.uint16(), let count = try? reader.uint16() {
      if let known = Algorithm(rawValue: number), count == 0, known.rawValue >= algorithm.rawValue {
        (algorithm, offeredAlgorithms) = (known, Array(bytes: list))
      }
      guard (try? reader.skip((Int(count) + 3) & ~3)) != nil else { break }
    }
  }

  /// A nonce of RFC 8489 starts with `obMatJos2` and 24 bits of features in base64; the first bit says "password algorithms".
  static func offersAlgorithms(nonce: String) -> Bool {
    let bytes = Array(nonce.utf8)
    guard bytes.starts(with: "obMatJos2".utf8), bytes.count >= 13 else { return false }
    let value: UInt8
    switch bytes[9] {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = bytes[9] - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): value = bytes[9] - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): value = bytes[9] - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"), UInt8(ascii: "/"): value = 62
    default: return false
    }
    return value & 0b10_0000 != 0
  }
}
