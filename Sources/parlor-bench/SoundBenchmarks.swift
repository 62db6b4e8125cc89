import Base
import CAllocations
import CSampleRate
import Frames
import Sound

/// Blocks of sound through streams on simulated cards of 44,100 Hz, whose clocks are off.
enum SoundBenchmarks {
  static func run(_ settings: Benchmark.Settings) throws -> [Figure] {
    let capture = try Capture()
    let playback = try Playback()
    let reference = try Reference()
    // Clocks are locked after some seconds.
    _ = (capture.run(3_000), playback.run(3_000))
    let runs = settings.runs ?? 21
    func comparison(_ metric: String) -> Comparison {
      Comparison(name: "sound", metric: metric, operations: "blocks", reference: "libsamplerate alone")
    }
    return [
      comparison("captured blocks of 10 ms").measure(runs: runs) {
        capture.run($0)
      } reference: {
        reference.run($0)
      },
      comparison("played blocks of 10 ms").measure(runs: runs) {
        playback.run($0)
      } reference: {
        reference.run($0)
      },
      allocations("allocations, captured block") { capture.run($0) },
      allocations("allocations, played block") { playback.run($0) },
    ]
  }

  private static func allocations(_ metric: String, _ work: (Int) -> Int) -> Figure {
    let before = allocations_of_thread()
    let blocks = work(3_000)
    let count = allocations_of_thread() - before
    return Figure(
      name: "sound", metric: metric, value: Double(count) / Double(blocks), unit: "per block", runs: 1, spread: 0, bound: .atMost(0),
      needsReference: false)
  }

  private static func card(_ direction: SoundDirection) -> SimulatedCard {
    var behaviour = SimulatedCard.Behaviour()
    (behaviour.drift, behaviour.interruptLateness, behaviour.wakeLateness) = (120, .microseconds(200), .microseconds(300))
    let configuration = PCMConfiguration(rate: 44_100, channelCount: 2, periodFrames: 441, bufferFrames: 8_820)
    return SimulatedCard(direction: direction, configuration: configuration, behaviour: behaviour)
  }

  private final class Capture {
    private let card = SoundBenchmarks.card(.capture)
    private let stream: CaptureStream
    private let block = UnsafeMutableBufferPointer<Int16>.allocate(capacity: AudioBlock.sampleCount)

    init() throws { stream = try CaptureStream(card) }
    deinit { block.deallocate() }

    func run(_ count: Int) -> Int {
      var blocks = 0
      while blocks < count {
        do throws(SoundError) { try stream.read(now: card.now) } catch { preconditionFailure("a simulated card does not fail") }
        while unsafe stream.nextBlock(into: block) != nil { blocks += 1 }
        stream.wait(until: card.now + .milliseconds(20), now: card.now)
      }
      return blocks
    }
  }

  private final class Playback {
    private let card = SoundBenchmarks.card(.playback)
    private let stream: PlaybackStream
    private let block = UnsafeMutableBufferPointer<Int16>.allocate(capacity: AudioBlock.sampleCount)

    init() throws {
      stream = try PlaybackStream(card)
      for index in block.indices { unsafe block[index] = Int16(index) }
    }
    deinit { block.deallocate() }

    func run(_ count: Int) -> Int {
      for _ in 0..<count {
        while !stream.needsBlock(now: card.now) { stream.wait(until: card.now + .milliseconds(20), now: card.now) }
        do throws(SoundError) {
          use(try unsafe stream.write(UnsafeBufferPointer(block), now: card.now))
        } catch {
          preconditionFailure("a simulated card does not fail")
        }
      }
      return count
    }
  }

  /// The same rates, by the library and nothing else.
  private final class Reference {
    private let state: OpaquePointer
    private let input = UnsafeMutablePointer<Float>.allocate(capacity: 441)
    private let output = UnsafeMutablePointer<Float>.allocate(capacity: 1_024)

    init() throws {
      var error: Int32 = 0
      guard let created = unsafe src_new(Int32(SRC_SINC_FASTEST), 1, &error) else {
        throw Benchmark.Failure(description: "libsamplerate: \(error)")
      }
      unsafe state = created
      unsafe input.initialize(repeating: 0.1, count: 441)
    }

    deinit {
      _ = unsafe src_delete(state)
      input.deallocate()
      output.deallocate()
    }

    func run(_ count: Int) -> Int {
      for _ in 0..<count {
        var data = unsafe SRC_DATA()
        unsafe (data.data_in, data.data_out, data.input_frames, data.output_frames) = unsafe (UnsafePointer(input), output, 441, 1_024)
        unsafe data.src_ratio = 48_000 / 44_100
        _ = unsafe src_process(state, &data)
      }
      return count
    }
  }
}
