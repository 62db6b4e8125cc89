import Base
import Frames
import Glibc

extension VoiceProcessor {
  /// How loud a microphone is, and how well its echo goes away.
  public struct Figures: Sendable, Equatable, BitwiseCopyable {
    /// Level of the block that was processed last, as it was captured and as it came out, in dB of full scale: 0 is the loudest square wave, -127 is silence.
    public fileprivate(set) var capturedLevel: Float = -127
    public fileprivate(set) var processedLevel: Float = -127
    /// How much weaker the echo is in the microphone than what was played, in dB (W3C `echoReturnLoss`); nil as long as no echo is known.
    public fileprivate(set) var echoReturnLoss: Float?
    /// How much weaker the echo is in what comes out than in the microphone, in dB (W3C `echoReturnLossEnhancement`), while hardly anything else is
    /// heard; nil as long as that has not been.
    public fileprivate(set) var echoReturnLossEnhancement: Float?
    /// The time from `analyze` until the first sound of a block comes back to `process`, to 5 ms; nil as long as none has been recognized.
    public internal(set) var delay: Interval?
    /// How often the path of the echo turned out to be another one.
    public internal(set) var pathChangeCount = 0
    /// Blocks of the microphone for which `analyze` had not been called.
    public internal(set) var missingCount = 0
    /// Blocks that were played and are not looked at, since `analyze` was called too often.
    public internal(set) var surplusCount = 0

    // Energies of the last second or so.
    private var played: Float = 0
    private var echo: Float = 0
    private var captured: Float = 0
    private var processed: Float = 0

    /// Nothing is known.
    public init() {}

    /// Counts a block: sums of the squared samples of one channel, 1 being full scale.
    mutating func count(played: Float, echo: Float, captured: Float, processed: Float) {
      capturedLevel = Figures.level(captured)
      processedLevel = Figures.level(processed)
      // Below -60 dB of full scale there is more noise than echo.
      guard played > 1e-6 * Float(AudioBlock.sampleCount), echo > 1e-8 * Float(AudioBlock.sampleCount) else { return }
      let memory: Float = 0.99
      self.played = memory * self.played + played
      self.echo = memory * self.echo + echo
      echoReturnLoss = Figures.decibels(self.played, self.echo)
      guard echo > 0.8 * captured, echo < 1.25 * captured else { return }
      self.captured = memory * self.captured + captured
      self.processed = memory * self.processed + processed
      echoReturnLossEnhancement = Figures.decibels(self.captured, self.processed)
    }

    private static func level(_ energy: Float) -> Float { max(-127, min(0, decibels(energy, Float(AudioBlock.sampleCount)))) }
    private static func decibels(_ a: Float, _ b: Float) -> Float { 10 * log10((a + 1e-20) / (b + 1e-20)) }
  }
}
