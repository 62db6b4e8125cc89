import Base
import COpenSSL
import Glibc

/// One OpenSSL connection, with the datagrams that go into and come out of it and its retransmission timer on our clock.
///
/// Unchecked because OpenSSL's objects are plain pointers: exactly one `Endpoint`, which cannot be copied, holds a session, and the
/// callbacks run inside that endpoint's calls only.
final class Session: @unchecked Sendable {
  let ssl: OpaquePointer
  let remoteFingerprints: [Fingerprint]
  let mtu: Int

  /// What `now` was when the endpoint was last called.
  var now = Instant.zero
  /// When the last flight has to be sent again; nil while nothing is waiting for an answer.
  private(set) var deadline: Instant?
  /// Datagrams to be sent.
  var output = Queue<[UInt8]>()
  var counters = Counters()
  /// What the peer sent as its certificate chain, DER, the leaf first.
  private(set) var remoteCertificates: [[UInt8]] = []
  /// Why the peer's certificate was refused.
  private(set) var refusal: DTLSError?
  /// How many records of application data were handed to OpenSSL.
  private(set) var applicationRecords = 0

  /// The datagram that is being received, and how much of it OpenSSL has taken.
  private var input = UnsafeRawBufferPointer(start: nil, count: 0)
  private var inputOffset = 0
  /// OpenSSL's own deadline, inside `ssl`; set while its timer runs.
  private var timer: UnsafeMutablePointer<timeval>?
  private var timeout = Session.firstTimeout

  /// Half of RFC 6347's second would do on the Internet; calls also run on a LAN, where waiting costs more than a spare packet.
  static let firstTimeout = Interval.milliseconds(50)
  /// OpenSSL gives up after 12 retransmissions: 17 seconds with this limit.
  static let longestTimeout = Interval.milliseconds(2_000)
  /// What OpenSSL accepts in one record (RFC 5246 section 6.2.1).
  static let recordLimit = 16_384

  /// - Throws: What OpenSSL says, in a process without memory.
  init(context: OpaquePointer, role: Role, remoteFingerprints: [Fingerprint], profiles: [SRTPProfile], mtu: Int) throws(DTLSError) {
    ERR_clear_error()
    guard let ssl = SSL_new(context) else { throw .fromQueue(doing: "SSL_new") }
    self.ssl = ssl
    self.remoteFingerprints = remoteFingerprints
    self.mtu = mtu
    guard let bio = BIO_new(DatagramBIO.method) else { throw .fromQueue(doing: "BIO_new") }
    let this = Unmanaged.passUnretained(self).toOpaque()
    BIO_set_data(bio, this)
    BIO_set_init(bio, 1)
    SSL_set_bio(ssl, bio, bio)
    try DTLSError.check(SSL_set_ex_data(ssl, Session.exDataIndex, this), "SSL_set_ex_data")
    try DTLSError.check(SSL_ctrl(ssl, SSL_CTRL_SET_MTU, mtu, nil), "SSL_set_mtu")
    if !profiles.isEmpty {
      let failed = SSL_set_tlsext_use_srtp(ssl, profiles.map(\.name).joined(separator: ":"))
      if failed != 0 { throw .fromQueue(doing: "SSL_set_tlsext_use_srtp") }
    }
    DTLS_set_timer_cb(ssl) { ssl, microseconds in Session.of(ssl).nextTimeout(after: microseconds) }
    role == .client ? SSL_set_connect_state(ssl) : SSL_set_accept_state(ssl)
  }

  deinit { SSL_free(ssl) }

  // MARK: Timer

  /// OpenSSL asks how long to wait for an answer: to a new flight after 0, to a repeated one after how long it waited before.
  private func nextTimeout(after microseconds: UInt32) -> UInt32 {
    timeout = microseconds == 0 ? Session.firstTimeout : min(timeout + timeout, Session.longestTimeout)
    return UInt32(timeout.nanoseconds / 1_000)
  }

