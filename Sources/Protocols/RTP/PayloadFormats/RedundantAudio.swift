import Bytes

/// Redundant audio payloads (RFC 2198): older frames beside the newest one.
public enum RedundantAudio {
  /// One frame in a payload.
  public struct Block: Sendable, Equatable {
    /// Payload type of the frame, 0…127.
    public var payloadType: UInt8
    /// How much older the frame is than the packet's time stamp, 0…16,383; the newest frame has 0.
    public var timestampOffset: UInt32
    /// Where the frame lies in the payload; empty when the sender had nothing to send.
    public var data: Range<Int>
  }

  /// The frames in a payload, oldest first as they stand there; the newest is the last.
  public static func blocks(of payload: RawSpan) throws(MalformedPayload) -> [Block] {
    var blocks: [Block] = []
    var reader = ByteReader(payload)
    var counts = 0
    do throws(OutOfBounds) {
      while true {
        let first = try reader.uint8()
        guard first & 0x80 != 0 else {
          blocks.append(Block(payloadType: first, timestampOffset: 0, data: 0..<0))
          break
        }
        let bits = try reader.uint24()
        blocks.append(Block(payloadType: first & 0x7F, timestampOffset: bits >> 10, data: 0..<Int(bits & 0x3FF)))
        counts += Int(bits & 0x3FF)
      }
    } catch { throw .truncated("the end of the redundancy headers") }
    guard counts <= reader.remaining else { throw .truncated("the end of the redundant frames") }
    var start = reader.offset
    for index in blocks.indices.dropLast() {
      let count = blocks[index].data.count
      blocks[index].data = start..<start + count
      start += count
    }
    blocks[blocks.count - 1].data = start..<payload.byteCount
    return blocks
  }

  /// Writes the newest frame with one older beside it; returns the payload's count of bytes.
  ///
  /// The older frame is left out when the format cannot carry it: empty, above 1,023 bytes, or more than 16,383 ticks old.
  public static func write(
    payloadType: UInt8, frame: RawSpan, redundant: RawSpan, timestampOffset: UInt32, into payload: inout MutableRawSpan
  ) throws(OutOfBounds) -> Int {
    var writer = ByteWriter(payload._mutatingExtracting(0..<payload.byteCount))
    if (1...0x3FF).contains(redundant.byteCount), (1...0x3FFF).contains(timestampOffset) {
      try writer.uint8(0x80 | payloadType & 0x7F)
      try writer.uint24(timestampOffset << 10 | UInt32(redundant.byteCount))
      try writer.uint8(payloadType & 0x7F)
      try writer.copy(redundant)
    } else {
      try writer.uint8(payloadType & 0x7F)
    }
    try writer.copy(frame)
    return writer.count
  }
}
