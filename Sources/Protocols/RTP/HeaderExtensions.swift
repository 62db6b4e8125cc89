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

  @usableFromInline var midText = ShortText()
  @usableFromInline var ridText = ShortText()
  @usableFromInline var repairedRidText = ShortText()

  /// Media identification: 1…16 bytes of ASCII, which is what the one-byte form carries. A longer text counts as none.
  @inlinable public var mid: String? {
    get { midText.string }
    set { midText = newValue.flatMap { ShortText($0) } ?? ShortText() }
  }
  /// Identifier of the simulcast encoding, 1…16 bytes.
  @inlinable public var rid: String? {
    get { ridText.string }
    set { ridText = newValue.flatMap { ShortText($0) } ?? ShortText() }
  }
  /// Identifier of the encoding that a retransmission repairs, 1…16 bytes.
  @inlinable public var repairedRid: String? {
    get { repairedRidText.string }
    set { repairedRidText = newValue.flatMap { ShortText($0) } ?? ShortText() }
  }
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

  @inlinable @inline(__always)
  mutating func read(_ kind: HeaderExtension, from packet: RawSpan, at offset: Int, count: Int) {
    switch kind {
    case .absoluteSendTime where count == 3: absoluteSendTime = packet.uint24(at: offset)
    case .transportSequenceNumber where count == 2: transportSequenceNumber = packet.uint16(at: offset)
    case .mid: midText = text(packet, offset, count)
    case .rid: ridText = text(packet, offset, count)
    case .repairedRid: repairedRidText = text(packet, offset, count)
    case .audioLevel where count == 1:
      let byte = packet.uint8(at: offset)
      audioLevel = AudioLevel(level: byte & 0x7F, isVoice: byte & 0x80 != 0)
    case .videoOrientation where count == 1: videoOrientation = packet.uint8(at: offset) & 0x0F
    case .playoutDelay where count == 3:
      let bits = packet.uint24(at: offset)
      playoutDelay = PlayoutDelay(minimum: Int(bits >> 12) * 10, maximum: Int(bits & 0xFFF) * 10)
    case .absoluteCaptureTime where count == 8 || count == 16:
      absoluteCaptureTime = packet.uint64(at: offset)
      captureClockOffset = count == 16 ? Int64(bitPattern: packet.uint64(at: offset + 8)) : nil
    default: isMalformed = true
    }
  }

  @inlinable
  mutating func text(_ packet: RawSpan, _ offset: Int, _ count: Int) -> ShortText {
    if count > 0, let text = ShortText(packet, at: offset, count: count) { return text }
    isMalformed = true
    return ShortText()
  }
}
