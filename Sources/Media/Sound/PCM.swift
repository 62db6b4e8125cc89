import Base

/// Which way sound goes through a device.
public enum SoundDirection: String, Sendable, Equatable {
  /// From a microphone.
  case capture
  /// To a loudspeaker.
  case playback
}

/// What an open device was set to.
public struct PCMConfiguration: Sendable, Equatable {
  /// Frames a second, as the device counts its own seconds.
  public var rate: Int
  /// Interleaved channels, 1 to 8.
  public var channelCount: Int
  /// How a sample is stored.
  public var format: SampleFormat
  /// Frames from one interrupt to the next.
  public var periodFrames: Int
  /// Frames that the device's ring holds.
  public var bufferFrames: Int
  /// Whether the device moves its pointer in whole transfers only (USB), not frame by frame.
  public var isBatch: Bool

  /// A configuration.
  public init(
    rate: Int = 48_000, channelCount: Int = 2, format: SampleFormat = .int16, periodFrames: Int = 480, bufferFrames: Int = 9_600,
    isBatch: Bool = false
  ) {
    (self.rate, self.channelCount, self.format) = (rate, channelCount, format)
    (self.periodFrames, self.bufferFrames, self.isBatch) = (periodFrames, bufferFrames, isBatch)
  }

  /// Bytes of a sample for each channel.
  public var frameSize: Int { format.size * channelCount }

  /// How long `frames` take, by the device's nominal rate.
  public func duration(of frames: Int) -> Interval { .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(rate)) }
}

/// What the kernel last knew of a device's pointer.
public struct PCMUpdate: Sendable, Equatable {
  /// Frames that could be read or written then.
  public var available: Int
  /// When it looked, on the machine's monotonic clock.
  public var time: Instant

  /// An update.
  public init(available: Int, time: Instant) { (self.available, self.time) = (available, time) }
}

/// An open sound device in one direction, as one thread uses it: the calls of ALSA's PCM interface, so that a simulated card can stand in.
///
/// None of the calls allocates, locks or, but for `wait`, blocks. Results below zero are Linux error numbers, negated, as ALSA returns
/// them: EPIPE after an xrun, ESTRPIPE after the machine slept, ENODEV when the device has gone.
public protocol PCM: AnyObject {
  /// What people call the device.
  var label: String { get }
  var direction: SoundDirection { get }
  var configuration: PCMConfiguration { get }

  /// Starts the device. Playback needs something in its ring.
  func start() -> Int32

  /// Makes the device ready to start again, empty, after `error` (an error number, negated; 0 for none).
  func recover(from error: Int32) -> Int32

  /// Asks the hardware how many frames can be read or written.
  func available() -> Int

  /// How many frames are between what is read or written next and what is captured or heard now, what is on its way outside of the ring
  /// included.
  func delay() -> Int

  /// What the last interrupt or call found, without asking the hardware.
  func lastUpdate() -> PCMUpdate

  /// Reads up to `count` interleaved frames. Returns how many there were.
  func read(into frames: UnsafeMutableRawPointer, count: Int) -> Int

  /// Writes up to `count` interleaved frames. Returns how many there was room for.
  func write(_ frames: UnsafeRawPointer, count: Int) -> Int

  /// Sleeps until `deadline`, or until the device interrupts (capture only) or has an error.
  func wait(until deadline: Instant)
}
