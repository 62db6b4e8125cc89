import FoundationEssentials

/// A public key of somebody who may log in, as a line of `authorized_keys` without options (sshd(8)).
public struct SSHKey: Sendable, Hashable, CustomStringConvertible {
  /// The key's type, such as `ssh-ed25519`.
  public let type: String
  /// The key in base64.
  public let encoded: String
  /// Whose key it is, for people; empty when the line does not say.
  public let comment: String

  /// What is wrong with a line.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// What is wrong, for a person.
    public let description: String
    /// What would be right; empty when `description` says it.
    public var accepted: [String] = []
  }

  /// The types that are taken.
  public static let types = [
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa", "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
  ]

  /// RSA keys of fewer bits are broken by whoever wants to.
  static let minimumRSABits = 2_048

  /// Reads one line. Throws what is wrong with it.
  public init(_ line: String) throws(Failure) {
    let form = "the line of a .pub file, as \"ssh-ed25519 AAAA… name\""
    if line.contains("PRIVATE KEY") {
      throw Failure(description: "is a private key, which stays with its owner; the public one is meant", accepted: [form])
    }
    guard !line.utf8.contains(where: { $0 < 32 || $0 == 127 }) else { throw Failure(description: "contains a control character") }
    let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
    guard parts.count >= 2, SSHKey.types.contains(parts[0]) else {
      let known = parts.first.map { SSHKey.types.contains($0) } ?? false
      let nearest = parts.first.flatMap { NearestName.find($0, among: SSHKey.types) }
      if known { throw Failure(description: "has no key behind its type", accepted: [form]) }
      let what = parts.first.map { $0.count > 40 ? "the line" : "\"\($0)\"" } ?? "the line"
      throw Failure(
        description: "\(what) begins with no type of key" + (nearest.map { "; did you mean \($0)?" } ?? ""), accepted: SSHKey.types)
    }
    guard let blob = Data(base64Encoded: parts[1]), let fields = SSHKey.fields(Array(blob)), let inner = fields.first else {
      throw Failure(description: "the key is cut off or has a typing error", accepted: [form])
    }
    guard inner.elementsEqual(parts[0].utf8) else {
      throw Failure(description: "says \(parts[0]), and holds a key of type \(String(decoding: inner, as: UTF8.self))")
    }
    guard SSHKey.isComplete(fields, type: parts[0]) else {
      throw Failure(description: "the key is cut off or has a typing error", accepted: [form])
    }
    if parts[0] == "ssh-rsa" {
      let modulus = fields[2].drop { $0 == 0 }
      let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
      guard bits >= SSHKey.minimumRSABits else {
        throw Failure(description: "an RSA key of \(bits) bits is too weak", accepted: ["\(SSHKey.minimumRSABits) bits or more"])
      }
    }
    (type, encoded) = (parts[0], parts[1])
    comment = parts.count > 2 ? parts[2] : ""
  }

  /// The line of `authorized_keys`.
  public var description: String { "\(type) \(encoded)" + (comment.isEmpty ? "" : " \(comment)") }

  /// The fields of a key (RFC 4253 section 6.6), each behind its length; nil when they do not fill the bytes.
  private static func fields(_ bytes: [UInt8]) -> [ArraySlice<UInt8>]? {
    var (rest, fields) = (bytes[...], [ArraySlice<UInt8>]())
    while !rest.isEmpty {
      guard rest.count >= 4 else { return nil }
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(4)
      guard length <= rest.count else { return nil }
      fields.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return fields
  }

  /// Whether the fields are those of a key of `type`: their number, and the length of what has one.
  private static func isComplete(_ fields: [ArraySlice<UInt8>], type: String) -> Bool {
    switch type {
    case "ssh-ed25519": fields.count == 2 && fields[1].count == 32
    case "sk-ssh-ed25519@openssh.com": fields.count == 3 && fields[1].count == 32
    case "ssh-rsa": fields.count == 3
    case "ecdsa-sha2-nistp256": fields.count == 3 && fields[2].count == 65
    case "ecdsa-sha2-nistp384": fields.count == 3 && fields[2].count == 97
    case "ecdsa-sha2-nistp521": fields.count == 3 && fields[2].count == 133
    default: fields.count == 4 && fields[2].count == 65
    }
  }
}
