import Bytes

/// The values of the header extensions of one packet (RFC 8285).
public struct HeaderExtensions: Sendable, Equatable {
  /// Loudness of the audio in a packet (RFC 6464).
  public struct AudioLevel: Sendable, Equatable {
    /// Attenuation below overload in dB: 0 is loudest, 127 is silence.
    public var level: UInt8
    /// Whether the sender takes it for speech.
    public var isVoice: Bool

    /// A level of 0…127; larger values are taken as 127.
    public init(level: UInt8, isVoice: Bool) { (self.level, self.isVoice) = (min(level, 127), isVoice) }
  }

  /// Bounds of the playout delay that the sender wishes for.
  public struct PlayoutDelay: Sendable, Equatable {
    /// Shortest delay in milliseconds, 0…40,950 in steps of 10.
    public var minimum: Int
    /// Longest delay in milliseconds, 0…40,950 in steps of 10.
    public var maximum: Int

    /// Bounds in milliseconds.
    public init(minimum: Int, maximum: Int) { (self.minimum, self.maximum) = (minimum, maximum) }
  }

  /// Media identification. Up to 15 bytes take no heap memory.
  public var mid: String?
  /// Identifier of the simulcast encoding.
  public var rid: String?
  /// Identifier of the encoding that a retransmission repairs.
  public var repairedRid: String?
  /// When the packet left: 24 bits, 6.18 fixed-point seconds.
  public var absoluteSendTime: UInt32?
  /// Sequence number across all streams of the transport.
  public var transportSequenceNumber: UInt16?
  /// Loudness.
  public var audioLevel: AudioLevel?
  /// Video orientation: bit 3 camera, bit 2 flip, bits 1 and 0 rotation in quarter turns clockwise.
  public var videoOrientation: UInt8?
  /// Bounds of the playout delay.
  public var playoutDelay: PlayoutDelay?
  /// Capture time, as an NTP time stamp of the capturing system's clock.
  public var absoluteCaptureTime: UInt64?
  /// Estimated offset from the sender's to the capturing system's clock, 32.32 fixed-point seconds; only with `absoluteCaptureTime`.
  public var captureClockOffset: Int64?
  /// Whether a value broke its format and was ignored: to be counted by whoever parsed.
  public var isMalformed = false

  /// No values.
  @inlinable public init() {}

  /// Reads the values in `packet`, whose parsed header is `header`. Unknown identifiers are passed over; a value that breaks its format is
  /// left out and sets `isMalformed`.
  @inlinable
  public init(parsing packet: RawSpan, header: Header, map: HeaderExtensionMap) {
    var offset = header.extensionValues.lowerBound
    let end = header.extensionValues.upperBound
    let isOneByteForm = header.extensionProfile == 0xBEDE
    guard isOneByteForm || header.extensionProfile & 0xFFF0 == 0x1000 else { return }
    while offset < end {
      let first = packet.uint8(at: offset)
      var identifier = first
      let count: Int
      if isOneByteForm {
        identifier = first >> 4
        if identifier == 15 { return }
        count = Int(first & 15) + 1
        offset += 1
        if first == 0 { continue }
        // RFC 8285 section 4.2: identifier 0 with a length ends the processing.
        if identifier == 0 {
          isMalformed = true
          return
        }
      } else {
        offset += 1
        if first == 0 { continue }
        guard offset < end else {
          isMalformed = true
          return
        }
        count = Int(packet.uint8(at: offset))
        offset += 1
      }
      guard count <= end - offset else {
        isMalformed = true
        return
      }
      if let kind = map[identifier] { read(kind, from: packet, at: offset, count: count) }
      offset += count
    }
  }

  @inlinable
  mutating func read(_ kind: HeaderExtension, from packet: RawSpan, at offset: Int, count: Int) {
    switch (kind, count) {
    case (.absoluteSendTime, 3): absoluteSendTime = packet.uint24(at: offset)
    case (.transportSequenceNumber, 2): transportSequenceNumber = packet.uint16(at: offset)
    case (.mid, 1...): mid = text(packet, offset, count)
    case (.rid, 1...): rid = text(packet, offset, count)
    case (.repairedRid, 1...): repairedRid = text(packet, offset, count)
    case (.audioLevel, 1):
      let byte = packet.uint8(at: offset)
      audioLevel = AudioLevel(level: byte & 0x7F, isVoice: byte & 0x80 != 0)
    case (.videoOrientation, 1): videoOrientation = packet.uint8(at: offset) & 0x0F
    case (.playoutDelay, 3):
      let bits = packet.uint24(at: offset)
      playoutDelay = PlayoutDelay(minimum: Int(bits >> 12) * 10, maximum: Int(bits & 0xFFF) * 10)
    case (.absoluteCaptureTime, 8): absoluteCaptureTime = packet.uint64(at: offset)
    case (.absoluteCaptureTime, 16):
      absoluteCaptureTime = packet.uint64(at: offset)
      captureClockOffset = Int64(bitPattern: packet.uint64(at: offset + 8))
    default: isMalformed = true
    }
  }

  @usableFromInline
  mutating func text(_ packet: RawSpan, _ offset: Int, _ count: Int) -> String? {
    // Identifiers are tokens (RFC 8843, RFC 8852): printable ASCII, so nothing has to be repaired into longer text.
    for index in offset..<offset + count where !(0x21...0x7E).contains(packet.uint8(at: index)) {
      isMalformed = true
      return nil
    }
    return unsafe packet.withUnsafeBytes { unsafe String(decoding: $0[offset..<offset + count], as: UTF8.self) }
  }
}
