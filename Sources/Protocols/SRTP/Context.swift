import CSRTP

/// Which way a context's packets go: one side's outbound key is the other side's inbound key.
public enum Direction: Sendable, Hashable { case outbound, inbound }

/// Protects or unprotects the RTP and RTCP packets of one direction, of any SSRC, in place (RFC 3711, RFC 7714).
///
/// The rollover counter and the replay window of each SSRC are kept inside; the first packet of an SSRC that authenticates begins them.
public struct Context: ~Copyable, Sendable {
  /// The accepted replay windows, in packets.
  public static let validReplayWindow = 64...32_767
  /// Spare bytes that a span needs behind a packet to be protected.
  public static let maximumTrailer = Profile.maximumTrailer

  /// The protection profile.
  public let profile: Profile
  /// Which way the packets go.
  public let direction: Direction

  /// libsrtp's session. It has no lock and needs none: this value cannot be copied, so one caller at a time uses it.
  private nonisolated(unsafe) let session: srtp_t

  private static let initialization = srtp_init()

  /// A context that has seen no packet.
  ///
  /// - Parameters:
  ///   - key: The master key, `profile.keyCount` bytes.
  ///   - salt: The master salt, `profile.saltCount` bytes.
  ///   - replayWindow: How far, in packets, an inbound packet may be late. Outbound, how far back a packet may be sent again unchanged.
  public init(profile: Profile, key: [UInt8], salt: [UInt8], direction: Direction, replayWindow: Int = 1024) throws(SRTPError) {
    guard key.count == profile.keyCount else { throw .wrongKeyLength(expected: profile.keyCount, actual: key.count) }
    guard salt.count == profile.saltCount else { throw .wrongKeyLength(expected: profile.saltCount, actual: salt.count) }
    guard Context.validReplayWindow.contains(replayWindow) else { throw .invalidReplayWindow(replayWindow) }
    try Context.check(Context.initialization)

    var policy = srtp_policy_t()
    switch profile {
    case .aes128CMSHA1_80:
      srtp_crypto_policy_set_rtp_default(&policy.rtp)
      srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
    case .aeadAES128GCM:
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
    case .aeadAES256GCM:
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp)
    }
    policy.ssrc.type = direction == .outbound ? ssrc_any_outbound : ssrc_any_inbound
    policy.window_size = UInt(replayWindow)
    // A lost packet that is sent again without RTX is the same packet: same sequence number, same payload.
    policy.allow_repeat_tx = 1
    var secret = key + salt
    var session: srtp_t?
    let status = secret.withUnsafeMutableBufferPointer { buffer in
      policy.key = buffer.baseAddress
      return srtp_create(&session, &policy)
    }
    try Context.check(status)
    guard let session else { throw .library(status: srtp_err_status_fail.rawValue) }
    self.profile = profile
    self.direction = direction
    self.session = session
  }

  deinit { srtp_dealloc(session) }

  /// Protects the RTP packet in the first `count` bytes of `packet`, which must have `maximumTrailer` more. Returns the new count.
  public mutating func protect(_ packet: inout MutableRawSpan, count: Int) throws(SRTPError) -> Int {
    guard direction == .outbound else { throw .wrongDirection }
    guard count >= 12 else { throw .malformed }
    return try transform(&packet, count, spare: Context.maximumTrailer, srtp_protect)
  }

  /// Checks and decrypts the SRTP packet in the first `count` bytes of `packet`. Returns the count of the RTP packet.
  ///
  /// - Throws: `authenticationFailed`, `replayed`, `tooOld` or `malformed`; the bytes are then useless, the context is unchanged.
  public mutating func unprotect(_ packet: inout MutableRawSpan, count: Int) throws(SRTPError) -> Int {
    guard direction == .inbound else { throw .wrongDirection }
    guard count >= 12 + profile.rtpOverhead else { throw .malformed }
    return try transform(&packet, count, spare: 0, srtp_unprotect)
  }

  /// Protects the RTCP packet, compound or not, in the first `count` bytes of `packet`, which must have `maximumTrailer` more.
  /// Returns the new count.
  public mutating func protectRTCP(_ packet: inout MutableRawSpan, count: Int) throws(SRTPError) -> Int {
    guard direction == .outbound else { throw .wrongDirection }
    guard count >= 8 else { throw .malformed }
    return try transform(&packet, count, spare: Context.maximumTrailer, srtp_protect_rtcp)
  }

  /// Checks and decrypts the SRTCP packet in the first `count` bytes of `packet`. Returns the count of the RTCP packet.
  ///
  /// - Throws: As `unprotect` does.
  public mutating func unprotectRTCP(_ packet: inout MutableRawSpan, count: Int) throws(SRTPError) -> Int {
    guard direction == .inbound else { throw .wrongDirection }
    guard count >= 8 + profile.rtcpOverhead else { throw .malformed }
    return try transform(&packet, count, spare: 0, srtp_unprotect_rtcp)
  }

  private func transform(
    _ packet: inout MutableRawSpan, _ count: Int, spare: Int,
    _ operation: (srtp_t?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> srtp_err_status_t
  ) throws(SRTPError) -> Int {
    guard let length = Int32(exactly: count), packet.byteCount - count >= spare else { throw .noRoom }
    var newLength = length
    let status = packet.withUnsafeMutableBytes { operation(session, $0.baseAddress, &newLength) }
    try Context.check(status)
    return Int(newLength)
  }

  @inline(__always)
  private static func check(_ status: srtp_err_status_t) throws(SRTPError) {
    switch status {
    case srtp_err_status_ok: return
    // AEAD ciphers report a wrong tag as a failure of the cipher.
    case srtp_err_status_auth_fail, srtp_err_status_cipher_fail: throw .authenticationFailed
    case srtp_err_status_replay_fail: throw .replayed
    case srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: throw .tooOld
    case srtp_err_status_parse_err, srtp_err_status_bad_param: throw .malformed
    case srtp_err_status_key_expired: throw .keyExpired
    default: throw .library(status: status.rawValue)
    }
  }
}
