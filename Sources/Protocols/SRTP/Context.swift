import COpenSSL

/// Which way a context's packets go: one side's outbound key is the other side's inbound key.
public enum Direction: Sendable, Hashable { case outbound, inbound }

/// Protects or unprotects the RTP and RTCP packets of one direction, of any SSRC, in place (RFC 3711, RFC 7714), with OpenSSL's ciphers.
///
/// The rollover counter and the replay window of each SSRC are kept inside; the first packet of an SSRC that authenticates begins them.
/// Only that packet allocates.
///
/// libsrtp2 would do the same; as Debian builds it, on NSS, it allocates 5 to 14 times per packet and takes up to twice the time.
public struct Context: ~Copyable, Sendable {
  /// The accepted replay windows, in packets.
  public static let validReplayWindow = 64...32_767
  /// Spare bytes that a span needs behind a packet to be protected.
  public static let maximumTrailer = Profile.maximumTrailer

  /// The protection profile.
  public let profile: Profile
  /// Which way the packets go.
  public let direction: Direction

  private let rtp: Cipher
  private let rtcp: Cipher
  private let replayWindow: Int
  private var streams: [Stream] = []
  /// Where in `streams` each SSRC is.
  private var places: [UInt32: Int] = [:]
  /// The one found last: most packets are of the same source as the one before.
  private var last: (ssrc: UInt32, place: Int)?

  /// What is remembered of one SSRC. Outbound windows hold the highest index only: a lost packet may be sent again as it was.
  private struct Stream {
    var rtp: ReplayWindow
    var rtcp: ReplayWindow
    init(window: Int) {
      rtp = ReplayWindow(size: window)
      rtcp = ReplayWindow(size: window)
    }
  }

  /// A context that has seen no packet.
  ///
  /// - Parameters:
  ///   - key: The master key, `profile.keyCount` bytes.
  ///   - salt: The master salt, `profile.saltCount` bytes.
  ///   - replayWindow: How far, in packets, an inbound packet may be late.
  public init(profile: Profile, key: [UInt8], salt: [UInt8], direction: Direction, replayWindow: Int = 1024) throws(SRTPError) {
    guard key.count == profile.keyCount else { throw .wrongKeyLength(expected: profile.keyCount, actual: key.count) }
    guard salt.count == profile.saltCount else { throw .wrongKeyLength(expected: profile.saltCount, actual: salt.count) }
    guard Context.validReplayWindow.contains(replayWindow) else { throw .invalidReplayWindow(replayWindow) }
    let rtp = try SessionKeys(.rtp, profile: profile, masterKey: key, masterSalt: salt)
    let rtcp = try SessionKeys(.rtcp, profile: profile, masterKey: key, masterSalt: salt)
    try self.init(profile: profile, rtp: rtp, rtcp: rtcp, direction: direction, replayWindow: replayWindow)
  }

  /// A context with session keys from elsewhere.
  init(profile: Profile, rtp: SessionKeys, rtcp: SessionKeys, direction: Direction, replayWindow: Int = 1024) throws(SRTPError) {
    let rtpCipher = try Cipher(profile: profile, keys: rtp, direction: direction)
    let rtcpCipher = try Cipher(profile: profile, keys: rtcp, direction: direction)
    self.init(profile: profile, direction: direction, rtp: rtpCipher, rtcp: rtcpCipher, replayWindow: replayWindow)
  }

  private init(profile: Profile, direction: Direction, rtp: Cipher, rtcp: Cipher, replayWindow: Int) {
    self.profile = profile
    self.direction = direction
    self.rtp = rtp
    self.rtcp = rtcp
    self.replayWindow = replayWindow
  }

  // MARK: RTP

  /// Protects the RTP packet in the first `count` bytes of `packet`, which must have `maximumTrailer` more. Returns the new count.
  ///
  /// A packet may be protected again, to be sent again. With the AEAD profiles it must then be the same to the last bit, header
  /// extensions too, since a nonce used for two texts betrays the key.
  public mutating func protect(_ packet: inout MutableRawSpan, count: Int) throws(SRTPError) -> Int {
    guard direction == .outbound else { throw .wrongDirection }
    try Context.requireRoom(packet.byteCount, count, Context.maximumTrailer)
    let header = try RTPHeader(packet.bytes, count: count)
    let place = place(of: header.ssrc)
    let index = try nextIndex(header, place)
    let (cipher, isAEAD) = (rtp, profile.isAEAD)
    try packet.withUnsafeMutableBytes { bytes throws(SRTPError) in
      let (head, payload, tail) = Context.split(bytes, header.count, count)
      if isAEAD {
        try cipher.seal(head, payload, trailer: nil, ssrc: header.ssrc, index: index, tag: tail)
      } else {
        try cipher.applyCounterMode(payload, ssrc: header.ssrc, index: index)
        cipher.sign(.init(rebasing: bytes[..<count]), suffix: UInt32(truncatingIfNeeded: index >> 16), tag: tail)
      }
    }
    streams[place ?? addStream(header.ssrc)].rtp.insert(index)
    return count + profile.tagCount
  }

