extension Demo {
  /// What was measured. The names are those of `parlor demo --json`.
  public struct Result: Sendable, Codable {
    /// Percentiles in milliseconds.
    public struct Percentiles: Sendable, Codable {
      public var p50, p95, p99: Double

      /// Percentiles in milliseconds.
      public init(p50: Double, p95: Double, p99: Double) { (self.p50, self.p95, self.p99) = (p50, p95, p99) }
    }

    public var connectMilliseconds = 0.0
    public var firstFrameMilliseconds = 0.0
    public var framesSent = 0
    public var framesShown = 0
    public var framesPerSecond = 0.0
    public var captureToDisplay = Percentiles(p50: 0, p95: 0, p99: 0)
    public var audioDelayMilliseconds: Double?
    public var bitrateKilobits = 0.0
    public var processorCores = 0.0
    public var memoryMebibytes: Double?
    public var codec = ""
    public var screenshot = ""

    /// Nothing measured yet.
    public init() {}

    private enum CodingKeys: String, CodingKey {
      case connectMilliseconds = "connect_ms"
      case firstFrameMilliseconds = "first_frame_ms"
      case framesSent = "frames_sent"
      case framesShown = "frames_shown"
      case framesPerSecond = "frames_per_second"
      case captureToDisplay = "capture_to_display_ms"
      case audioDelayMilliseconds = "audio_delay_ms"
      case bitrateKilobits = "bitrate_kbps"
      case processorCores = "cpu_cores"
      case memoryMebibytes = "pss_mb"
      case codec
      case screenshot
    }
  }

  /// The figures, and the screen as it was during the call.
  public struct Measurement: Sendable {
    public var result: Result
    /// A PNG file's bytes.
    public var png: [UInt8]

    /// A measurement.
    public init(result: Result, png: [UInt8]) { (self.result, self.png) = (result, png) }
  }

  /// Why a demo gave no result.
  public struct Failure: Error, CustomStringConvertible {
    /// What went wrong.
    public var description: String

    /// A demo that failed as `description` says.
    public init(description: String) { self.description = description }
  }
}
