/// A certificate's fingerprint as a session description carries it in `a=fingerprint` (RFC 8122 section 5).
public struct Fingerprint: Sendable, Hashable, CustomStringConvertible {
  /// Name of the hash function in lower case, such as `sha-256`; also ones that are not supported.
  public var algorithm: String
  /// The digest of the certificate's DER encoding.
  public var bytes: [UInt8]

  /// The fingerprint `bytes`, made with `algorithm` (in any case).
  public init(algorithm: String, bytes: [UInt8]) {
    self.algorithm = algorithm.lowercased()
    self.bytes = bytes
  }

  /// Reads `sha-256 AB:CD:…`: the algorithm, a space, then hexadecimal bytes joined by colons.
  ///
  /// An unknown algorithm is read too, since a description may carry fingerprints that only others understand.
  public init(parsing text: String) throws(FingerprintError) {
    let parts = text.split(separator: " ")
    guard parts.count == 2 else { throw .malformed(text) }
    var bytes: [UInt8] = []
    for pair in parts[1].split(separator: ":", omittingEmptySubsequences: false) {
      guard pair.utf8.count == 2, pair.utf8.first != UInt8(ascii: "+"), let byte = UInt8(pair, radix: 16) else { throw .malformed(text) }
      bytes.append(byte)
    }
    self.init(algorithm: String(parts[0]), bytes: bytes)
    if let function = HashFunction(rawValue: algorithm), function.digestCount != bytes.count {
      throw .wrongLength(algorithm: algorithm, expected: function.digestCount, actual: bytes.count)
    }
  }

  /// `sha-256 AB:CD:…`: what `init(parsing:)` reads.
  public var description: String {
    let digits = Array("0123456789ABCDEF")
    return algorithm + " " + bytes.map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined(separator: ":")
  }

  /// The hash function, nil when it is not supported.
  public var hashFunction: HashFunction? { HashFunction(rawValue: algorithm) }
}

/// A text that is not a fingerprint.
public enum FingerprintError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not an algorithm, a space and hexadecimal bytes joined by colons.
  case malformed(String)
  /// The digest does not have its algorithm's length in bytes.
  case wrongLength(algorithm: String, expected: Int, actual: Int)

  public var description: String {
    switch self {
    case .malformed(let text): "“\(text)” is not a fingerprint such as “sha-256 AB:CD:…”"
    case .wrongLength(let algorithm, let expected, let actual):
      "a \(algorithm) fingerprint has \(expected) bytes, this one has \(actual)"
    }
  }
}
