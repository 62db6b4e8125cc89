import Base
import Frames
import Sound

/// Listens to received sound: finds the clicks of the synthetic microphone and how loud it is. Usable from any thread.
public final class SoundProbe: Sendable {
  /// What was heard.
  public struct Findings: Sendable {
    public var blocks = 0
    public var clicks: [Instant] = []
    /// The mean level in -dBov over the blocks that were not silent; nil when all were.
    public var level: Double? { loud > 0 ? sum / Double(loud) : nil }
    var loud = 0
    var sum = 0.0

    /// How long after a whole second of `start`'s clock the clicks were heard, in milliseconds: the synthetic microphone clicks each second.
    public func delays(since start: Instant) -> [Double] {
      clicks.map { click in
        let offset = (click - start).nanoseconds % 1_000_000_000
        return Double(offset < 0 ? offset + 1_000_000_000 : offset) / 1e6
      }
    }
  }

  private let state = Guarded((findings: Findings(), detector: ClickDetector()))

  public init() {}

  /// Listens to a block that is played at `time`.
  public func listen(to block: AudioBlock, time: Instant) {
    state.with { state in
      state.findings.blocks += 1
      if let click = state.detector.process(block, at: time) { state.findings.clicks.append(click) }
      let level = block.level
      if level < 127 {
        state.findings.loud += 1
        state.findings.sum += Double(level)
      }
    }
  }

  /// What was heard so far.
  public var findings: Findings { state.with { $0.findings } }
}
