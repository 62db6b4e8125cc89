import COpenSSL
import Glibc
import Net

/// A certificate authority of the tests' own, and certificates by it.
struct TestCertificates {
  let authority: OpaquePointer
  private let authorityKey: OpaquePointer
  /// The authority's certificate in a file.
  let file: String

  init() {
    authorityKey = TestCertificates.makeKey()
    authority = TestCertificates.make(
      subject: "Test Authority", key: authorityKey, issuer: nil, issuerKey: authorityKey, names: nil, days: -1...30)
    let path = strdup("/tmp/parlor-test-XXXXXX")!
    let descriptor = mkstemp(path)
    file = String(cString: path)
    free(path)
    let text = TestCertificates.pem { PEM_write_bio_X509($0, authority) }
    _ = write(descriptor, text, text.utf8.count)
    close(descriptor)
  }

  func remove() {
    unlink(file)
    X509_free(authority)
    EVP_PKEY_free(authorityKey)
  }

  /// An identity for `names` in OpenSSL's way: `DNS:example.org,IP:127.0.0.1`; valid from and to so many days from now.
  func identity(_ names: String, days: ClosedRange<Int> = -1...30) -> HTTPServer.Identity {
    let key = TestCertificates.makeKey()
    let certificate = TestCertificates.make(
      subject: "server", key: key, issuer: authority, issuerKey: authorityKey, names: names, days: days)
    defer {
      X509_free(certificate)
      EVP_PKEY_free(key)
    }
    return HTTPServer.Identity(
      key: TestCertificates.pem { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) },
      certificate: TestCertificates.pem { PEM_write_bio_X509($0, certificate) })
  }

  private static func makeKey() -> OpaquePointer {
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    EVP_PKEY_keygen_init(context)
    EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1)
    EVP_PKEY_keygen(context, &key)
    return key!
  }

  private static func make(
    subject: String, key: OpaquePointer, issuer: OpaquePointer?, issuerKey: OpaquePointer, names: String?, days: ClosedRange<Int>
  ) -> OpaquePointer {
    let certificate = X509_new()!
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...1 << 40))
    X509_gmtime_adj(X509_getm_notBefore(certificate), days.lowerBound * 86_400)
    X509_gmtime_adj(X509_getm_notAfter(certificate), days.upperBound * 86_400)
    X509_set_pubkey(certificate, key)
    let name = X509_get_subject_name(certificate)
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, subject, -1, -1, 0)
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer ?? certificate))
    func add(_ identifier: Int32, _ value: String) {
      var context = X509V3_CTX()
      X509V3_set_ctx(&context, issuer ?? certificate, certificate, nil, nil, 0)
      let item = X509V3_EXT_conf_nid(nil, &context, identifier, value)
      X509_add_ext(certificate, item, -1)
      X509_EXTENSION_free(item)
    }
    if let names { add(NID_subject_alt_name, names) } else { add(NID_basic_constraints, "critical,CA:TRUE") }
    X509_sign(certificate, issuerKey, EVP_sha256())
    return certificate
  }

  private static func pem(_ write: (OpaquePointer) -> Int32) -> String {
    let memory = BIO_new(BIO_s_mem())!
    defer { BIO_free(memory) }
    _ = write(memory)
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(memory))
    BIO_read(memory, &bytes, Int32(bytes.count))
    return String(decoding: bytes, as: UTF8.self)
  }
}
