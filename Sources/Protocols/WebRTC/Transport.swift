import Base
import Bytes
import DTLS
import ICE
import SRTP

/// The one transport of a connection: ICE below, DTLS and SRTP above it, told apart by the first byte of each packet (RFC 7983).
struct Transport: ~Copyable {
  /// What a packet turned out to be, once decrypted in place.
  enum Arrival {
    case nothing
    case rtp(Range<Int>)
    case rtcp(Range<Int>)
  }

  var ice: ICE.Agent
  private(set) var dtls: DTLS.Endpoint?
  private(set) var state = DTLSTransportState.new
  private(set) var role: DTLS.Role?
  private(set) var failure: String?
  private var outbound: SRTP.Context?
  private var inbound: SRTP.Context?
  private(set) var profile: SRTP.Profile?
  var counters = Counters()
  /// Records that came before the peer's fingerprints were known.
  private var early: [[UInt8]] = []
  private var applicationData = Queue<[UInt8]>()
  private var isStarted = false
  /// By when the handshake has to be done; nil while there is no way to the peer, or when it is done.
  private var handshakeEnd: Instant?
  private var isRouteClosed = false
  private let certificate: Certificate

  /// How many early records are kept: a ClientHello's flight and one repetition.
  private static let earlyLimit = 8
  /// A client gives up by itself; a server, whom nobody calls, would wait for ever.
  private static let handshakeLimit = Interval.seconds(20)

  init(ice: ICE.Agent, certificate: Certificate) {
    self.ice = ice
    self.certificate = certificate
  }

  /// The DTLS cipher suite and version in force.
  var cipher: String? {
    switch dtls {
    case .some(let endpoint): endpoint.cipher
    case .none: nil
    }
  }
  var versionText: String? {
    switch dtls {
    case .some(let endpoint): endpoint.tlsVersion
    case .none: nil
    }
  }

  /// The peer's certificate chain in DER.
  var remoteCertificates: [[UInt8]] {
    switch dtls {
    case .some(let endpoint): endpoint.remoteCertificates
    case .none: []
    }
  }

  /// Whether packets can still be protected: also for the goodbyes after closing.
  var canProtect: Bool { outbound != nil }

  /// Whether media and data can be protected.
  var isSecure: Bool { state == .connected }

  /// Makes the DTLS endpoint, once both descriptions are known. Does nothing when there is one.
  mutating func startDTLS(role: DTLS.Role, fingerprints: [DTLS.Fingerprint], profiles: [UInt16], now: Instant) {
    guard dtls == nil, state == .new else { return }
    do {
      dtls = try DTLS.Endpoint(role: role, certificate: certificate, remoteFingerprints: fingerprints, srtpProfiles: profiles)
    } catch {
      return fail("\(error)")
    }
    self.role = role
    let waiting = early
    early = []
    if role == .server { start(now: now) }
    for record in waiting { receiveDTLS(record.span.bytes, now: now) }
  }

  private mutating func start(now: Instant) {
    guard !isStarted, dtls != nil else { return }
    isStarted = true
    state = .connecting
    dtls?.start(now: now)
  }

  private mutating func fail(_ reason: String) {
    guard state != .failed, state != .closed else { return }
    state = .failed
    failure = reason
    counters.count("dtls.failed")
  }

  /// Takes one datagram; media in it is decrypted in place.
  mutating func receive(_ datagram: inout MutableRawSpan, from: SocketAddress, on socket: SocketIdentifier, now: Instant) -> Arrival {
    switch ice.receive(datagram.bytes, from: from, on: socket, now: now) {
    case .handled: return .nothing
    case .application(let offset, let count): return receive(application: &datagram, offset..<offset + count, now: now)
    }
  }

