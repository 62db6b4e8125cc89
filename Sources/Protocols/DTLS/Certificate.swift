import COpenSSL
import Glibc

/// A self-signed certificate with its key, and the OpenSSL context that all associations with it share.
///
/// Making one takes about a millisecond, so it is made ahead of a call; making an `Endpoint` from it is cheap.
public final class Certificate: Sendable {
  /// The kinds of key that W3C `RTCPeerConnection.generateCertificate` knows.
  public enum KeyType: Sendable, Hashable {
    /// ECDSA on the curve P-256: small and fast, what a call should use.
    case ecdsaP256
    /// RSA with a modulus of 2048 bits, which takes a tenth of a second or more.
    case rsa2048
  }

  /// The DER encoding.
  public let der: [UInt8]
  /// When the certificate expires, in seconds since 1970.
  public let expires: Int64
  /// Certificate and private key as PEM text: what `init(pem:)` reads. Secret.
  public let pem: String

  /// The SSL_CTX. OpenSSL counts its references atomically and nothing configures it after `init`, so threads may share it.
  nonisolated(unsafe) let context: OpaquePointer

  /// A new key and a certificate for it, with random serial number, valid from a day before `now` for `validDays` days.
  ///
  /// - Parameters:
  ///   - commonName: The subject, which peers do not look at.
  ///   - validDays: 1 or more. RFC 8827 section 6.5 wants certificates to be short-lived.
  ///   - now: Seconds since 1970.
  /// - Throws: `DTLSError.invalidCertificate` for a name or a validity that a certificate cannot have.
  public static func generate(
    commonName: String = "parlor", validDays: Int = 30, keyType: KeyType = .ecdsaP256, now: Int64 = Int64(time(nil))
  ) throws(DTLSError) -> Certificate {
    guard (1...36_500).contains(validDays) else { throw .invalidCertificate("it can be valid for 1 to 36,500 days") }
    return try generate(commonName: commonName, expires: now + Int64(validDays) * 86_400, keyType: keyType, now: now)
  }

