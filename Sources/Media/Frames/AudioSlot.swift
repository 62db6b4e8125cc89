import Base

/// A block of sound in a ring between threads: at most two channels, in place.
public struct AudioSlot: BitwiseCopyable {
  /// When the first sample was captured or is heard, in nanoseconds of the monotonic clock; `.min`: nobody knows.
  public var time = Int64.min
  /// 1 or 2.
  public var channelCount = 1
  /// Which of several streams it belongs to.
  public var tag = 0
  /// 480 interleaved samples a channel; the rest means nothing.
  public var samples = InlineArray<960, Int16>(repeating: 0)

  /// Silence.
  public init() {}

  /// The samples' memory, valid as long as the slot's.
  public static func samples(of slot: UnsafeMutablePointer<AudioSlot>) -> UnsafeMutablePointer<Int16> {
    unsafe (UnsafeMutableRawPointer(slot) + MemoryLayout<AudioSlot>.offset(of: \AudioSlot.samples)!).assumingMemoryBound(to: Int16.self)
  }

  /// The samples' memory, valid as long as the slot's.
  public static func samples(in slot: UnsafePointer<AudioSlot>) -> UnsafePointer<Int16> {
    unsafe UnsafePointer(samples(of: UnsafeMutablePointer(mutating: slot)))
  }

  /// The block in a slot as a value of its own.
  public static func block(in slot: UnsafePointer<AudioSlot>) -> AudioBlock {
    let (count, time) = unsafe (AudioBlock.sampleCount * slot.pointee.channelCount, slot.pointee.time)
    return AudioBlock(
      samples: unsafe Array(UnsafeBufferPointer(start: samples(in: slot), count: count)), channelCount: count / AudioBlock.sampleCount,
      captureTime: time == .min ? nil : Instant(nanoseconds: time))
  }
}
