import Bytes

/// The 4-byte header that takes the place of a STUN indication once a channel is bound (RFC 8656 section 12.4).
public struct ChannelData: Sendable, Equatable {
  /// Bytes before the data.
  public static let headerCount = 4
  /// The numbers that a client may bind (RFC 8656 section 12).
  public static let numbers: ClosedRange<UInt16> = 0x4000...0x4FFF

  /// The channel.
  public var channel: UInt16
  /// Bytes of data after the header.
  public var count: Int

  /// Whether a datagram from a TURN server is ChannelData by its first two bits (RFC 7983).
  public static func matches(_ bytes: RawSpan) -> Bool {
    bytes.byteCount >= headerCount && bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self) >> 6 == 1
  }

  /// Reads a header; nil when these bytes are no ChannelData or hold less data than the header says. Padding may follow.
  public init?(_ bytes: RawSpan) {
    guard ChannelData.matches(bytes) else { return nil }
    var reader = ByteReader(bytes)
    guard let channel = try? reader.uint16(), let count = try? reader.uint16(), Int(count) <= reader.remaining else { return nil }
    (self.channel, self.count) = (channel, Int(count))
  }

  /// The whole message: header, `data`, and on a stream zeros up to a multiple of 4. `data` must be at most 65,535 bytes.
  static func message(channel: UInt16, _ data: RawSpan, padded: Bool) -> [UInt8] {
    let count = data.byteCount
    precondition(count <= 0xFFFF, "ChannelData has a 16-bit length")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerCount + count + 3)
    bytes += [UInt8(channel >> 8), UInt8(channel & 0xFF), UInt8(count >> 8), UInt8(count & 0xFF)]
    data.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    while padded, bytes.count % 4 != 0 { bytes.append(0) }
    return bytes
  }
}