  /// OpenSSL started its timer (`deadline` is a wall-clock time) or stopped it (`deadline` is zero).
  ///
  /// The pointer leads into `ssl` and stays valid. Moving the deadline to a time that never comes takes the wall clock, which time
  /// synchronisation may move, out of OpenSSL's hands; `retransmit` moves it into the past.
  func timerChanged(_ deadline: UnsafeMutablePointer<timeval>) {
    if deadline.pointee.tv_sec == 0, deadline.pointee.tv_usec == 0 {
      timer = nil
      self.deadline = nil
    } else {
      deadline.pointee = timeval(tv_sec: 1 << 40, tv_usec: 0)
      timer = deadline
      self.deadline = now + timeout
    }
  }

  /// Sends the last flight again. False when the peer was silent for too long or OpenSSL did not understand.
  func retransmit() -> Bool {
    guard let timer else { return false }
    timer.pointee = timeval(tv_sec: 0, tv_usec: 1)
    ERR_clear_error()
    counters.count("dtls.retransmission")
    return SSL_ctrl(ssl, DTLS_CTRL_HANDLE_TIMEOUT, 0, nil) == 1
  }

  // MARK: Datagrams

  /// Lets `body` run OpenSSL with `datagram` to read. What OpenSSL left of it afterwards is dropped.
  func reading(_ datagram: UnsafeRawBufferPointer, _ body: () -> Void) {
    input = datagram
    inputOffset = 0
    body()
    input = UnsafeRawBufferPointer(start: nil, count: 0)
    inputOffset = 0
  }

  /// How much of the datagram OpenSSL has yet to take, in bytes.
  var inputRemaining: Int { input.count - inputOffset }

  /// Copies the next record of the datagram to `target`; nil when there is none.
  ///
  /// Records go in one by one, each a datagram of its own to OpenSSL, so that one that is garbage does not take good ones with it.
  func nextRecord(_ target: UnsafeMutableRawBufferPointer) -> Int? {
    while inputRemaining > 0 {
      let rest = UnsafeRawBufferPointer(rebasing: input[inputOffset...])
      let count = Session.recordCount(rest, at: 0)
      guard rest.count > Session.recordHeaderCount, (20...23).contains(rest[0]), rest[1] == 0xFE, count > Session.recordHeaderCount,
        count <= rest.count, count <= target.count
      else { return discardRest() }
      inputOffset += count
      let isApplicationData = rest[0] == 23
      let isPlain = rest[3] == 0 && rest[4] == 0
      // Application data is always encrypted. OpenSSL would end the association over a plain one, which anyone can forge.
      if isPlain, isApplicationData {
        counters.count("dtls.malformed")
        continue
      }
      // After the handshake OpenSSL ignores what is not encrypted, such as flights that came twice, without a word.
      if isPlain, SSL_is_init_finished(ssl) == 1 {
        counters.count("dtls.discarded")
        continue
      }
      if isApplicationData { applicationRecords += 1 }
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
      return count
    }
    return nil
  }

  /// Queues what OpenSSL wrote, one record or several.
  ///
  /// OpenSSL forgets the few bytes of ChangeCipherSpec when it fills a datagram, so one that is too long is cut between records.
  func write(_ records: UnsafeRawBufferPointer) {
    var start = 0
    var end = 0
    while end < records.count {
      let next = min(records.count, end + Session.recordCount(records, at: end))
      if next - start > mtu, end > start {
        output.append([UInt8](records[start..<end]))
        start = end
      }
      end = next
    }
    output.append([UInt8](records[start...]))
  }

  /// RFC 6347 section 4.1: type, version (2), epoch (2), sequence number (6), length (2).
  private static let recordHeaderCount = 13

