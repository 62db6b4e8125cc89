import Base
import Frames
import JitterBuffer
import Synchronization

/// A received stream of sound as the playout thread plays it. The network thread puts its packets in.
final class ReceivedSource: PlayoutSource, @unchecked Sendable {
  // Unchecked: `buffer` and `block` belong to the playout thread; the two threads share the rings alone.

  /// A packet on its way from one thread to the other.
  private struct Packet: BitwiseCopyable {
    var arrival: Int64 = 0
    var timestamp: UInt32 = 0
    var sequence: UInt16 = 0
    var byteCount: UInt16 = 0
    var bytes = InlineArray<1_500, UInt8>(repeating: 0)
  }

  let channelCount: Int
  /// As many as the jitter buffer keeps: after a stall of the network they all come at once.
  private let packets = SlotRing(capacity: 256, of: Packet())
  private let oversized = Atomic(0)
  private let published = LatestValue(AudioJitterBuffer.Counters())
  private let place = LatestValue<PlayoutPosition?>(nil)
  /// In nanoseconds.
  private let requestedDelay = Atomic(Int64(0))
  private let synchronizationDelay = Atomic(Int64(0))
  private var buffer: AudioJitterBuffer
  private var block: AudioBlock

  init(_ buffer: consuming AudioJitterBuffer) {
    channelCount = buffer.channelCount
    block = .silence(channelCount: buffer.channelCount)
    self.buffer = buffer
  }

  /// Takes a packet, on the network thread.
  func receive(_ payload: RawSpan, sequence: UInt16, timestamp: UInt32, arrival: Instant) {
    guard payload.byteCount <= 1_500 else {
      oversized.add(1, ordering: .relaxed)
      return
    }
    packets.put { slot in
      unsafe slot.pointee.arrival = arrival.nanoseconds
      unsafe (slot.pointee.timestamp, slot.pointee.sequence) = (timestamp, sequence)
      unsafe slot.pointee.byteCount = UInt16(payload.byteCount)
      unsafe payload.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        unsafe ReceivedSource.bytes(of: UnsafeMutableRawPointer(slot)).copyMemory(from: start, byteCount: bytes.count)
      }
    }
  }

  private static func bytes(of slot: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    unsafe slot + MemoryLayout<Packet>.offset(of: \Packet.bytes)!
  }

  func fill(_ samples: UnsafeMutablePointer<Int16>, now: Instant, delay: Interval) -> Bool {
    while packets.take({ slot in
      let (start, count) = unsafe (ReceivedSource.bytes(of: UnsafeMutableRawPointer(mutating: slot)), Int(slot.pointee.byteCount))
      unsafe buffer.insert(
        payload: RawSpan(_unsafeStart: start, byteCount: count), sequence: slot.pointee.sequence, timestamp: slot.pointee.timestamp,
        arrival: Instant(nanoseconds: slot.pointee.arrival))
    }) {}
    buffer.configuration.requestedDelay = .nanoseconds(requestedDelay.load(ordering: .relaxed))
    buffer.configuration.synchronizationDelay = .nanoseconds(synchronizationDelay.load(ordering: .relaxed))
    buffer.nextBlock(now: now, into: &block)
    published.set(buffer.counters)
    place.set(buffer.position(now: now, delay: delay))
    for index in 0..<AudioBlock.sampleCount * channelCount { unsafe samples[index] = block.samples[index] }
    return true
  }

  /// Where playout stands; nil before it begins, and while nothing is there to be played.
  var position: PlayoutPosition? { place.value }

  /// How late playout should run at least: as the application wishes, and as lip sync needs it.
  func setDelays(requested: Interval, synchronization: Interval) {
    requestedDelay.store(requested.nanoseconds, ordering: .relaxed)
    synchronizationDelay.store(synchronization.nanoseconds, ordering: .relaxed)
  }

  /// The counts so far.
  var counters: AudioJitterBuffer.Counters {
    var counters = published.value
    counters.packetsDiscarded += packets.droppedCount + oversized.load(ordering: .relaxed)
    return counters
  }
}
