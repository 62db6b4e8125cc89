import Base
import Bytes
import Frames

/// Room for the payloads of one video stream, allocated once: a packet lies in the slot that its sequence number names, modulo the count.
struct PacketSlots: Sendable {
  /// Packets kept: at 8 Mbit/s half a second.
  static let count = 512
  /// Bytes of the longest payload: an Ethernet frame's.
  static let byteCount = 1_500
  /// More key frames than this do not lie in the buffer.
  static let maximumKeyFrameStarts = 8

  /// What is known of a packet.
  struct Slot: Sendable {
    var sequence: Int64 = .min
    var timestamp: UInt32 = 0
    var arrival = Instant.zero
    var payloadCount = 0
    var isMarked = false
    /// No payload: it only fills the sequence.
    var isPadding = false
    var isFrameStart = false
    /// VP8: the first packet of a key frame. H.264: the packet with the start of an IDR picture.
    var isKeyFrameStart = false
    var hasSequenceParameterSet = false
    var isH264 = false
    var rotation: VideoFrame.Rotation?

    init() {}

    init(sequence: Int64, timestamp: UInt32, arrival: Instant, isMarked: Bool) {
      (self.sequence, self.timestamp, self.arrival, self.isMarked) = (sequence, timestamp, arrival, isMarked)
    }

    mutating func note(_ contents: H264Contents) {
      isH264 = true
      isKeyFrameStart = contents.hasKeyFrameSlice
      hasSequenceParameterSet = contents.hasSequenceParameterSet
    }
  }

  /// How far a frame reaches.
  enum Extent: Equatable {
    /// The packet behind its last one.
    case end(Int64)
    /// Its first packet that is not there.
    case missing(Int64)
  }

  private var slots = [Slot](repeating: Slot(), count: count)
  private var bytes = [UInt8](repeating: 0, count: count * byteCount)

  private static func index(of sequence: Int64) -> Int { Int(truncatingIfNeeded: sequence & Int64(count - 1)) }

  /// The packet with this number; nil when it is not there.
  subscript(sequence: Int64) -> Slot? {
    let slot = slots[PacketSlots.index(of: sequence)]
    return slot.sequence == sequence ? slot : nil
  }

  mutating func put(_ slot: Slot, payload: RawSpan) {
    let index = PacketSlots.index(of: slot.sequence)
    slots[index] = slot
    slots[index].payloadCount = payload.byteCount
    var span = bytes.mutableSpan
    var target = span.mutableBytes
    target.copy(payload, at: index * PacketSlots.byteCount)
  }

  mutating func removeAll() {
    for index in slots.indices { slots[index].sequence = .min }
  }

  /// The payload of a packet that is there.
  @_lifetime(borrow self)
  func payload(of sequence: Int64) -> RawSpan {
    let index = PacketSlots.index(of: sequence)
    let start = index * PacketSlots.byteCount
    return bytes.span.bytes.extracting(start..<start + slots[index].payloadCount)
  }

  func byteCount(of range: Range<Int64>) -> Int {
    range.reduce(0) { $0 + (self[$1]?.payloadCount ?? 0) }
  }

  /// How far the frame reaches that starts at `start`, of which the packets before `checked` are known to be there; nil when there is no packet at all.
  /// It ends with the marker bit, or, with senders that do not set it, where the time stamp changes.
  func frameEnd(from start: Int64, checkedUpTo checked: Int64) -> Extent? {
    guard let first = self[start] else { return .missing(start) }
    // The last packet checked might be the one with the marker.
    var sequence = max(start, checked - 1)
    while true {
      guard let slot = self[sequence] else { return .missing(sequence) }
      if slot.timestamp != first.timestamp && !slot.isPadding { return .end(sequence) }
      if slot.isMarked && !slot.isPadding { return .end(sequence + 1) }
      sequence += 1
      if sequence - start >= Int64(PacketSlots.count) { return .missing(sequence) }
    }
  }

  /// Where the key frame starts that the packet `candidate` belongs to; nil while that is not certain.
  func keyFrameStart(around candidate: Int64, floor: Int64, needsParameterSets: Bool) -> Int64? {
    guard let slot = self[candidate] else { return nil }
    if !slot.isH264 { return candidate }  // VP8 says so itself
    var (start, hasParameterSet) = (candidate, slot.hasSequenceParameterSet)
    while start > floor, let previous = self[start - 1], previous.timestamp == slot.timestamp, !previous.isPadding {
      start -= 1
      hasParameterSet = hasParameterSet || previous.hasSequenceParameterSet
    }
    if hasParameterSet { return start }
    // Without parameter sets of its own it needs those of a key frame before, and nothing may be missing in front of it.
    guard !needsParameterSets, start == floor || self[start - 1] != nil else { return nil }
    return start
  }
}

/// Which NAL units that matter for starting begin in an H.264 payload (RFC 6184 section 5.2).
struct H264Contents {
  private(set) var hasSequenceParameterSet = false
  private(set) var hasKeyFrameSlice = false

  init(_ payload: RawSpan) {
    guard payload.byteCount >= 2 else { return }
    let type = payload.uint8(at: 0) & 0x1F
    switch type {
    case 24:  // STAP-A
      var offset = 1
      while offset + 3 <= payload.byteCount {
        note(payload.uint8(at: offset + 2) & 0x1F)
        offset += 2 + Int(payload.uint16(at: offset))
      }
    case 28:  // FU-A
      if payload.uint8(at: 1) & 0x80 != 0 { note(payload.uint8(at: 1) & 0x1F) }
    default: note(type)
    }
  }

  private mutating func note(_ type: UInt8) {
    if type == 7 { hasSequenceParameterSet = true }
    if type == 5 { hasKeyFrameSlice = true }
  }
}
