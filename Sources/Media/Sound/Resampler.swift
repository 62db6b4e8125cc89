import CSpeexDSP

/// Changes the sample rate of interleaved 16-bit sound (speexdsp's windowed sinc, quality 5). Keeps its state from call to call.
public final class Resampler {
  /// Interleaved channels.
  public let channelCount: Int
  private let handle: OpaquePointer
  private let ratio: Double

  /// A converter between two rates, each 4,000 to 192,000 Hz.
  public init(from inputRate: Int, to outputRate: Int, channelCount: Int) throws(SoundError) {
    for rate in [inputRate, outputRate] where !(4_000...192_000).contains(rate) { throw .unsupportedRate(rate) }
    precondition((1...2).contains(channelCount), "sound has one or two channels")
    var error: Int32 = 0
    guard let created = speex_resampler_init(UInt32(channelCount), UInt32(inputRate), UInt32(outputRate), 5, &error) else {
      throw .unsupportedRate(inputRate)
    }
    // The filter's start-up delay is dropped, so that the first sample out is the first one in.
    speex_resampler_skip_zeros(created)
    handle = created
    self.channelCount = channelCount
    ratio = Double(outputRate) / Double(inputRate)
  }

  deinit { speex_resampler_destroy(handle) }

  /// Converts all of `input` and returns what is ready.
  public func process(_ input: [Int16]) -> [Int16] {
    var output: [Int16] = []
    let capacity = Int(Double(input.count) * ratio) + 64 * channelCount
    output.reserveCapacity(capacity)
    var consumed = 0
    var chunk = [Int16](repeating: 0, count: 8_192 * channelCount)
    while consumed < input.count {
      var inputCount = UInt32((input.count - consumed) / channelCount)
      var outputCount = UInt32(chunk.count / channelCount)
      let result = input.withUnsafeBufferPointer {
        speex_resampler_process_interleaved_int(handle, $0.baseAddress! + consumed, &inputCount, &chunk, &outputCount)
      }
      guard result == 0, inputCount > 0 || outputCount > 0 else { break }
      consumed += Int(inputCount) * channelCount
      output.append(contentsOf: chunk[..<(Int(outputCount) * channelCount)])
    }
    return output
  }
}
