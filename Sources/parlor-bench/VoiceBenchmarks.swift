import Base
import CAllocations
import CAudioProcessing
import Frames
import Glibc
import Sound

/// Echo, noise and gain of a microphone's blocks: what it costs, and what of it allocates or locks.
enum VoiceBenchmarks {
  private static let blockCount = 200

  static func run(_ settings: Benchmark.Settings) throws -> [Figure] {
    let (played, captured) = sounds()
    let processor = VoiceProcessor()
    guard
      let library = unsafe voice_processing_create(
        voice_processing_settings(channel_count: 1, echo_cancellation: true, noise_suppression: true, gain_control: true))
    else { throw Benchmark.Failure(description: "the library cannot be used") }
    defer { unsafe voice_processing_free(library) }
    let scratch = UnsafeMutablePointer<Float>.allocate(capacity: AudioBlock.sampleCount)
    unsafe scratch.initialize(repeating: 0, count: AudioBlock.sampleCount)
    defer { unsafe scratch.deallocate() }

    let comparison = Comparison(
      name: "voice", metric: "blocks of 10 ms freed of echo and noise, evened", operations: "blocks",
      reference: "webrtc-audio-processing alone")
    let speed = comparison.measure(runs: settings.runs ?? 11) { rounds in
      for _ in 0..<rounds { process(played, captured, processor) }
      return rounds * blockCount
    } reference: { rounds in
      for _ in 0..<rounds {
        for number in 0..<blockCount {
          for index in 0..<AudioBlock.sampleCount { unsafe scratch[index] = Float(played[number].samples[index]) / 32_768 }
          unsafe voice_processing_analyze(library, scratch)
          for index in 0..<AudioBlock.sampleCount { unsafe scratch[index] = Float(captured[number].samples[index]) / 32_768 }
          var plane: UnsafeMutablePointer<Float>? = unsafe scratch
          unsafe voice_processing_process(library, &plane)
        }
      }
      return rounds * blockCount
    }
    let counts = process(played, captured, processor)
    func figure(_ metric: String, _ count: UInt64, bound: Figure.Bound?) -> Figure {
      Figure(
        name: "voice", metric: metric, value: Double(count) / Double(blockCount), unit: "per block", runs: 1, spread: 0, bound: bound,
        needsReference: false)
    }
    return [
      speed,
      figure("heap allocations", counts.allocations, bound: .atMost(0)),
      figure("memory freed", counts.frees, bound: .atMost(0)),
      figure("mutexes taken, all of them the library's own and free", counts.locks, bound: nil),
    ]
  }

  /// Two seconds through a processor, each block from a fresh copy.
  @discardableResult
  private static func process(
    _ played: [AudioBlock], _ captured: [AudioBlock], _ processor: VoiceProcessor
  ) -> (allocations: UInt64, frees: UInt64, locks: UInt64) {
    var counts: (allocations: UInt64, frees: UInt64, locks: UInt64) = (0, 0, 0)
    var block = AudioBlock.silence()
    for number in 0..<blockCount {
      for index in 0..<AudioBlock.sampleCount { block.samples[index] = captured[number].samples[index] }
      let before = (allocations_of_thread(), frees_of_thread(), locks_of_thread())
      let heard = played[number].samples
      processor.analyze(played: heard.span)
      processor.process(captured: &block)
      counts.allocations += allocations_of_thread() - before.0
      counts.frees += frees_of_thread() - before.1
      counts.locks += locks_of_thread() - before.2
    }
    return counts
  }

  /// Words of noise, and what comes back of them 50 ms later.
  private static func sounds() -> (played: [AudioBlock], captured: [AudioBlock]) {
    var random = RandomSource(seed: 1)
    let samples = (0..<blockCount * AudioBlock.sampleCount).map { position in
      position % 12_000 < 9_000 ? Int16.random(in: -6_000...6_000, using: &random) : 0
    }
    func blocks(delay: Int, divisor: Int16) -> [AudioBlock] {
      (0..<blockCount).map { number in
        AudioBlock(
          samples: (0..<AudioBlock.sampleCount).map { index in
            let position = number * AudioBlock.sampleCount + index - delay
            return (position < 0 ? 0 : samples[position] / divisor) + Int16.random(in: -3...3, using: &random)
          })
      }
    }
    return (blocks(delay: 0, divisor: 1), blocks(delay: 2_400, divisor: 2))
  }
}
