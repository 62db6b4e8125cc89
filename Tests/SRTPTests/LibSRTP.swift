import CSRTP
import SRTP

/// libsrtp2 as an independent peer: one session that protects or unprotects what any source sends.
final class LibSRTP {
  private var session: srtp_t?
  private var key: [UInt8]

  private static let isReady: Bool = srtp_init() == srtp_err_status_ok

  init(_ profile: Profile, key: [UInt8], salt: [UInt8], isInbound: Bool) {
    precondition(LibSRTP.isReady, "libsrtp2 can be started")
    self.key = key + salt
    var policy = srtp_policy_t()
    let number = srtp_profile_t(rawValue: UInt32(profile.rawValue))
    precondition(srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, number) == srtp_err_status_ok, "libsrtp2 has the profile")
    precondition(srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, number) == srtp_err_status_ok, "libsrtp2 has the profile")
    policy.ssrc.type = isInbound ? ssrc_any_inbound : ssrc_any_outbound
    policy.window_size = 1_024
    policy.allow_repeat_tx = 1
    self.key.withUnsafeMutableBufferPointer { bytes in
      policy.key = bytes.baseAddress
      precondition(srtp_create(&session, &policy) == srtp_err_status_ok, "the key fits the profile")
    }
  }

  deinit { srtp_dealloc(session) }

  /// The packet protected; nil when libsrtp2 refuses it.
  func protect(_ packet: [UInt8], isControl: Bool) -> [UInt8]? {
    var bytes = packet + [UInt8](repeating: 0, count: Int(SRTP_MAX_TRAILER_LEN) + 4)
    var count = Int32(packet.count)
    let status = isControl ? srtp_protect_rtcp(session, &bytes, &count) : srtp_protect(session, &bytes, &count)
    return status == srtp_err_status_ok ? Array(bytes.prefix(Int(count))) : nil
  }

  /// The packet in the clear; nil when libsrtp2 refuses it.
  func unprotect(_ packet: [UInt8], isControl: Bool) -> [UInt8]? {
    var bytes = packet
    var count = Int32(packet.count)
    let status = isControl ? srtp_unprotect_rtcp(session, &bytes, &count) : srtp_unprotect(session, &bytes, &count)
    return status == srtp_err_status_ok ? Array(bytes.prefix(Int(count))) : nil
  }
}
