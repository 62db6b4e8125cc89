import CSampleRate

/// Converts the sample rate of interleaved floating-point sound by a ratio that may change from call to call (libsamplerate). Allocates
/// only when made.
///
/// With `Quality.sinc` (SRC_SINC_FASTEST: signal to noise 97 dB, level up to 80 % of the band) a sample comes out when 20 samples after it
/// have gone in: 0.42 ms at 48 kHz.
final class RateConverter {
  enum Quality {
    case sinc
    /// Straight lines between samples: for simulations of many hours.
    case linear
  }

  let channelCount: Int
  private let quality: Quality
  private let state: OpaquePointer

  init(channelCount: Int, quality: Quality = .sinc) throws(SoundError) {
    var error: Int32 = 0
    let kind = quality == .sinc ? SRC_SINC_FASTEST : SRC_LINEAR
    guard let created = unsafe src_new(Int32(kind), Int32(channelCount), &error) else {
      throw .device("libsamplerate", operation: "convert \(channelCount) channels", reason: unsafe String(cString: src_strerror(error)))
    }
    (self.channelCount, self.quality) = (channelCount, quality)
    unsafe state = created
  }

  deinit { _ = unsafe src_delete(state) }

  /// Frames that have to be there after a position before the frame at that position comes out, at `ratio` of the output's rate to the
  /// input's.
  func lookahead(ratio: Double) -> Double {
    switch quality {
    case .sinc: ((2_464 + 2) / 128 / min(1, ratio)).rounded() + 1
    case .linear: 2
    }
  }

  /// Forgets what went in.
  func reset() { _ = unsafe src_reset(state) }

  /// Converts frames at exactly `ratio` until `input` is used up or `output` full: each frame out is `1 / ratio` frames in after the one
  /// before. Returns how many frames were taken and made.
  func process(
    _ input: UnsafePointer<Float>, count inputCount: Int, into output: UnsafeMutablePointer<Float>, capacity: Int, ratio: Double
  ) -> (used: Int, made: Int) {
    // Without this the ratio would go over from the last one gradually.
    _ = unsafe src_set_ratio(state, ratio)
    var data = unsafe SRC_DATA()
    unsafe data.data_in = unsafe input
    unsafe data.data_out = unsafe output
    unsafe data.input_frames = inputCount
    unsafe data.output_frames = capacity
    unsafe data.src_ratio = ratio
    let result = unsafe src_process(state, &data)
    precondition(result == 0, "buffers and ratio are valid")
    return unsafe (Int(data.input_frames_used), Int(data.output_frames_gen))
  }
}
