import Bytes

/// The fixed header of an RTP packet and where its parts lie (RFC 3550 section 5.1).
public struct Header: Sendable, Equatable {
  /// Count of bytes of a header without contributing sources and extension.
  public static let fixedCount = 12

  /// Payload type, 0…127.
  public var payloadType: UInt8
  /// Sequence number of the packet within its stream.
  public var sequenceNumber: UInt16
  /// Sampling instant in units of the payload's clock rate.
  public var timestamp: UInt32
  /// Synchronisation source.
  public var ssrc: UInt32
  /// The marker bit: for video the last packet of a frame, for audio the first packet after silence.
  public var isMarked: Bool
  /// Count of contributing sources, 0…15. They lie at byte 12.
  public var csrcCount: Int
  /// Count of padding bytes at the packet's end, which `payload` leaves out.
  public var paddingCount: Int
  /// Where the payload lies in the packet, without padding.
  public var payload: Range<Int>
  /// The "defined by profile" field of the header extension; 0 when there is none.
  public var extensionProfile: UInt16
  /// Where the values of the header extension lie in the packet, behind its own 4-byte header; empty when there is none.
  public var extensionValues: Range<Int>

  /// A header to be written: no contributing sources, no padding.
  @inlinable
  public init(payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32, isMarked: Bool = false) {
    self.payloadType = payloadType
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.ssrc = ssrc
    self.isMarked = isMarked
    csrcCount = 0
    paddingCount = 0
    payload = 12..<12
    extensionProfile = 0
    extensionValues = 12..<12
  }

  /// Reads the header of an RTP packet and checks all lengths in it against the packet's.
  @inlinable
  public init(parsing packet: RawSpan) throws(MalformedPacket) {
    let count = packet.byteCount
    guard count >= 12 else { throw .truncated("the end of the fixed header") }
    let first = packet.uint8(at: 0)
    guard first >> 6 == 2 else { throw .version(first >> 6) }
    let second = packet.uint8(at: 1)
    payloadType = second & 0x7F
    isMarked = second & 0x80 != 0
    sequenceNumber = packet.uint16(at: 2)
    timestamp = packet.uint32(at: 4)
    ssrc = packet.uint32(at: 8)
    csrcCount = Int(first & 0x0F)
    var start = 12 + 4 * csrcCount
    guard start <= count else { throw .truncated("the end of the contributing sources") }
    if first & 0x10 != 0 {
      guard start + 4 <= count else { throw .truncated("the header extension") }
      extensionProfile = packet.uint16(at: start)
      let end = start + 4 + 4 * Int(packet.uint16(at: start + 2))
      guard end <= count else { throw .length("the header extension") }
      extensionValues = start + 4..<end
      start = end
    } else {
      extensionProfile = 0
      extensionValues = start..<start
    }
    if first & 0x20 != 0 {
      guard start < count else { throw .truncated("the padding count") }
      paddingCount = Int(packet.uint8(at: count - 1))
      guard paddingCount > 0, paddingCount <= count - start else { throw .padding(paddingCount) }
    } else {
      paddingCount = 0
    }
    payload = start..<count - paddingCount
  }

  /// The contributing source at `index` (0 ..< `csrcCount`) of `packet`, whose header this is.
  @inlinable public func csrc(at index: Int, of packet: RawSpan) -> UInt32 {
    precondition(index >= 0 && index < csrcCount, "a header has csrcCount contributing sources")
    return packet.uint32(at: 12 + 4 * index)
  }
}
