import Bytes

/// Where a written header put what is filled in when the packet really leaves.
public struct WrittenHeader: Sendable, Equatable {
  /// Count of the header's bytes; the payload goes behind them.
  public var count: Int
  /// Where the 24-bit absolute send time lies, if it was written.
  public var absoluteSendTimeOffset: Int?
  /// Where the 16-bit transport-wide sequence number lies, if it was written.
  public var transportSequenceNumberOffset: Int?
  /// Where the stream identifier's element begins, if it was written: a retransmission says there that it repairs the stream instead.
  public var ridElementOffset: Int?

  @usableFromInline init() { count = 0 }
}

extension Header {
  /// Writes this header, without contributing sources and padding, with those values of `extensions` that have an identifier in `map`.
  ///
  /// The absolute send time and the transport-wide sequence number are usually not known yet: any value keeps their place, and the
  /// offsets returned tell where to store the real one. Throws `OutOfBounds` when `packet` is too short.
  @inlinable
  public func write(
    _ extensions: HeaderExtensions, map: HeaderExtensionMap, into packet: inout MutableRawSpan
  ) throws(OutOfBounds) -> WrittenHeader {
    var written = WrittenHeader()
    var elements = ExtensionElements(map: map)
    var writer = ByteWriter(packet._mutatingExtracting(0..<packet.byteCount))
    guard writer.remaining >= Header.fixedCount else { throw OutOfBounds() }
    try writer.uint16(0x8000 | (isMarked ? 0x80 : 0) | UInt16(payloadType & 0x7F))
    try writer.uint16(sequenceNumber)
    try writer.uint32(timestamp)
    try writer.uint32(ssrc)
    if let value = extensions.absoluteSendTime, let offset = try elements.begin(.absoluteSendTime, count: 3, in: &writer) {
      written.absoluteSendTimeOffset = offset
      try writer.uint24(value)
    }
    if let value = extensions.transportSequenceNumber, let offset = try elements.begin(.transportSequenceNumber, count: 2, in: &writer) {
      written.transportSequenceNumberOffset = offset
      try writer.uint16(value)
    }
    _ = try elements.text(.mid, extensions.midText, in: &writer)
    if let offset = try elements.text(.rid, extensions.ridText, in: &writer) {
      written.ridElementOffset = offset - (map.needsTwoByteForm ? 2 : 1)
    }
    _ = try elements.text(.repairedRid, extensions.repairedRidText, in: &writer)
    if let value = extensions.audioLevel, try elements.begin(.audioLevel, count: 1, in: &writer) != nil {
      try writer.uint8(value.level | (value.isVoice ? 0x80 : 0))
    }
    if let value = extensions.videoOrientation, try elements.begin(.videoOrientation, count: 1, in: &writer) != nil {
      try writer.uint8(value)
    }
    if let value = extensions.playoutDelay, try elements.begin(.playoutDelay, count: 3, in: &writer) != nil {
      let (low, high) = (min(max(value.minimum / 10, 0), 0xFFF), min(max(value.maximum / 10, 0), 0xFFF))
      try writer.uint24(UInt32(low) << 12 | UInt32(high))
    }
    if let value = extensions.absoluteCaptureTime {
      let offset = extensions.captureClockOffset
      if try elements.begin(.absoluteCaptureTime, count: offset == nil ? 8 : 16, in: &writer) != nil {
        try writer.uint64(value)
        if let offset { try writer.uint64(UInt64(bitPattern: offset)) }
      }
    }
    try elements.end(in: &writer)
    written.count = writer.count
    return written
  }
}

/// Writes the elements of a header extension behind a fixed header, in the form that the map demands.
@usableFromInline
struct ExtensionElements {
  @usableFromInline let map: HeaderExtensionMap
  @usableFromInline var isBegun = false

  @inlinable init(map: HeaderExtensionMap) { self.map = map }

  /// Writes an element's own header; returns where its value goes, or nil when the extension is not in use or cannot carry so many bytes.
  @inlinable @inline(__always)
  mutating func begin(_ kind: HeaderExtension, count: Int, in writer: inout ByteWriter) throws(OutOfBounds) -> Int? {
    guard let identifier = map.identifier(for: kind), count >= 1, count <= (map.needsTwoByteForm ? 255 : 16) else { return nil }
    if !isBegun {
      isBegun = true
      try writer.uint16(map.needsTwoByteForm ? 0x1000 : 0xBEDE)
      try writer.uint16(0)
    }
    if map.needsTwoByteForm {
      try writer.uint8(identifier)
      try writer.uint8(UInt8(count))
    } else {
      try writer.uint8(identifier << 4 | UInt8(count - 1))
    }
    return writer.count
  }

  @inlinable
  mutating func text(_ kind: HeaderExtension, _ text: ShortText, in writer: inout ByteWriter) throws(OutOfBounds) -> Int? {
    guard text.count > 0, let offset = try begin(kind, count: Int(text.count), in: &writer) else { return nil }
    for index in 0..<Int(text.count) { try writer.uint8(text[index]) }
    return offset
  }

  /// Pads the extension, fills in its length and sets the header's extension bit.
  @inlinable
  func end(in writer: inout ByteWriter) throws(OutOfBounds) {
    guard isBegun else { return }
    while writer.count & 3 != 0 { try writer.uint8(0) }
    writer.replace(uint16: UInt16((writer.count - 16) / 4), at: 14)
    writer.replace(uint8: 0x90, at: 0)
  }
}
