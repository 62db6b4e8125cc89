import COpenSSL

/// A hash function that a certificate fingerprint may use (RFC 8122 section 5). MD5 and SHA-1 are missing on purpose: they are refused.
public enum HashFunction: String, Sendable, CaseIterable {
  case sha256 = "sha-256"
  case sha384 = "sha-384"
  case sha512 = "sha-512"

  /// Length of a digest in bytes.
  public var digestCount: Int {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }

  /// The digest of `bytes`.
  public func digest(_ bytes: [UInt8]) -> [UInt8] {
    let function =
      switch self {
      case .sha256: EVP_sha256()
      case .sha384: EVP_sha384()
      case .sha512: EVP_sha512()
      }
    return [UInt8](unsafeUninitializedCapacity: digestCount) { buffer, count in
      let done = EVP_Digest(bytes, bytes.count, buffer.baseAddress, nil, function, nil)
      precondition(done == 1, "hashing memory with SHA-2 cannot fail")
      count = digestCount
    }
  }
}
