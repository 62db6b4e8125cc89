/// Why a packet was not protected or not accepted, or a context not made.
public enum SRTPError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The tag does not fit the packet: forged, damaged, or protected with another key.
  case authenticationFailed
  /// A packet with this index was accepted before.
  case replayed
  /// The packet's index lies before the replay window, so whether it came before is unknown.
  case tooOld
  /// Not an RTP or RTCP packet: too short, or its header claims more than there is.
  case malformed
  /// The span has less spare room than `Profile.maximumTrailer`, or fewer bytes than the count given.
  case noRoom
  /// The key may protect no more packets: the packet index is used up (RFC 3711 section 9.2).
  case keyExpired
  /// Key or salt has the wrong length in bytes.
  case wrongKeyLength(expected: Int, actual: Int)
  /// A replay window outside `Context.validReplayWindow`.
  case invalidReplayWindow(Int)
  /// The context was made for the other direction.
  case wrongDirection
  /// OpenSSL refused an operation that has no reason to fail.
  case library

  public var description: String {
    switch self {
    case .authenticationFailed: "the packet's authentication tag is wrong"
    case .replayed: "the packet was received before"
    case .tooOld: "the packet is older than the replay window"
    case .malformed: "not an RTP or RTCP packet"
    case .noRoom: "no room for the authentication tag"
    case .keyExpired: "the SRTP key is used up"
    case .wrongKeyLength(let expected, let actual): "an SRTP key or salt of \(actual) bytes where \(expected) are needed"
    case .invalidReplayWindow(let size): "a replay window of \(size) packets is outside \(Context.validReplayWindow)"
    case .wrongDirection: "the SRTP context was made for the other direction"
    case .library: "OpenSSL failed"
    }
  }
}