  /// Takes a packet that came out of ICE.
  mutating func receive(application datagram: inout MutableRawSpan, _ range: Range<Int>, now: Instant) -> Arrival {
    guard range.count >= 2 else {
      counters.count("transport.short")
      return .nothing
    }
    let first = datagram.bytes.byte(range.lowerBound)
    switch first {
    case 20...63:
      receiveDTLS(datagram.bytes.extracting(range), now: now)
      return .nothing
    case 128...191:
      guard inbound != nil else {
        counters.count("srtp.early")
        return .nothing
      }
      // RTCP has packet types 192 to 223, where RTP would have a marked payload type of 64 to 95 (RFC 5761 section 4).
      let isControl = (192...223).contains(datagram.bytes.byte(range.lowerBound + 1))
      var packet = datagram._mutatingExtracting(range)
      do throws(SRTPError) {
        let count =
          isControl
          ? try inbound?.unprotectRTCP(&packet, count: range.count) : try inbound?.unprotect(&packet, count: range.count)
        let plain = range.lowerBound..<range.lowerBound + (count ?? 0)
        return isControl ? .rtcp(plain) : .rtp(plain)
      } catch {
        counters.count(isControl ? "srtcp.\(error.counterName)" : "srtp.\(error.counterName)")
        return .nothing
      }
    default:
      counters.count("transport.unknown")
      return .nothing
    }
  }

  private mutating func receiveDTLS(_ record: RawSpan, now: Instant) {
    guard dtls != nil else {
      if early.count < Transport.earlyLimit { early.append(Array(bytes: record)) } else { counters.count("dtls.early") }
      return
    }
    dtls?.receive(record, now: now)
    takeEvents()
  }

  private mutating func takeEvents() {
    while let event = dtls?.pollEvent() {
      switch event {
      case .connected(let keys): connect(keys)
      case .applicationData(let bytes): applicationData.append(bytes)
      case .closed: state = .closed
      case .failed(let error): fail("DTLS: \(error)")
      }
    }
  }

  private mutating func connect(_ keys: KeyingMaterial?) {
    state = .connected
    handshakeEnd = nil
    guard let keys else { return }
    guard let profile = SRTP.Profile(rawValue: keys.profile) else {
      return fail("the peer chose SRTP profile \(keys.profile), which is unknown")
    }
    let isClient = role == .client
    do throws(SRTPError) {
      outbound = try SRTP.Context(
        profile: profile, key: isClient ? keys.clientKey : keys.serverKey, salt: isClient ? keys.clientSalt : keys.serverSalt,
        direction: .outbound)
      inbound = try SRTP.Context(
        profile: profile, key: isClient ? keys.serverKey : keys.clientKey, salt: isClient ? keys.serverSalt : keys.clientSalt,
        direction: .inbound)
      self.profile = profile
    } catch {
      fail("\(error)")
    }
  }

  /// A packet that ICE took out of a TCP or TLS stream.
  mutating func pollStreamPacket() -> [UInt8]? { ice.pollApplicationData() }

  /// An SCTP packet from the peer.
  mutating func pollApplicationData() -> [UInt8]? { applicationData.popFirst() }

  mutating func handleTimeout(now: Instant) {
    if let deadline = ice.deadline, deadline <= now { ice.handleTimeout(now: now) }
    if dtls != nil {
      dtls?.handleTimeout(now: now)
      takeEvents()
    }
    guard let end = handshakeEnd, end <= now else { return }
    handshakeEnd = nil
    if state == .new || state == .connecting { fail("the peer did not complete the DTLS handshake") }
  }

  var deadline: Instant? {
    switch dtls {
    case .some(let endpoint): earliest(earliest(ice.deadline, endpoint.deadline), handshakeEnd)
    case .none: ice.deadline
    }
  }

  /// The DTLS client speaks first, as soon as there is a way.
  private mutating func startWhenRouted(now: Instant) {
    if handshakeEnd == nil, dtls != nil, state == .new || state == .connecting, ice.hasRoute {
      handshakeEnd = now + Transport.handshakeLimit
    }
    if role == .client, !isStarted, ice.hasRoute { start(now: now) }
  }

