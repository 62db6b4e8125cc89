import Base
import Frames
import Sound
import Synchronization

/// A microphone's sound in each of the ways that somebody wants it processed. The microphone's thread makes them, each from the same block; the thread
/// behind it hands them out.
final class SoundVariants: @unchecked Sendable {
  // Unchecked: `table` is a constant number of atomics, and `scratch` belongs to the microphone's thread.

  /// One way. It stays until the end, and so does what its processor has learnt.
  private final class Variant: Sendable {
    private final class Demand: Sendable { let isWanted = Atomic(false) }

    let sound: AudioFanOut
    /// For the microphone's thread alone.
    let processor: VoiceProcessor?
    private let demand: Demand

    init(_ processing: VoiceProcessing) {
      let demand = Demand()
      (self.demand, sound) = (demand, AudioFanOut { demand.isWanted.store($0, ordering: .relaxed) })
      processor = processing.isNeeded ? VoiceProcessor(processing) : nil
    }

    var isWanted: Bool { demand.isWanted.load(ordering: .relaxed) }
  }

  private static let count = 8

  private let known: Guarded<[Variant?]>
  /// The same for the microphone's thread: a pointer for each way, 0 until it is asked for.
  private let table: UnsafeMutablePointer<Atomic<UInt>>
  private let scratch: UnsafeMutablePointer<Int16>
  private let delivery: BlockDelivery

  init() {
    let known = Guarded([Variant?](repeating: nil, count: SoundVariants.count))
    self.known = known
    table = .allocate(capacity: SoundVariants.count)
    for index in 0..<SoundVariants.count { unsafe (table + index).initialize(to: Atomic(0)) }
    scratch = .allocate(capacity: 2 * AudioBlock.sampleCount)
    unsafe scratch.initialize(repeating: 0, count: 2 * AudioBlock.sampleCount)
    delivery = BlockDelivery(name: "parlor-sound-in") { tag, block in known.with { $0[tag] }?.sound.put(block) }
  }

  deinit {
    unsafe table.deinitialize(count: SoundVariants.count)
    unsafe table.deallocate()
    unsafe scratch.deallocate()
  }

  private static func index(of processing: VoiceProcessing) -> Int {
    (processing.echoCancellation ? 1 : 0) + (processing.noiseSuppression ? 2 : 0) + (processing.autoGainControl ? 4 : 0)
  }

  /// The sound as `processing` says. From any thread.
  func sound(_ processing: VoiceProcessing) -> AudioFanOut {
    let index = SoundVariants.index(of: processing)
    return known.with { known in
      if let variant = known[index] { return variant.sound }
      let variant = Variant(processing)
      known[index] = variant
      unsafe table[index].store(UInt(bitPattern: Unmanaged.passUnretained(variant).toOpaque()), ordering: .releasing)
      return variant.sound
    }
  }

  /// Makes of a block what is wanted of it, and hands it on. `played` is what was heard from the loudspeaker meanwhile. From the microphone's thread.
  func put(
    _ samples: UnsafePointer<Int16>, channelCount: Int, played: UnsafePointer<Int16>, capturedAt captured: Instant,
    figures: inout MicrophoneThread.Figures
  ) {
    let count = AudioBlock.sampleCount * channelCount
    figures.capturedPeak = unsafe SoundVariants.peak(samples, count)
    figures.processedPeak = figures.capturedPeak
    eachWanted { index, variant in
      unsafe scratch.update(from: samples, count: count)
      if let processor = variant.processor, channelCount == processor.channelCount {
        unsafe processor.analyze(played: Span(_unsafeStart: played, count: AudioBlock.sampleCount))
        var captured = unsafe MutableSpan(_unsafeStart: scratch, count: count)
        processor.process(captured: &captured)
        figures.voice = processor.figures
        figures.processedPeak = unsafe SoundVariants.peak(scratch, count)
      }
      delivery.put { slot in
        unsafe (slot.pointee.time, slot.pointee.channelCount, slot.pointee.tag) = (captured.nanoseconds, channelCount, index)
        unsafe AudioSlot.samples(of: slot).update(from: scratch, count: count)
      }
    }
  }

  /// Whether there is something to be learnt from the block that was put last. From the microphone's thread.
  var isLearnable: Bool {
    var result = false
    eachWanted { _, variant in result = result || variant.processor?.isLearnable == true }
    return result
  }

  /// Learns what there is to learn from the block that was put last: takes longer than all before, and may wait until that is on its way. From the microphone's
  /// thread.
  func learn() {
    eachWanted { _, variant in variant.processor?.learn() }
  }

  private func eachWanted(_ body: (Int, Variant) -> Void) {
    for index in 0..<SoundVariants.count {
      let bits = unsafe table[index].load(ordering: .acquiring)
      guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { continue }
      unsafe Unmanaged<Variant>.fromOpaque(pointer)._withUnsafeGuaranteedRef { variant in
        if variant.isWanted { body(index, variant) }
      }
    }
  }

  /// The loudest sample, 0 to 1.
  static func peak(_ samples: UnsafePointer<Int16>, _ count: Int) -> Double {
    var peak: Int32 = 0
    for index in 0..<count { peak = max(peak, unsafe abs(Int32(samples[index]))) }
    return Double(peak) / 32_768
  }

  /// How many blocks found no room, because whoever takes them is too slow.
  var droppedCount: Int { delivery.droppedCount }

  /// Ends the thread behind.
  func stop() { delivery.stop() }
}
