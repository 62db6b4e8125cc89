import Bytes

/// Retransmission payloads (RFC 4588 section 4): the lost packet's sequence number, then its payload.
public enum Retransmission {
  /// Bytes that a retransmission has more than the packet it repeats.
  public static let overhead = 2

  /// Turns a retransmission packet, in place, into the packet it repeats: with the original sequence number, `ssrc` and `payloadType`.
  ///
  /// `header` is the parsed header of `packet`. Returns where in `packet` the restored packet lies, padding left out. Throws when the
  /// payload has no original sequence number, as padding that probes for bandwidth has none.
  public static func unwrap(
    _ packet: inout MutableRawSpan, header: Header, ssrc: UInt32, payloadType: UInt8
  ) throws(MalformedPayload) -> Range<Int> {
    guard header.payload.count >= overhead else { throw .truncated("the original sequence number") }
    let original = packet.bytes.uint16(at: header.payload.lowerBound)
    packet.move(header.payload.lowerBound, from: 0, to: overhead)
    packet.store(uint8: packet.bytes.uint8(at: overhead) & ~0x20, at: overhead)
    packet.store(uint8: (header.isMarked ? 0x80 : 0) | payloadType & 0x7F, at: overhead + 1)
    packet.store(uint16: original, at: overhead + 2)
    packet.store(uint32: ssrc, at: overhead + 8)
    return overhead..<header.payload.upperBound
  }

  /// Writes the payload of a retransmission behind a header of `headerCount` bytes; returns the packet's count of bytes.
  public static func wrap(
    sequenceNumber: UInt16, payload: RawSpan, into packet: inout MutableRawSpan, headerCount: Int
  ) throws(OutOfBounds) -> Int {
    let count = headerCount + overhead + payload.byteCount
    guard headerCount >= 0, count <= packet.byteCount else { throw OutOfBounds() }
    packet.store(uint16: sequenceNumber, at: headerCount)
    packet.copy(payload, at: headerCount + overhead)
    return count
  }
}
