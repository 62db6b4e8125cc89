import Bytes

/// Cuts encoded frames into RTP payloads. It keeps positions only: the frame stays with the caller, and nothing is allocated.
public struct Packetizer: Sendable {
  /// The format that payloads are written in.
  public let format: PayloadFormat
  /// The VP8 picture identifier of the frame begun last: 15 bits, one more for each frame.
  public private(set) var pictureIdentifier: UInt16

  private var maximum = 0
  private var offset = 0
  private var end = 0
  /// Parts of the current piece (VP8 frame or H.264 NAL unit) that are still to be written.
  private var parts = 0
  private var isPieceStart = false
  /// Header of the NAL unit that is being cut into fragments.
  private var fragmentHeader: UInt8 = 0
  /// The NAL unit behind the current one; empty when there is none.
  private var following = 0..<0

  /// A packetizer for `format`. `pictureIdentifier` is where VP8's counting begins; senders choose it at random.
  public init(format: PayloadFormat, pictureIdentifier: UInt16 = 0) {
    self.format = format
    self.pictureIdentifier = (pictureIdentifier &- 1) & 0x7FFF
  }

  /// Begins a frame, of which each payload may have up to `maximumPayloadCount` bytes (at least 32).
  ///
  /// Returns false when the frame cannot be packetized: it is empty, or it needs fragments where the format has none. Then `next` returns nil.
  @discardableResult
  public mutating func begin(_ frame: RawSpan, maximumPayloadCount: Int) -> Bool {
    precondition(maximumPayloadCount >= 32, "payloads below 32 bytes carry nothing but headers")
    maximum = maximumPayloadCount
    (offset, end, parts, following) = (0, 0, 0, 0..<0)
    switch format {
    case .vp8:
      pictureIdentifier = (pictureIdentifier &+ 1) & 0x7FFF
      beginPiece(0..<frame.byteCount, room: maximum - 4)
    case .h264(let mode):
      if mode == 0 {
        var search = AnnexB.firstUnit(in: frame)
        while !search.isEmpty {
          if search.count > maximum { return false }
          search = AnnexB.unit(in: frame, after: search.upperBound)
        }
      }
      beginUnit(AnnexB.firstUnit(in: frame), frame)
    default:
      guard frame.byteCount <= maximum else { return false }
      (end, parts) = (frame.byteCount, frame.byteCount == 0 ? 0 : 1)
    }
    return parts > 0
  }

  /// Writes the next payload of `frame`, the one begun, into `payload`, which must hold the maximum agreed. Returns its count of bytes and
  /// whether it is the frame's last, or nil when the frame is done.
  public mutating func next(_ frame: RawSpan, into payload: inout MutableRawSpan) -> (count: Int, isLast: Bool)? {
    guard parts > 0 else { return nil }
    switch format {
    case .vp8: return nextVP8(frame, &payload)
    case .h264: return nextH264(frame, &payload)
    default:
      payload.copy(frame, at: 0)
      parts = 0
      return (end, true)
    }
  }

  private mutating func beginPiece(_ piece: Range<Int>, room: Int) {
    (offset, end, isPieceStart) = (piece.lowerBound, piece.upperBound, true)
    parts = (piece.count + room - 1) / room
  }

  /// Takes the next part of the current piece. The parts are of equal size: a small last packet is lost as easily as a large one.
  private mutating func takePart() -> Range<Int> {
    let count = (end - offset + parts - 1) / parts
    defer {
      offset += count
      parts -= 1
      isPieceStart = false
    }
    return offset..<offset + count
  }

  // RFC 7741 section 4.2: X and S, then I, then a picture identifier of 15 bits.
  private mutating func nextVP8(_ frame: RawSpan, _ payload: inout MutableRawSpan) -> (count: Int, isLast: Bool) {
    payload.store(uint8: isPieceStart ? 0x90 : 0x80, at: 0)
    payload.store(uint8: 0x80, at: 1)
    payload.store(uint16: 0x8000 | pictureIdentifier, at: 2)
    let part = takePart()
    payload.copy(frame.extracting(part), at: 4)
    return (4 + part.count, parts == 0)
  }

  private mutating func beginUnit(_ unit: Range<Int>, _ frame: RawSpan) {
    guard !unit.isEmpty else {
      parts = 0
      return
    }
    following = AnnexB.unit(in: frame, after: unit.upperBound)
    if unit.count <= maximum {
      (offset, end, parts, isPieceStart) = (unit.lowerBound, unit.upperBound, 1, true)
    } else {
      // The NAL unit's own header is not repeated: fragments carry it in two bytes of theirs.
      beginPiece(unit.lowerBound + 1..<unit.upperBound, room: maximum - 2)
    }
  }

  private mutating func nextH264(_ frame: RawSpan, _ payload: inout MutableRawSpan) -> (count: Int, isLast: Bool) {
    let count: Int
    if isPieceStart && parts == 1 {
      count = aggregate(frame, &payload)
    } else {
      let isStart = isPieceStart
      if isStart { fragmentHeader = frame.uint8(at: offset - 1) }
      let part = takePart()
      payload.store(uint8: fragmentHeader & 0xE0 | 28, at: 0)
      payload.store(uint8: (isStart ? 0x80 : 0) | (parts == 0 ? 0x40 : 0) | fragmentHeader & 0x1F, at: 1)
      payload.copy(frame.extracting(part), at: 2)
      count = 2 + part.count
      if parts == 0 { beginUnit(following, frame) }
    }
    return (count, parts == 0)
  }

  /// Writes the current NAL unit alone, or with those behind it that fit beside it (STAP-A, RFC 6184 section 5.7.1).
  private mutating func aggregate(_ frame: RawSpan, _ payload: inout MutableRawSpan) -> Int {
    let unit = offset..<end
    guard format == .h264(packetizationMode: 1), !following.isEmpty, 5 + unit.count + following.count <= maximum else {
      payload.copy(frame.extracting(unit), at: 0)
      beginUnit(following, frame)
      return unit.count
    }
    var count = 1
    var header: UInt8 = 24
    var next = unit
    repeat {
      let first = frame.uint8(at: next.lowerBound)
      // The aggregate is as important as its most important unit, and as broken.
      header = header & 0x9F | max(header & 0x60, first & 0x60) | first & 0x80
      payload.store(uint16: UInt16(next.count), at: count)
      payload.copy(frame.extracting(next), at: count + 2)
      count += 2 + next.count
      let taken = next
      next = AnnexB.unit(in: frame, after: taken.upperBound)
    } while !next.isEmpty && count + 2 + next.count <= maximum
    payload.store(uint8: header, at: 0)
    beginUnit(next, frame)
    return count
  }
}
