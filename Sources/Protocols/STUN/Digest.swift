import Bytes
import COpenSSL

/// The digests that STUN needs, from OpenSSL.
enum Digest {
  /// A hash function, with the size of its result in bytes.
  enum Algorithm: Int {
    case md5 = 16
    case sha1 = 20
    case sha256 = 32

    var evp: OpaquePointer? {
      switch self {
      case .md5: EVP_md5()
      case .sha1: EVP_sha1()
      case .sha256: EVP_sha256()
      }
    }
  }

  /// The hash of `bytes`.
  static func hash(_ algorithm: Algorithm, _ bytes: [UInt8]) -> [UInt8] {
    output(algorithm) { result, count in unsafe EVP_Digest(bytes, bytes.count, result, &count, algorithm.evp, nil) == 1 }
  }

  /// HMAC of the first `count` of `bytes` under `key` (RFC 2104).
  static func hmac(_ algorithm: Algorithm, key: [UInt8], over bytes: [UInt8], count: Int) -> [UInt8] {
    output(algorithm) { result, length in
      unsafe HMAC(algorithm.evp, key, Int32(key.count), bytes, count, result, &length) != nil
    }
  }

  /// Whether two byte strings are equal, in a time that does not depend on where they differ.
  static func areEqual(_ a: [UInt8], _ b: RawSpan) -> Bool {
    a.count == b.byteCount && b.withUnsafeBytes { unsafe CRYPTO_memcmp(a, $0.baseAddress, a.count) == 0 }
  }

  private static func output(
    _ algorithm: Algorithm, _ body: (UnsafeMutablePointer<UInt8>?, inout UInt32) -> Bool
  ) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: algorithm.rawValue) { buffer, count in
      var written = UInt32(algorithm.rawValue)
      precondition(unsafe body(buffer.baseAddress, &written), "OpenSSL always offers MD5, SHA-1 and SHA-256")
      count = Int(written)
    }
  }
}