  /// The same with an instant of expiry, in seconds since 1970: from `now`, when it is of no use from the beginning, to a hundred years later
  /// (W3C `generateCertificate` with `expires`).
  public static func generate(
    commonName: String = "parlor", expires: Int64, keyType: KeyType = .ecdsaP256, now: Int64 = Int64(time(nil))
  ) throws(DTLSError) -> Certificate {
    guard (1...64).contains(commonName.unicodeScalars.count) else { throw .invalidCertificate("a common name has 1 to 64 characters") }
    let day: Int64 = 86_400
    let (lifetime, isOverflow) = expires.subtractingReportingOverflow(now)
    guard !isOverflow, (0...36_500 * day).contains(lifetime) else {
      throw .invalidCertificate("it expires between now and a hundred years from now")
    }
    let key = try makeKey(keyType)
    defer { EVP_PKEY_free(key) }
    guard let certificate = X509_new() else { throw .fromQueue(doing: "X509_new") }
    defer { X509_free(certificate) }

    var generator = SystemRandomNumberGenerator()
    try DTLSError.check(X509_set_version(certificate, 2), "X509_set_version")
    try DTLSError.check(
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), generator.next() >> 1 | 1), "ASN1_INTEGER_set_uint64")
    guard ASN1_TIME_set(X509_getm_notBefore(certificate), Int(now - day)) != nil,
      ASN1_TIME_set(X509_getm_notAfter(certificate), Int(expires)) != nil
    else { throw .invalidCertificate("its time of validity cannot be written") }
    let name = X509_get_subject_name(certificate)
    try DTLSError.check(
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_FLAG | 0, Array(commonName.utf8), Int32(commonName.utf8.count), -1, 0),
      "X509_NAME_add_entry_by_txt")
    try DTLSError.check(X509_set_issuer_name(certificate, name), "X509_set_issuer_name")
    try DTLSError.check(X509_set_pubkey(certificate, key), "X509_set_pubkey")
    try DTLSError.check(X509_sign(certificate, key, EVP_sha256()), "X509_sign")
    return try Certificate(certificate, key: key)
  }

  /// The certificate and private key in a PEM text, in either order.
  ///
  /// - Throws: `DTLSError.invalidCertificate` when one of them is missing or damaged, or they do not belong together.
  public convenience init(pem: String) throws(DTLSError) {
    guard let certificate = Certificate.read(pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
      throw .invalidCertificate("no certificate in the PEM text")
    }
    defer { X509_free(certificate) }
    // Without a callback OpenSSL would ask on the terminal for the pass phrase of an encrypted key.
    guard let key = Certificate.read(pem, { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }) else {
      throw .invalidCertificate("no plain private key in the PEM text")
    }
    defer { EVP_PKEY_free(key) }
    guard X509_check_private_key(certificate, key) == 1 else {
      ERR_clear_error()
      throw .invalidCertificate("the private key belongs to another certificate")
    }
    try self.init(certificate, key: key)
  }

  /// Borrows both; the context keeps its own references.
  private init(_ certificate: OpaquePointer, key: OpaquePointer) throws(DTLSError) {
    der = try Certificate.der(of: certificate)
    var end = tm()
    guard ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) == 1 else { throw .invalidCertificate("its time of expiry is malformed") }
    expires = Int64(timegm(&end))
    pem = try Certificate.write {
      PEM_write_bio_X509($0, certificate) == 1 && PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) == 1
    }
    context = try Session.makeContext(certificate: certificate, key: key)
  }

  deinit { SSL_CTX_free(context) }

  /// The fingerprint for `a=fingerprint`.
  public func fingerprint(_ function: HashFunction = .sha256) -> Fingerprint {
    Fingerprint(algorithm: function.rawValue, bytes: function.digest(der))
  }

  /// The DER encoding of an X509.
  static func der(of certificate: OpaquePointer) throws(DTLSError) -> [UInt8] {
    let count = i2d_X509(certificate, nil)
    try DTLSError.check(count, "i2d_X509")
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
      var end = buffer.baseAddress
      initialized = Int(i2d_X509(certificate, &end))
    }
  }

  private static func makeKey(_ type: KeyType) throws(DTLSError) -> OpaquePointer {
    guard let context = EVP_PKEY_CTX_new_id(type == .ecdsaP256 ? EVP_PKEY_EC : EVP_PKEY_RSA, nil) else {
      throw .fromQueue(doing: "EVP_PKEY_CTX_new_id")
    }
    defer { EVP_PKEY_CTX_free(context) }
    try DTLSError.check(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
    switch type {
    case .ecdsaP256:
      try DTLSError.check(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1), "EVP_PKEY_CTX_set_ec_paramgen_curve_nid")
    case .rsa2048: try DTLSError.check(EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048), "EVP_PKEY_CTX_set_rsa_keygen_bits")
    }
    var key: OpaquePointer?
    try DTLSError.check(EVP_PKEY_keygen(context, &key), "EVP_PKEY_keygen")
    guard let key else { throw .library("EVP_PKEY_keygen") }
    return key
  }

  private static func read(_ pem: String, _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    let bytes = Array(pem.utf8)
    return bytes.withUnsafeBytes { buffer in
      guard let count = Int32(exactly: buffer.count), let bio = BIO_new_mem_buf(buffer.baseAddress, count) else { return nil }
      defer {
        BIO_free(bio)
        ERR_clear_error()
      }
      return body(bio)
    }
  }

  private static func write(_ body: (OpaquePointer) -> Bool) throws(DTLSError) -> String {
    guard let bio = BIO_new(BIO_s_mem()) else { throw .fromQueue(doing: "BIO_new") }
    defer { BIO_free(bio) }
    guard body(bio) else { throw .fromQueue(doing: "writing PEM") }
    let count = BIO_ctrl_pending(bio)
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = Int(max(0, BIO_read(bio, buffer.baseAddress, Int32(count))))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
