import Base
import Bytes
import COpenSSL

/// One end of a DTLS 1.2 association over any datagram transport (RFC 6347), as WebRTC uses it (RFC 8827 section 6.5, RFC 5764).
///
/// Datagrams and the time go in with `receive` and `handleTimeout`; afterwards drain `pollTransmit` and `pollEvent` until they return nil
/// and call `handleTimeout` at `deadline`. Lost flights are repeated after 50 ms, doubling up to 2 s; after 12 repetitions without an
/// answer the association fails with `DTLSError.timedOut`. Garbage, replayed and forged records are counted and dropped.
public struct Endpoint: ~Copyable, Sendable {
  /// The SRTP protection profiles offered when nothing else is asked for: the fastest first.
  public static let defaultProfiles: [UInt16] = [0x0007, 0x0008, 0x0001]
  /// The accepted sizes of the largest datagram, in bytes.
  public static let validMTU = 256...16_384

  /// Where the association stands.
  public private(set) var state = State.new
  /// The SRTP protection profile that was agreed on.
  public private(set) var srtpProfile: UInt16?
  /// The cipher suite's IANA name, such as `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256`, once connected.
  public private(set) var cipher: String?
  /// The protocol version as W3C statistics write it, `FEFD` for DTLS 1.2, once connected.
  public private(set) var tlsVersion: String?
  /// Which side this is.
  public let role: Role

  private let session: Session
  /// Keeps the SSL_CTX's owner alive for `localCertificate`.
  private let certificate: Certificate
  private var events = Queue<Event>()
  private var discards = Counters()
  private var scratch: [UInt8] = []

  /// An association that has not begun.
  ///
  /// - Parameters:
  ///   - remoteFingerprints: From the peer's session description. Of several hash functions the strongest counts, and the peer's
  ///     certificate must match one of the fingerprints made with it (RFC 8122 section 5).
  ///   - srtpProfiles: Numbers of SRTP protection profiles, preferred ones first; empty for data only.
  ///   - mtu: The largest datagram of the handshake, in bytes. Application data is sent as it comes, in one datagram.
  /// - Throws: `noUsableFingerprint`, `unsupportedProfile`, `invalidMTU`; `library` in a process without memory.
  public init(
    role: Role, certificate: Certificate, remoteFingerprints: [Fingerprint], srtpProfiles: [UInt16] = defaultProfiles, mtu: Int = 1200
  ) throws(DTLSError) {
    guard let strongest = HashFunction.allCases.last(where: { function in remoteFingerprints.contains { $0.hashFunction == function } })
    else {
      throw .noUsableFingerprint(algorithms: remoteFingerprints.map(\.algorithm))
    }
    guard Endpoint.validMTU.contains(mtu) else { throw .invalidMTU(mtu) }
    var profiles: [SRTPProfile] = []
    for number in srtpProfiles {
      guard let profile = SRTPProfile(rawValue: number) else { throw .unsupportedProfile(number) }
      profiles.append(profile)
    }
    let session = try Session(
      context: certificate.context, role: role, remoteFingerprints: remoteFingerprints.filter { $0.hashFunction == strongest },
      profiles: profiles, mtu: mtu)
    self.init(role: role, certificate: certificate, session: session)
  }

  private init(role: Role, certificate: Certificate, session: Session) {
    self.role = role
    self.certificate = certificate
    self.session = session
  }

  // MARK: Input

  /// Begins: a client sends its first flight, a server waits for one. Does nothing once begun.
  public mutating func start(now: Instant) {
    guard state == .new else { return }
    state = .connecting
    session.now = now
    if role == .client { advance() }
  }

  /// Takes a datagram from the peer. A server that has not begun begins.
  public mutating func receive(_ datagram: RawSpan, now: Instant) {
    if role == .server { start(now: now) }
    guard state == .connecting || state == .connected else {
      discards.count("dtls.discarded")
      return
    }
    session.now = now
    datagram.withUnsafeBytes { bytes in
      session.reading(bytes) { advance() }
    }
  }

  /// Repeats the last flight when `deadline` has come.
  public mutating func handleTimeout(now: Instant) {
    guard state == .connecting || state == .connected, let deadline = session.deadline, now >= deadline else { return }
    session.now = now
    if !session.retransmit() { fail(.fromQueue(doing: "DTLSv1_handle_timeout")) }
  }

