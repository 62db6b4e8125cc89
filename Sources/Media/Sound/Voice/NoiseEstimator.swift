import Glibc

/// How loud the steady noise is in each bin, also while somebody talks: spectra count as far as they are unlikely to be a voice
/// (Gerkmann and Hendriks 2012).
struct NoiseEstimator {
  /// The noise's power in each bin.
  private(set) var power = [Float](repeating: 0, count: EchoHop.binCount)

  /// What a voice has above noise where there is one: 15 dB.
  private static let voice: Float = 31.6
  /// What is remembered from block to block.
  private static let memory: Float = 0.85
  /// Far below the noise of any microphone.
  private static let floor: Float = 1e-9

  private var likelihood = [Float](repeating: 0, count: EchoHop.binCount)
  private var isBegun = false

  /// Takes the power of a block's spectrum. What is thought to be `echo` is nobody's noise.
  mutating func process(_ spectrum: [Float], echo: [Float]) {
    guard isBegun else {
      // Too much is put right at once by quieter blocks; digital silence is no noise.
      guard spectrum.contains(where: { $0 > NoiseEstimator.floor }) else { return }
      isBegun = true
      for bin in power.indices { power[bin] = max(spectrum[bin], NoiseEstimator.floor) }
      return
    }
    let weight = NoiseEstimator.voice / (1 + NoiseEstimator.voice)
    for bin in power.indices where echo[bin] < power[bin] && spectrum[bin] > NoiseEstimator.floor {
      let ratio = min(30, spectrum[bin] / power[bin])
      var isVoice = 1 / (1 + (1 + NoiseEstimator.voice) * expf(-ratio * weight))
      likelihood[bin] += 0.1 * (isVoice - likelihood[bin])
      // What has been there for long is noise after all.
      if likelihood[bin] > 0.99 { isVoice = min(isVoice, 0.99) }
      let noise = isVoice * power[bin] + (1 - isVoice) * spectrum[bin]
      power[bin] = max(NoiseEstimator.floor, NoiseEstimator.memory * power[bin] + (1 - NoiseEstimator.memory) * noise)
    }
  }
}
