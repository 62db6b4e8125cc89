import Base
import Frames
import Glibc

/// A test of loudspeaker and microphone together: what is to be played comes out, what was heard goes in, and at the end what that says.
///
/// Sound is heard twice: as the microphone gives it, and after echo cancellation. Chirps follow each other without a pause, so that a canceller has
/// something to learn from. The delay is taken of the first, what is loud and what is left of it of the last two: by then the cards' clocks are
/// known, and nothing is stretched any more. How loud they are says their energy, since what is stretched even a little resembles a chirp less.
public struct SoundLoopTest: Sendable {
  /// What was found.
  public struct Result: Sendable, Equatable {
    /// How loud the room was before, in dB of full scale.
    public var noise: Double
    /// From the moment that a chirp was handed to the loudspeaker to the moment that the microphone heard it; nil: it was not heard.
    public var delay: Interval?
    /// How loud the chirp was heard, in dB of full scale; nil: it was not.
    public var level: Double?
    /// How loud the chirps were after echo cancellation, in dB of full scale; nil: they were not heard, or are not cancelled.
    public var echo: Double?
    /// By how many dB cancellation made the chirps quieter.
    public var reduction: Double?

    /// Nothing was heard but the room, `noise` loud.
    public init(noise: Double) { self.noise = noise }
  }

  private static let sweepCount = 8
  private static let silence = 30
  private static let chirp = Chirp()
  private static var sweepLength: Int { chirp.samples.count }
  private static var lead: Int { silence * AudioBlock.sampleCount }
  /// The longest delay that is told, in samples.
  private static var longestDelay: Int { sweepLength }

  /// How many blocks are to be played and heard.
  public static var blockCount: Int { silence + (sweepCount * sweepLength + longestDelay) / AudioBlock.sampleCount + 10 }

  private let start: Instant
  private var raw: [Float]
  private var cancelled: [Float]?

  /// A test whose first block is handed to the loudspeaker at `start`.
  public init(start: Instant, cancelsEcho: Bool) {
    self.start = start
    raw = Array(repeating: 0, count: SoundLoopTest.blockCount * AudioBlock.sampleCount)
    cancelled = cancelsEcho ? raw : nil
  }

  /// The block that is to be played at `index`; silence before and after the chirps.
  public static func block(at index: Int) -> AudioBlock {
    let first = index * AudioBlock.sampleCount - lead
    guard first >= 0, first < sweepCount * sweepLength else { return .silence() }
    return AudioBlock(
      samples: (0..<AudioBlock.sampleCount).map { Int16(clamping: Int(chirp.samples[(first + $0) % sweepLength] * 32_767)) })
  }

  /// Takes what the microphone heard from `time` on.
  public mutating func hear(_ block: AudioBlock, at time: Instant) { write(block, at: time, to: &raw) }

  /// Takes what was left of that after echo cancellation.
  public mutating func hearCancelled(_ block: AudioBlock, at time: Instant) {
    guard var samples = cancelled.take() else { return }
    write(block, at: time, to: &samples)
    cancelled = samples
  }

  private func write(_ block: AudioBlock, at time: Instant, to samples: inout [Float]) {
    let first = Int(((time - start).seconds * Double(AudioBlock.sampleRate)).rounded())
    for index in 0..<AudioBlock.sampleCount where samples.indices.contains(first + index) {
      samples[first + index] = Float(block.samples[index * block.channelCount]) / 32_768
    }
  }

  /// What the test says now.
  public func result() -> Result {
    let (lead, length) = (SoundLoopTest.lead, SoundLoopTest.sweepLength)
    var result = Result(noise: Chirp.level(raw[AudioBlock.sampleCount * 4..<lead]))
    let filter = MatchedFilter(SoundLoopTest.chirp.samples)
    let sounding = Array(raw[..<min(raw.count, lead + 2 * length)])
    guard let match = filter.find(in: sounding, offsets: lead..<lead + SoundLoopTest.longestDelay) else { return result }
    result.delay = .nanoseconds(Int64(match.offset - lead) * 1_000_000_000 / Int64(AudioBlock.sampleRate))
    let end = match.offset + SoundLoopTest.sweepCount * length
    let last = end - 2 * length..<end
    let heard = Chirp.level(raw[last])
    result.level = 10 * log10(max(1e-12, pow(10, heard / 10) - pow(10, result.noise / 10)))  // the room's own noise is not the chirp's
    guard let cancelled else { return result }
    let left = Chirp.level(cancelled[last])
    (result.echo, result.reduction) = (left, heard - left)
    return result
  }
}