  /// Encrypts application data, an SCTP packet, into one datagram.
  ///
  /// - Throws: `notConnected`, or `messageTooLarge` beyond 16,384 bytes.
  public mutating func send(_ data: RawSpan) throws(DTLSError) {
    guard state == .connected else { throw .notConnected }
    guard data.byteCount <= Session.recordLimit else { throw .messageTooLarge(count: data.byteCount, limit: Session.recordLimit) }
    guard data.byteCount > 0 else { return }  // OpenSSL has no empty records.
    ERR_clear_error()
    let written = data.withUnsafeBytes { SSL_write(session.ssl, $0.baseAddress, Int32($0.count)) }
    guard written > 0 else {
      let error = DTLSError.fromQueue(doing: "SSL_write")
      fail(error)
      throw error
    }
  }

  /// Ends the association and tells the peer.
  public mutating func close() {
    guard state != .closed, state != .failed else { return }
    if state == .connected {
      ERR_clear_error()
      SSL_shutdown(session.ssl)
    }
    state = .closed
    events.append(.closed)
  }

  // MARK: Output

  /// When `handleTimeout` wants to be called; nil for never.
  public var deadline: Instant? { state == .connecting || state == .connected ? session.deadline : nil }

  /// The next datagram for the peer.
  public mutating func pollTransmit() -> [UInt8]? { session.output.popFirst() }

  /// The next thing that happened.
  public mutating func pollEvent() -> Event? { events.popFirst() }

  /// The peer's certificate chain, DER, the leaf first; also when it was refused.
  public var remoteCertificates: [[UInt8]] { session.remoteCertificates }

  /// What this side authenticates with.
  public var localCertificate: Certificate { certificate }

  /// Malformed records (`dtls.malformed`), records and datagrams that were dropped as replayed, forged or out of time
  /// (`dtls.discarded`), repeated flights (`dtls.retransmission`).
  public var counters: Counters {
    var all = session.counters
    all.add(discards)
    return all
  }

  // MARK: OpenSSL

  /// Runs the handshake, then reads application data, until OpenSSL wants another datagram.
  private mutating func advance() {
    if state == .connecting { shakeHands() }
    guard state == .connected else { return }
    if scratch.isEmpty { scratch = [UInt8](repeating: 0, count: Session.recordLimit) }
    let recordsBefore = session.applicationRecords
    var delivered = 0
    while state == .connected {
      ERR_clear_error()
      let before = session.inputRemaining
      let count = SSL_read(session.ssl, &scratch, Int32(scratch.count))
      if count > 0 {
        delivered += 1
        events.append(.applicationData(Array(scratch[..<Int(count)])))
        continue
      }
      switch SSL_get_error(session.ssl, count) {
      case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
        // A handshake record that came again ends SSL_read early.
        if session.inputRemaining > 0, session.inputRemaining < before { continue }
        let lost = session.applicationRecords - recordsBefore - delivered
        if lost > 0 { discards.count("dtls.discarded", lost) }
        return
      case SSL_ERROR_ZERO_RETURN: close()
      default: fail(.fromQueue(doing: "SSL_read"))
      }
    }
  }

  private mutating func shakeHands() {
    ERR_clear_error()
    let result = SSL_do_handshake(session.ssl)
    guard result != 1 else { return becomeConnected() }
    switch SSL_get_error(session.ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
    default:
      let error = DTLSError.fromQueue(doing: "SSL_do_handshake")
      fail(session.refusal ?? error)
    }
  }

  private mutating func becomeConnected() {
    do throws(DTLSError) {
      let keys = try exportKeys()
      state = .connected
      srtpProfile = keys?.profile
      cipher = SSL_CIPHER_standard_name(SSL_get_current_cipher(session.ssl)).map { String(cString: $0) }
      tlsVersion = String(SSL_version(session.ssl), radix: 16, uppercase: true)
      events.append(.connected(keys))
    } catch {
      fail(error)
    }
  }

  private func exportKeys() throws(DTLSError) -> KeyingMaterial? {
    guard let selected = SSL_get_selected_srtp_profile(session.ssl) else { return nil }
    guard let profile = UInt16(exactly: selected.pointee.id).flatMap(SRTPProfile.init) else {
      throw .protocolViolation("an SRTP protection profile that was not offered")
    }
    var exported = [UInt8](repeating: 0, count: profile.exportedCount)
    let label = "EXTRACTOR-dtls_srtp"
    try DTLSError.check(
      SSL_export_keying_material(session.ssl, &exported, exported.count, label, label.utf8.count, nil, 0, 0), "SSL_export_keying_material")
    return KeyingMaterial(profile: profile, exported: exported)
  }

  private mutating func fail(_ error: DTLSError) {
    state = .failed
    events.append(.failed(error))
  }
}
