import Base

/// What a stream of sound counts and measures of itself: for statistics.
public struct StreamFigures: Sendable, Equatable, BitwiseCopyable {
  /// How often the device ran empty or over.
  public var xruns = 0
  /// Frames that went through the device, in its own frames.
  public var frames = 0
  /// Frames left out, at 48 kHz, to be in time again.
  public var discardedFrames = 0
  /// Frames of silence put in, at 48 kHz, where there was no sound in time.
  public var insertedFrames = 0
  /// What waits in the ring when a block comes (playback), or has waited when a block leaves (capture), in milliseconds.
  public var fill = 0.0
  /// From a microphone to the block, its length of 10 ms included; or from the block to the loudspeaker: in milliseconds.
  public var delay = 0.0
  /// How much faster than it claims the device runs against the machine's clock, in millionths.
  public var drift = 0.0
  /// Frames from one interrupt to the next, and that the ring holds, in milliseconds.
  public var period = 0.0
  /// See `period`.
  public var buffer = 0.0

  /// Nothing counted yet.
  public init() {}
}

/// Where the blocks of a stream lie on the machine's clock: block `n` begins `n` times 10 ms, and the phase, after the clock's origin.
struct BlockGrid: Sendable {
  static let blockTime = Interval.milliseconds(10)
  var phase = Interval.zero

  func start(of index: Int64) -> Instant { Instant.zero + phase + BlockGrid.blockTime * index }

  /// The first block that begins at `time` or later.
  func firstIndex(from time: Instant) -> Int64 {
    let (quotient, remainder) = (time - Instant.zero - phase).nanoseconds.quotientAndRemainder(dividingBy: BlockGrid.blockTime.nanoseconds)
    return quotient + (remainder > 0 ? 1 : 0)
  }
}

/// How streams follow a card's clock.
enum ClockFollowing {
  /// How long it takes until most of an error of phase is gone.
  static let time = 0.5
  /// How much faster or slower sound may go meanwhile.
  static let limit = 0.003
  /// An error of more than this is jumped over.
  static let jump = 0.008
  /// A device that moves no frame for this long works no more.
  static let stall = Interval.milliseconds(500)
  /// A device that never interrupts is asked instead.
  static let interruptPatience = Interval.milliseconds(100)

  /// The factor by which to go faster, `error` seconds behind.
  static func correction(_ error: Double) -> Double { 1 + max(-limit, min(limit, error / time)) }
}

/// Error numbers as ALSA returns them.
enum PCMError {
  static let wouldBlock: Int32 = -11
  static let noDevice: Int32 = -19
  static let xrun: Int32 = -32
  static let wrongState: Int32 = -77
  static let suspended: Int32 = -86

  /// Whether the device can be made ready again.
  static func isRecoverable(_ error: Int32) -> Bool { error == xrun || error == suspended || error == wrongState }
}

extension PCM {
  /// The error to give up with.
  func failure(_ error: Int32, _ operation: String) -> SoundError {
    error == PCMError.noDevice
      ? .absent(device: label, reason: "it was unplugged")
      : .device(label, operation: operation, reason: systemReason(-error))
  }
}
