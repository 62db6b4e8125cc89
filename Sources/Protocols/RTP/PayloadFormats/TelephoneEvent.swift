import Bytes

/// A DTMF digit or other telephone event (RFC 4733 section 2.3).
public struct TelephoneEvent: Sendable, Equatable {
  /// The event: 0…9 the digits, 10 star, 11 hash, 12…15 A to D.
  public var event: UInt8
  /// Whether this packet says that the event ended.
  public var isEnd: Bool
  /// Power below 0 dBm0 in dB, 0…63.
  public var volume: UInt8
  /// How long the event lasts already, in time stamp units.
  public var duration: UInt16

  /// An event with these fields.
  public init(event: UInt8, isEnd: Bool = false, volume: UInt8 = 10, duration: UInt16) {
    (self.event, self.isEnd, self.volume, self.duration) = (event, isEnd, min(volume, 63), duration)
  }

  /// Reads the first event of a payload.
  public init(parsing payload: RawSpan) throws(MalformedPayload) {
    guard payload.byteCount >= 4 else { throw .truncated("the end of the telephone event") }
    let flags = payload.uint8(at: 1)
    self.init(event: payload.uint8(at: 0), isEnd: flags & 0x80 != 0, volume: flags & 0x3F, duration: payload.uint16(at: 2))
  }

  /// Writes the payload; returns its count of bytes, 4.
  public func write(into payload: inout MutableRawSpan) throws(OutOfBounds) -> Int {
    guard payload.byteCount >= 4 else { throw OutOfBounds() }
    payload.store(uint8: event, at: 0)
    payload.store(uint8: (isEnd ? 0x80 : 0) | volume, at: 1)
    payload.store(uint16: duration, at: 2)
    return 4
  }

  /// The event of a tone that `RTCDTMFSender` accepts (0-9, A-D, *, #; letter case does not matter); nil for any other character.
  public static func event(for tone: Character) -> UInt8? {
    switch tone {
    case "0"..."9": tone.wholeNumberValue.flatMap { UInt8(exactly: $0) }
    case "*": 10
    case "#": 11
    case "A", "a": 12
    case "B", "b": 13
    case "C", "c": 14
    case "D", "d": 15
    default: nil
    }
  }
}
