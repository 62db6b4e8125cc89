import Base
import Bytes
import RTP

/// The packets of an audio stream that wait for their time, in order, in memory allocated once.
struct AudioPackets: Sendable {
  /// Packets kept: five seconds of 20 ms packets, more than the longest delay that can be asked for.
  static let capacity = 256
  /// Bytes of the longest payload.
  static let byteCount = 1_500

  /// What is known of a packet.
  struct Packet: Sendable {
    /// Its sequence number, continued beyond the wrap.
    var sequence: Int64
    /// Media time of its first sample, in samples at 48 kHz.
    var start: Int64
    var sampleCount = 0
    var arrival = Instant.zero
    /// Whether no packet before it had a later number.
    var isNewest = false
    fileprivate var slot = 0
    fileprivate var payloadCount = 0
  }

  private var sequences = SequenceNumberUnwrapper()
  private var timestamps = TimestampUnwrapper()
  /// Oldest first.
  private var waiting: [Packet] = []
  private var freeSlots = Array(0..<capacity)
  /// Not cleared: most slots are never used, and memory that nobody touches costs nothing.
  private var bytes = unsafe [UInt8](unsafeUninitializedCapacity: capacity * byteCount) { $1 = $0.count }

  init() { waiting.reserveCapacity(AudioPackets.capacity) }

  /// The oldest packet.
  var first: Packet? { waiting.first }
  /// The one behind it.
  var second: Packet? { waiting.count > 1 ? waiting[1] : nil }
  var count: Int { waiting.count }

  /// Continues a packet's numbers beyond their wraps; `scale` is how many samples at 48 kHz a step of the time stamp is.
  mutating func number(sequence: UInt16, timestamp: UInt32, scale: Int64) -> Packet {
    let isNewest = sequences.peek(sequence) > sequences.highest ?? .min
    return Packet(sequence: sequences.unwrap(sequence), start: timestamps.unwrap(timestamp) * scale, isNewest: isNewest)
  }

  /// Lets all packets go, and takes the next one's numbers as they are.
  mutating func removeAll() {
    while !waiting.isEmpty { removeFirst() }
    (sequences, timestamps) = (SequenceNumberUnwrapper(), TimestampUnwrapper())
  }

  /// Keeps a packet; false when it is there already, or when all slots are taken by later ones.
  mutating func insert(_ packet: Packet, payload: RawSpan, sampleCount: Int, arrival: Instant) -> Bool {
    var position = waiting.count
    while position > 0 && waiting[position - 1].sequence >= packet.sequence {
      if waiting[position - 1].sequence == packet.sequence { return false }
      position -= 1
    }
    if freeSlots.isEmpty {
      if position == 0 { return false }
      removeFirst()
      position -= 1
    }
    var kept = packet
    (kept.sampleCount, kept.arrival, kept.slot, kept.payloadCount) = (sampleCount, arrival, freeSlots.removeLast(), payload.byteCount)
    waiting.insert(kept, at: position)
    var span = bytes.mutableSpan
    var target = span.mutableBytes
    target.copy(payload, at: kept.slot * AudioPackets.byteCount)
    return true
  }

  /// Lets the oldest packet go. Its payload stays readable until the next one is inserted.
  mutating func removeFirst() { freeSlots.append(waiting.removeFirst().slot) }

  /// The payload of a packet that waits, or was removed last.
  @_lifetime(borrow self)
  func payload(of packet: Packet) -> RawSpan {
    let start = packet.slot * AudioPackets.byteCount
    return bytes.span.bytes.extracting(start..<start + packet.payloadCount)
  }
}