  /// Checks and decrypts the SRTP packet in the first `count` bytes of `packet`. Returns the count of the RTP packet.
  ///
  /// - Throws: `authenticationFailed`, `replayed`, `tooOld` or `malformed`; the bytes are then useless, the context is unchanged.
  public mutating func unprotect(_ packet: inout MutableRawSpan, count: Int) throws(SRTPError) -> Int {
    guard direction == .inbound else { throw .wrongDirection }
    try Context.requireRoom(packet.byteCount, count, 0)
    let newCount = count - profile.tagCount
    let header = try RTPHeader(packet.bytes, count: newCount)
    let place = place(of: header.ssrc)
    let index = try nextIndex(header, place)
    if let place { try streams[place].rtp.check(index) }
    let (cipher, isAEAD) = (rtp, profile.isAEAD)
    try packet.withUnsafeMutableBytes { bytes throws(SRTPError) in
      let (head, payload, tail) = Context.split(bytes, header.count, newCount)
      if isAEAD {
        try cipher.open(head, payload, trailer: nil, ssrc: header.ssrc, index: index, tag: tail)
      } else {
        try cipher.verify(.init(rebasing: bytes[..<newCount]), suffix: UInt32(truncatingIfNeeded: index >> 16), tag: tail)
        try cipher.applyCounterMode(payload, ssrc: header.ssrc, index: index)
      }
    }
    streams[place ?? addStream(header.ssrc)].rtp.insert(index)
    return newCount
  }

  /// The packet index, rollover counter and sequence number, that lies nearest to the highest so far (RFC 3711 section 3.3.1).
  private func nextIndex(_ header: RTPHeader, _ place: Int?) throws(SRTPError) -> UInt64 {
    guard let place, let highest = streams[place].rtp.highest else { return UInt64(header.sequenceNumber) }
    let distance = Int16(bitPattern: header.sequenceNumber &- UInt16(truncatingIfNeeded: highest))
    let index = Int64(highest) + Int64(distance)
    guard index >= 0 else { throw .tooOld }
    guard index < 1 << 48 else { throw .keyExpired }
    return UInt64(index)
  }

  /// Where the stream of a source is; nil before its first packet that authenticates.
  private mutating func place(of ssrc: UInt32) -> Int? {
    if let last, last.ssrc == ssrc { return last.place }
    guard let place = places[ssrc] else { return nil }
    last = (ssrc, place)
    return place
  }

  private mutating func addStream(_ ssrc: UInt32) -> Int {
    places[ssrc] = streams.count
    streams.append(Stream(window: replayWindow))
    return streams.count - 1
  }

  // MARK: RTCP

  /// Protects the RTCP packet, compound or not, in the first `count` bytes of `packet`, which must have `maximumTrailer` more.
  /// Returns the new count.
  public mutating func protectRTCP(_ packet: inout MutableRawSpan, count: Int) throws(SRTPError) -> Int {
    guard direction == .outbound else { throw .wrongDirection }
    try Context.requireRoom(packet.byteCount, count, Context.maximumTrailer)
    guard count >= Context.rtcpHeaderCount else { throw .malformed }
    let ssrc = Context.word(packet.bytes, at: 4)
    let place = place(of: ssrc)
    let index = (place.flatMap { streams[$0].rtcp.highest } ?? 0) + 1
    guard index < 1 << 31 else { throw .keyExpired }
    let word = UInt32(index) | 1 << 31  // The flag that says that the packet is encrypted.
    let (cipher, profile) = (rtcp, profile)
    try packet.withUnsafeMutableBytes { bytes throws(SRTPError) in
      let (head, payload, tail) = Context.split(bytes, Context.rtcpHeaderCount, count)
      if profile.isAEAD {
        // RFC 7714 section 9: the tag comes before the index.
        try cipher.seal(head, payload, trailer: word, ssrc: ssrc, index: index, tag: tail)
        tail.storeBytes(of: word.bigEndian, toByteOffset: profile.tagCount, as: UInt32.self)
      } else {
        try cipher.applyCounterMode(payload, ssrc: ssrc, index: index)
        tail.storeBytes(of: word.bigEndian, as: UInt32.self)
        cipher.sign(.init(rebasing: bytes[..<(count + 4)]), suffix: nil, tag: tail + 4)
      }
    }
    streams[place ?? addStream(ssrc)].rtcp.insert(index)
    return count + profile.rtcpOverhead
  }