  /// How long the record that starts at `offset` is, header included; the header alone when that is cut short.
  private static func recordCount(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
    guard bytes.count - offset >= recordHeaderCount else { return recordHeaderCount }
    return recordHeaderCount + (Int(bytes[offset + 11]) << 8 | Int(bytes[offset + 12]))
  }

  private func discardRest() -> Int? {
    counters.count("dtls.malformed")
    inputOffset = input.count
    return nil
  }

  // MARK: Certificate

  /// Keeps the peer's chain and compares its leaf with the announced fingerprints.
  func verify(_ store: OpaquePointer) -> Bool {
    guard let leaf = X509_STORE_CTX_get0_cert(store), let der = try? Certificate.der(of: leaf) else { return false }
    remoteCertificates = [der]
    let chain = X509_STORE_CTX_get0_untrusted(store)
    for index in 0..<max(0, OPENSSL_sk_num(chain)) {
      guard let next = OPENSSL_sk_value(chain, index), let nextDER = try? Certificate.der(of: OpaquePointer(next)) else { continue }
      if nextDER != der { remoteCertificates.append(nextDER) }
    }
    // All of them use the same function: Endpoint keeps those of the strongest one, as RFC 8122 section 5 asks.
    guard let function = remoteFingerprints.first?.hashFunction else { return false }
    let actual = Fingerprint(algorithm: function.rawValue, bytes: function.digest(der))
    if remoteFingerprints.contains(actual) { return true }
    refusal = .fingerprintMismatch(expected: remoteFingerprints, actual: actual)
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)  // Becomes the alert bad_certificate.
    return false
  }

  // MARK: Context

  private static let exDataIndex: Int32 = 0

  /// The session that `ssl` belongs to.
  private static func of(_ ssl: OpaquePointer?) -> Session {
    guard let data = SSL_get_ex_data(ssl, exDataIndex) else { preconditionFailure("init stores the session in its SSL") }
    return Unmanaged<Session>.fromOpaque(data).takeUnretainedValue()
  }

  /// The suites of RFC 8827 section 6.5 and their stronger siblings: forward secret, and authenticated encryption first.
  private static let cipherSuites = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA",
  ]

  /// The SSL_CTX for all associations that use `certificate`.
  static func makeContext(certificate: OpaquePointer, key: OpaquePointer) throws(DTLSError) -> OpaquePointer {
    ERR_clear_error()
    guard let context = SSL_CTX_new(DTLS_method()) else { throw .fromQueue(doing: "SSL_CTX_new") }
    do throws(DTLSError) {
      guard SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1 else {
        throw .invalidCertificate(DTLSError.fromQueue(doing: "SSL_CTX_use_certificate").description)
      }
      let version = Int(DTLS1_2_VERSION)
      try DTLSError.check(SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, version, nil), "SSL_CTX_set_min_proto_version")
      try DTLSError.check(SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, version, nil), "SSL_CTX_set_max_proto_version")
      try DTLSError.check(SSL_CTX_set_cipher_list(context, cipherSuites.joined(separator: ":")), "SSL_CTX_set_cipher_list")
      let groups = Array("X25519:P-256:P-384".utf8CString)
      let set = groups.withUnsafeBufferPointer {
        SSL_CTX_ctrl(context, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: $0.baseAddress))
      }
      try DTLSError.check(set, "SSL_CTX_set1_groups_list")
    } catch {
      SSL_CTX_free(context)
      throw error
    }
    // The MTU is ours to say, nobody resumes sessions, and a renegotiation could change the certificate.
    SSL_CTX_set_options(
      context, OPTION_NO_QUERY_MTU | OPTION_NO_TICKET | OPTION_NO_RENEGOTIATION | OPTION_CIPHER_SERVER_PREFERENCE)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    SSL_CTX_set_cert_verify_callback(
      context,
      { store, _ in
        guard let store else { return 0 }
        let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
        return Session.of(ssl.map { OpaquePointer($0) }).verify(store) ? 1 : 0
      }, nil)
    return context
  }
}
