import Base

/// Ten milliseconds of sound at 48 kHz: 480 samples per channel, interleaved 16-bit.
public struct AudioBlock: Sendable, Equatable {
  /// Samples per second, everywhere inside Parlor.
  public static let sampleRate = 48_000
  /// Samples per channel in a block.
  public static let sampleCount = 480

  /// 1 or 2.
  public var channelCount: Int
  /// `sampleCount * channelCount` interleaved samples.
  public var samples: [Int16]
  /// When the first sample was captured, on the machine's monotonic clock; nil for silence and concealment.
  public var captureTime: Instant?

  /// A block of `samples`, whose count must be 480 times `channelCount`.
  public init(samples: [Int16], channelCount: Int = 1, captureTime: Instant? = nil) {
    precondition(samples.count == AudioBlock.sampleCount * channelCount, "a block is 10 ms")
    (self.samples, self.channelCount, self.captureTime) = (samples, channelCount, captureTime)
  }

  /// Silence.
  public static func silence(channelCount: Int = 1) -> AudioBlock {
    AudioBlock(samples: Array(repeating: 0, count: sampleCount * channelCount), channelCount: channelCount)
  }
}
