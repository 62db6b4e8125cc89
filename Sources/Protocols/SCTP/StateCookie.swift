import Base
import Bytes

/// All that is kept between INIT and COOKIE ECHO, held by the peer and authenticated with our key (RFC 9260 section 5.1.3).
struct StateCookie: Sendable, Equatable {
  /// When it was made.
  var created: Instant
  /// What our INIT ACK says.
  var localTag: UInt32
  var localInitialTSN: UInt32
  /// What the peer's INIT said.
  var peerTag: UInt32
  var peerInitialTSN: UInt32
  var peerWindow: UInt32
  var peerOutgoingStreams: UInt16
  var peerIncomingStreams: UInt16
  /// What both ends offered.
  var extensions: Initiation.Extensions
  /// The tags of the association that stood when it was made, or 0: they tell a restart from an old duplicate (RFC 9260 section 5.2.4).
  var localTieTag: UInt32
  var peerTieTag: UInt32

  /// Size in bytes.
  static let byteCount = 49
  private static let authenticatedCount = byteCount - 8

  /// The cookie with its authentication code.
  func encoded(_ authenticate: SipHash) -> [UInt8] {
    var bytes = networkOrder(created.nanoseconds) + networkOrder(localTag) + networkOrder(localInitialTSN) + networkOrder(peerTag)
    bytes += networkOrder(peerInitialTSN) + networkOrder(peerWindow) + networkOrder(peerOutgoingStreams) + networkOrder(peerIncomingStreams)
    bytes += [extensions.rawValue] + networkOrder(localTieTag) + networkOrder(peerTieTag)
    let code = authenticate(bytes.span.bytes)
    return bytes + networkOrder(code)
  }
}

extension StateCookie {
  /// Reads a cookie; nil unless it is one of ours, unchanged.
  init?(_ bytes: RawSpan, _ authenticate: SipHash) {
    guard bytes.byteCount == Self.byteCount else { return nil }
    let code = authenticate(bytes.extracting(0..<Self.authenticatedCount))
    var reader = ByteReader(bytes)
    do {
      self.init(
        created: Instant(nanoseconds: Int64(bitPattern: try reader.uint64())), localTag: try reader.uint32(),
        localInitialTSN: try reader.uint32(), peerTag: try reader.uint32(), peerInitialTSN: try reader.uint32(),
        peerWindow: try reader.uint32(), peerOutgoingStreams: try reader.uint16(), peerIncomingStreams: try reader.uint16(),
        extensions: Initiation.Extensions(rawValue: try reader.uint8()), localTieTag: try reader.uint32(), peerTieTag: try reader.uint32())
      guard try reader.uint64() == code else { return nil }
    } catch { return nil }
  }
}