  /// The next control packet, copied into `buffer`.
  mutating func pollTransmit(into buffer: inout MutableRawSpan, now: Instant) -> Outgoing? {
    if let transmit = ice.pollTransmit() {
      buffer.copy(from: transmit.bytes.span.bytes)
      return Outgoing(socket: transmit.socket, destination: transmit.destination, count: transmit.bytes.count)
    }
    startWhenRouted(now: now)
    guard dtls != nil, ice.hasRoute, let record = dtls?.pollTransmit() else { return nil }
    buffer.copy(from: record.span.bytes)
    return route(count: record.count)
  }

  /// Wraps an SCTP packet into a DTLS record, which the next polls give out.
  mutating func send(applicationData packet: RawSpan) {
    do {
      try dtls?.send(packet)
    } catch {
      counters.count("dtls.unsent")
    }
  }

  mutating func protect(_ buffer: inout MutableRawSpan, count: Int, isControl: Bool) -> Outgoing? {
    guard outbound != nil else { return nil }
    do throws(SRTPError) {
      let total = isControl ? try outbound?.protectRTCP(&buffer, count: count) : try outbound?.protect(&buffer, count: count)
      return route(count: total ?? 0)
    } catch {
      counters.count(isControl ? "srtcp.unprotected" : "srtp.unprotected")
      return nil
    }
  }

  private mutating func route(count: Int) -> Outgoing? {
    guard let route = ice.route(byteCount: count) else {
      counters.count("transport.unrouted")
      return nil
    }
    return Outgoing(
      socket: route.socket, destination: route.destination, count: count, prefix: UInt32(bigEndian: route.prefix),
      prefixCount: route.prefixCount,
      paddingCount: route.paddingCount)
  }

  mutating func close(now: Instant) {
    handshakeEnd = nil
    dtls?.close()
    if state != .failed { state = .closed }
  }

  /// Gives up the way to the peer, once the goodbyes went out. True the first time.
  mutating func closeRoute(now: Instant) -> Bool {
    guard !isRouteClosed else { return false }
    isRouteClosed = true
    ice.close(now: now)
    return true
  }
}

/// W3C `RTCDtlsTransportState`.
public enum DTLSTransportState: String, Sendable { case new, connecting, connected, closed, failed }

/// A packet to be sent: its bytes are in the buffer that the caller gave.
public struct Outgoing: Sendable {
  /// The socket or stream to send on.
  public var socket: SocketIdentifier
  /// Where to; for a stream, its other end.
  public var destination: SocketAddress
  /// How many bytes of the buffer are the packet.
  public var count: Int
  /// Bytes that go before the packet (TURN channel, TCP framing), most significant first.
  public var prefix: UInt32 = 0
  /// How many of `prefix`'s upper bytes count: 0, 2 or 4.
  public var prefixCount = 0
  /// Zero bytes that go after the packet, 0 to 3.
  public var paddingCount = 0
}

/// The earlier of two deadlines, where nil is never.
func earliest(_ a: Instant?, _ b: Instant?) -> Instant? {
  guard let a else { return b }
  guard let b else { return a }
  return min(a, b)
}

extension RawSpan {
  func byte(_ offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount, "the caller checked the length")
    return unsafe unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }
}

extension MutableRawSpan {
  /// Overwrites the first bytes with those of `source`, which must fit.
  @_lifetime(self: copy self)
  mutating func copy(from source: RawSpan) {
    precondition(source.byteCount <= byteCount, "packets fit the buffers they are written to")
    withUnsafeMutableBytes { target in source.withUnsafeBytes { unsafe target.copyMemory(from: $0) } }
  }
}

extension SRTPError {
  /// The reason in a counter's name.
  var counterName: String {
    switch self {
    case .authenticationFailed: "unauthentic"
    case .replayed: "replayed"
    case .tooOld: "tooOld"
    case .malformed: "malformed"
    default: "failed"
    }
  }
}