  /// Checks and decrypts the SRTCP packet in the first `count` bytes of `packet`. Returns the count of the RTCP packet.
  ///
  /// - Throws: As `unprotect` does. A packet that is not encrypted, which WebRTC forbids (RFC 8827 section 6.5), is malformed.
  public mutating func unprotectRTCP(_ packet: inout MutableRawSpan, count: Int) throws(SRTPError) -> Int {
    guard direction == .inbound else { throw .wrongDirection }
    try Context.requireRoom(packet.byteCount, count, 0)
    let newCount = count - profile.rtcpOverhead
    guard newCount >= Context.rtcpHeaderCount else { throw .malformed }
    let ssrc = Context.word(packet.bytes, at: 4)
    let word = Context.word(packet.bytes, at: profile.isAEAD ? newCount + profile.tagCount : newCount)
    guard word >> 31 == 1 else { throw .malformed }
    let index = UInt64(word & 0x7FFF_FFFF)
    let place = place(of: ssrc)
    if let place { try streams[place].rtcp.check(index) }
    let (cipher, isAEAD) = (rtcp, profile.isAEAD)
    try packet.withUnsafeMutableBytes { bytes throws(SRTPError) in
      let (head, payload, tail) = Context.split(bytes, Context.rtcpHeaderCount, newCount)
      if isAEAD {
        try cipher.open(head, payload, trailer: word, ssrc: ssrc, index: index, tag: tail)
      } else {
        try cipher.verify(.init(rebasing: bytes[..<(newCount + 4)]), suffix: nil, tag: tail + 4)
        try cipher.applyCounterMode(payload, ssrc: ssrc, index: index)
      }
    }
    streams[place ?? addStream(ssrc)].rtcp.insert(index)
    return newCount
  }

  // MARK: Bytes

  /// What stays readable of an RTCP packet.
  private static let rtcpHeaderCount = 8

  private static func requireRoom(_ size: Int, _ count: Int, _ spare: Int) throws(SRTPError) {
    guard count >= 0, count <= 1 << 20 else { throw .malformed }
    guard size - count >= spare else { throw .noRoom }
  }

  /// The 32 bits at `offset`.
  private static func word(_ bytes: RawSpan, at offset: Int) -> UInt32 {
    UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// A packet's header, its payload, and where they end.
  private static func split(_ bytes: UnsafeMutableRawBufferPointer, _ headerCount: Int, _ count: Int) -> (
    head: UnsafeMutableRawBufferPointer, payload: UnsafeMutableRawBufferPointer, tail: UnsafeMutableRawPointer
  ) {
    guard let base = bytes.baseAddress else { preconditionFailure("a packet with a header has bytes") }
    return (
      .init(rebasing: bytes[..<headerCount]), .init(rebasing: bytes[headerCount..<count]), base + count
    )
  }
}

/// What protection needs to know of an RTP header (RFC 3550 section 5.1).
private struct RTPHeader {
  var sequenceNumber: UInt16
  var ssrc: UInt32
  /// Length with contributing sources and header extension, which are not encrypted.
  var count: Int

  /// - Throws: `malformed` when the header does not fit into `count` bytes.
  init(_ bytes: RawSpan, count packetCount: Int) throws(SRTPError) {
    guard packetCount >= 12 else { throw .malformed }
    sequenceNumber = UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt16.self))
    ssrc = UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt32.self))
    let first = bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    count = 12 + 4 * Int(first & 0x0F)
    if first & 0x10 != 0 {
      guard packetCount >= count + 4 else { throw .malformed }
      count += 4 + 4 * Int(UInt16(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: count + 2, as: UInt16.self)))
    }
    guard packetCount >= count else { throw .malformed }
  }
}
