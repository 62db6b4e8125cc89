import Base
import Frames
import Net

/// What an application allows one sender to send: the members of W3C `RTCRtpEncodingParameters` that change it.
public struct EncodingLimits: Sendable, Equatable {
  /// Whether anything is sent.
  public var isActive = true
  /// Bits per second at most.
  public var maximumBitrate: Int?
  /// Pictures per second at most.
  public var maximumFramesPerSecond: Double?
  /// By how much the picture's sides are divided; 1 or more.
  public var scaleDownBy = 1.0

  /// No limits.
  public init() {}
}

/// Applies limits to pictures before they are encoded. Belongs to the encoder's thread.
struct LimitStage {
  private let pool = VideoBufferPool()
  private var pace: FramePacing

  init(framesPerSecond: Double) { pace = FramePacing(sourceRate: framesPerSecond) }

  /// The picture to encode; nil when none is.
  mutating func apply(_ limits: EncodingLimits, to frame: VideoFrame) -> VideoFrame? {
    guard limits.isActive else { return nil }
    if let rate = limits.maximumFramesPerSecond, !pace.accepts(frame.ledger[.capture] ?? MonotonicClock.now(), rate: rate) { return nil }
    guard limits.scaleDownBy > 1 else { return frame }
    func scaled(_ side: Int) -> Int { max(16, Int(Double(side) / limits.scaleDownBy) & ~1) }
    var result = frame
    result.buffer = frame.buffer.scaled(width: scaled(frame.width), height: scaled(frame.height), from: pool)
    return result
  }
}

/// Chooses pictures so that at most so many a second go on, evenly.
package struct FramePacing: Sendable {
  private var next: Instant?
  private let tolerance: Interval

  /// For a source of about `sourceRate` pictures a second: a picture that comes up to half a period early is on time.
  package init(sourceRate: Double = 30) { tolerance = .seconds(0.5 / max(1, sourceRate)) }

  /// Whether a picture of `time` goes on, when `rate` a second may.
  package mutating func accepts(_ time: Instant, rate: Double) -> Bool {
    guard rate > 0 else { return false }
    let period = Interval.seconds(1 / max(rate, 0.001))
    guard let due = next, time < due + period + period, due < time + period + period else {
      next = time + period
      return true
    }
    guard time + tolerance >= due else { return false }
    next = due + period
    return true
  }
}
