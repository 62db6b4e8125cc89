import Base
import Frames
import Glibc

@testable import Sound

/// A tone by the machine's clock: what a perfect stream gives at any time.
struct Tone {
  var frequency = 500.0
  var amplitude = 0.5
  func callAsFunction(_ time: Instant) -> Float { Float(amplitude * sin(2 * .pi * frequency * (time - Instant.zero).seconds)) }
}

/// How well sound is the tone that it should be: both in one number each.
struct ToneFit {
  private var (cosine, sine, power, count) = (0.0, 0.0, 0.0, 0.0)
  private let tone: Tone

  init(_ tone: Tone) { self.tone = tone }

  mutating func add(_ sample: Double, at time: Instant) {
    let turn = 2 * .pi * tone.frequency * (time - Instant.zero).seconds
    cosine += sample * cos(turn)
    sine += sample * sin(turn)
    power += sample * sample
    count += 1
  }

  /// By how much the sound is late against the tone, in milliseconds, to a whole turn.
  var lateness: Double { atan2(-cosine, sine) / (2 * .pi * tone.frequency) * 1_000 }
  var amplitude: Double { 2 * (cosine * cosine + sine * sine).squareRoot() / count }
  /// What is in it beside the tone, in dB below it.
  var purity: Double {
    let wanted = amplitude * amplitude / 2
    return 10 * log10(wanted / max(1e-12, power / count - wanted))
  }
}

/// A microphone's card with a stream on it, in virtual time.
final class CaptureRig {
  let card: SimulatedCard
  let stream: CaptureStream
  /// Whether the thread looks at it at all.
  var isIdle = false
  private(set) var blocks = 0
  private(set) var firstTime: Instant?
  private let channelCount: Int
  private let samples: UnsafeMutableBufferPointer<Int16>

  init(_ card: SimulatedCard, channelCount: Int = 1, quality: RateConverter.Quality = .sinc) throws {
    self.card = card
    self.channelCount = channelCount
    stream = try CaptureStream(card, channelCount: channelCount, quality: quality)
    samples = .allocate(capacity: 480 * channelCount)
  }

  deinit { samples.deallocate() }

  /// Runs for `duration`; `each` gets every block, when it was captured and when it came.
  func run(_ duration: Interval, each: (UnsafeMutableBufferPointer<Int16>, Instant, Instant) -> Void = { _, _, _ in }) throws {
    let end = card.now + duration
    while card.now < end {
      try stream.read(now: card.now)
      while let time = stream.nextBlock(into: samples) {
        if firstTime == nil { firstTime = time }
        blocks += 1
        each(samples, time, card.now)
      }
      stream.wait(until: end, now: card.now)
    }
  }
}

/// A loudspeaker's card with a stream on it, in virtual time.
final class PlaybackRig {
  let card: SimulatedCard
  let stream: PlaybackStream
  private(set) var blocks = 0
  private let channelCount: Int
  private let samples: UnsafeMutableBufferPointer<Int16>

  init(_ card: SimulatedCard, channelCount: Int = 1, quality: RateConverter.Quality = .sinc) throws {
    self.card = card
    self.channelCount = channelCount
    stream = try PlaybackStream(card, channelCount: channelCount, phase: .milliseconds(6), quality: quality)
    samples = .allocate(capacity: 480 * channelCount)
    samples.initialize(repeating: 0)
  }

  deinit { samples.deallocate() }

  /// Runs for `duration`; `fill` makes each block, given when it is due; `each` hears when it will be heard and when it was written.
  func run(
    _ duration: Interval, fill: (UnsafeMutableBufferPointer<Int16>, Instant) -> Void = { _, _ in },
    each: (Instant, Instant, Instant) -> Void = { _, _, _ in }
  ) throws {
    let end = card.now + duration
    while card.now < end {
      while stream.needsBlock(now: card.now) {
        let due = stream.nextBlockTime(now: card.now)
        fill(samples, due)
        let heard = try stream.write(UnsafeBufferPointer(samples), now: card.now)
        blocks += 1
        each(due, heard, card.now)
      }
      stream.wait(until: end, now: card.now)
    }
  }
}
