import Base
import DTLS
import FoundationEssentials
import Glibc

/// Who asks the box for something: the user, by the kernel's word, and what that user's `parlor` says of the SSH session it runs in.
public struct Asker: Sendable, Equatable, CustomStringConvertible {
  /// The user's name.
  public var user: String
  /// Whose key opened the session: the comment in `authorized_keys`; nil: it has none, or there is no session.
  public var name: String?
  /// The key's fingerprint, as `ssh-keygen -l` writes it; nil: no key, or nobody knows.
  public var key: String?
  /// The address that the session comes from; nil: there is no session.
  public var address: String?

  /// Longer claims are cut.
  static let maximumLength = 200

  /// A user of this machine.
  public init(user: String, name: String? = nil, key: String? = nil, address: String? = nil) {
    (self.user, self.name, self.key, self.address) = (user, name, key, address)
  }

  /// `operator (anna@example, SHA256:…) from 192.0.2.7`
  public var description: String {
    let claims = [name, key].compactMap { $0 }
    return user + (claims.isEmpty ? "" : " (\(claims.joined(separator: ", ")))") + (address.map { " from \($0)" } ?? "")
  }

  // MARK: What a verb says of itself

  /// This process's user, and the SSH session that it runs in. `keys` is the file in which the keys' comments stand.
  public static func current(
    environment: [String: String], keys: String = "/run/parlor-provision/ssh/operator/authorized_keys"
  ) -> Asker {
    var asker = Asker(user: userName(Int64(getuid())))
    asker.address = environment["SSH_CONNECTION"]?.split(separator: " ").first.map(String.init)
    // sshd wrote down how the session was authenticated: `publickey TYPE BASE64`, a line for each way (ExposeAuthInfo in sshd_config(5)).
    guard let file = environment["SSH_USER_AUTH"], let lines = text(of: file) else { return asker }
    for line in lines.split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count >= 3, parts[0] == "publickey", let blob = Data(base64Encoded: String(parts[2])) else { continue }
      asker.key = fingerprint(Array(blob))
      asker.name = (text(of: keys) ?? "").split(separator: "\n").compactMap { line in
        line.firstRange(of: parts[2]).map { line[$0.upperBound...].split(separator: " ").joined(separator: " ") }
      }.first { !$0.isEmpty }
    }
    return asker
  }

  /// `SHA256:` and the digest in base64, without padding.
  static func fingerprint(_ blob: [UInt8]) -> String {
    let digest = Data(HashFunction.sha256.digest(blob)).base64EncodedString()
    return "SHA256:" + digest.prefix { $0 != "=" }
  }

  private static func text(of file: String) -> String? {
    (try? Data(contentsOf: URL(fileURLWithPath: file))).map { String(decoding: $0.prefix(1 << 20), as: UTF8.self) }
  }

  /// The name of a user, or the number where there is none.
  static func userName(_ user: Int64) -> String {
    guard user >= 0, user <= UInt32.max else { return "somebody" }
    var (entry, found) = (unsafe passwd(), UnsafeMutablePointer<passwd>?.none)
    var buffer = [CChar](repeating: 0, count: 4_096)
    guard unsafe getpwuid_r(uid_t(user), &entry, &buffer, buffer.count, &found) == 0, unsafe found != nil else { return "user \(user)" }
    return unsafe String(cString: entry.pw_name)
  }

  // MARK: On the control socket

  /// What a request says of its asker; the user is not among it, since the kernel tells that.
  var claims: JSON {
    var members: [String: JSON] = [:]
    for (member, value) in [("name", name), ("key", key), ("address", address)] { members[member] = value.map(JSON.string) }
    return .object(members)
  }

  /// The user `user`, with what the request says.
  init(user: String, claims: JSON) {
    self.init(
      user: user, name: claims["name"]?.string.map(Asker.printable), key: claims["key"]?.string.map(Asker.printable),
      address: claims["address"]?.string.map(Asker.printable))
  }

  /// On one line, and not longer than anybody's name.
  private static func printable(_ text: String) -> String {
    String(
      text.prefix(maximumLength).map { $0.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 && $0.value < 0x2028 } ? $0 : "?" })
  }
}
