import Base
import Bytes
import COpenSSL

/// The client's side of a TLS connection without a socket: encrypted bytes in and out, plain bytes in and out.
struct TLSClient: ~Copyable {
  private let session: OpaquePointer
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  private let name: String
  private let context: TLSContext
  /// Whether the handshake is done and the certificate was found to be that of the server meant.
  private(set) var isConnected = false
  /// Whether the server has said that nothing more follows.
  private(set) var isFinished = false

  /// A connection to the server called `name`, a host name or an IP address, which its certificate must bear.
  init(name: String, trust: TrustStore) {
    context = trust.context
    guard let session = SSL_new(context.settings), let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
      preconditionFailure("out of memory")
    }
    (self.session, self.incoming, self.outgoing, self.name) = (session, incoming, outgoing, name)
    SSL_set_bio(session, incoming, outgoing)
    SSL_set_connect_state(session)
    if IPAddress(name) == nil {
      var text = Array(name.utf8CString)
      SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &text)
    }
  }

  deinit { SSL_free(session) }

  /// Takes in encrypted bytes. Call `advance` after it.
  mutating func receive(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { bytes in
      let count = BIO_write(incoming, bytes.baseAddress, Int32(bytes.count))
      precondition(count == bytes.count, "a memory BIO takes all")
    }
  }

  /// Carries the handshake on, as far as what was received allows.
  mutating func advance() throws(TLSError) {
    guard !isConnected else { return }
    ERR_clear_error()
    let result = SSL_do_handshake(session)
    if result == 1 {
      try checkName()
      isConnected = true
    } else if SSL_get_error(session, result) != SSL_ERROR_WANT_READ {
      throw failure()
    }
  }

  /// Reads decrypted bytes into `buffer`; 0 when there are none yet.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> Int {
    ERR_clear_error()
    let result = SSL_read(session, buffer.baseAddress, Int32(buffer.count))
    if result > 0 { return Int(result) }
    switch SSL_get_error(session, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return 0
    case SSL_ERROR_ZERO_RETURN:
      isFinished = true
      return 0
    default: throw failure()
    }
  }

  /// Encrypts `bytes`. Only when connected.
  mutating func write(_ bytes: RawSpan) throws(TLSError) {
    guard bytes.byteCount > 0 else { return }
    ERR_clear_error()
    let result = bytes.withUnsafeBytes { SSL_write(session, $0.baseAddress, Int32($0.count)) }
    guard result == bytes.byteCount else { throw failure() }
  }

  /// Says that nothing more follows.
  mutating func finish() { if isConnected { SSL_shutdown(session) } }

  /// Appends all encrypted bytes that are to be sent to `target`.
  mutating func drain(into target: inout [UInt8]) {
    let pending = BIO_ctrl_pending(outgoing)
    guard pending > 0 else { return }
    let start = target.count
    target.append(contentsOf: repeatElement(0, count: pending))
    let count = target.withUnsafeMutableBytes { BIO_read(outgoing, $0.baseAddress! + start, Int32(pending)) }
    precondition(count == pending, "a memory BIO gives what it has")
  }

  private func failure() -> TLSError {
    let result = SSL_get_verify_result(session)
    if result != Int(X509_V_OK) {
      ERR_clear_error()
      return TLSError(verificationResult: result)
    }
    return .failed(reason: TLSError.lastReason())
  }

  private func checkName() throws(TLSError) {
    guard let certificate = SSL_get1_peer_certificate(session) else { throw .failed(reason: "the server showed no certificate") }
    defer { X509_free(certificate) }
    let matches = IPAddress(name) == nil ? X509_check_host(certificate, name, 0, 0, nil) : X509_check_ip_asc(certificate, name, 0)
    if matches != 1 { throw .nameMismatch(expected: name, names: CertificateNames.read(certificate)) }
  }
}

/// The names that a certificate is for.
enum CertificateNames {
  /// DNS names and IP addresses of the subject alternative names; the common name where there are none.
  static func read(_ certificate: OpaquePointer) -> [String] {
    var names: [String] = []
    if let list = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) {
      let stack = OpaquePointer(list)
      for index in 0..<OPENSSL_sk_num(stack) {
        guard let item = OPENSSL_sk_value(stack, index) else { continue }
        let name = item.assumingMemoryBound(to: GENERAL_NAME.self)
        switch name.pointee.type {
        case GEN_DNS: names.append(text(name.pointee.d.dNSName))
        case GEN_IPADD: if let ip = IPAddress(bytes: bytes(name.pointee.d.iPAddress)) { names.append("\(ip)") }
        default: break
        }
      }
      OPENSSL_sk_pop_free(stack) { item in GENERAL_NAME_free(item?.assumingMemoryBound(to: GENERAL_NAME.self)) }
    }
    if names.isEmpty, let subject = X509_get_subject_name(certificate) {
      var buffer = [CChar](repeating: 0, count: 256)
      let count = X509_NAME_get_text_by_NID(subject, NID_commonName, &buffer, Int32(buffer.count))
      if count > 0 { names.append(String(decoding: buffer.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)) }
    }
    return names
  }

  private static func bytes(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
    guard let start = ASN1_STRING_get0_data(string) else { return [] }
    return Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(string))))
  }

  private static func text(_ string: UnsafePointer<ASN1_STRING>?) -> String { String(decoding: bytes(string), as: UTF8.self) }
}
