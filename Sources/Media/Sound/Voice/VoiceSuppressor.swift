import Frames
import Glibc

/// Makes weaker what is not the near voice: what is left of the echo, and steady noise. The sound itself waits for nothing: spectra of each block only
/// decide how a filter without delay is set.
struct VoiceSuppressor: ~Copyable {
  /// How many times the echo's estimated rest is taken out, since it is that much louder at times.
  private static let echoFactor: Float = 5
  /// What is left of noise, by power: -21 dB if it is to be suppressed, and little less than all where echo alone is.
  private let noiseFloor: Float
  /// How much of what the echo's filter may be wrong by counts: most of what it does not know it has not got wrong.
  private static let doubt: Float = 0.05
  /// How much of a block's echo may still be heard in the next: rooms die away, and blocks do not end where words do.
  private static let reverberation: Float = 0.5
  /// What loudspeakers add above a tone, against the tone, for each 100 Hz further up.
  private static let overtones: Float = 0.8
  /// The least gain, -40 dB: what the filter can still do well.
  private static let leastGain: Float = 0.01

  private let suppressesNoise: Bool
  private let window = (0..<AudioBlock.sampleCount).map { Float(sin(Double.pi * (Double($0) + 0.5) / Double(AudioBlock.sampleCount))) }
  private var noise = NoiseEstimator()
  private var filter = MinimumPhaseFilter()
  private var windowed = [Float](repeating: 0, count: AudioBlock.sampleCount)
  private var spectrum = EchoSpectrum()
  /// What was measured last.
  private var power = [Float](repeating: 0, count: EchoHop.binCount)
  private var heard = [Float](repeating: 0, count: EchoHop.binCount)
  private var echo = [Float](repeating: 0, count: EchoHop.binCount)
  /// The rest of the echo in what is heard, and what it is of the known echo, by power.
  private var rest = [Float](repeating: 0, count: EchoHop.binCount)
  private var leakage = [Float](repeating: 1, count: EchoHop.binCount)
  private var smoothHeard = [Float](repeating: 0, count: EchoHop.binCount)
  private var smoothEcho = [Float](repeating: 0, count: EchoHop.binCount)
  /// Power of the voice in each bin, as it came out of the last block.
  private var voice = [Float](repeating: 0, count: EchoHop.binCount)
  /// Natural logarithms.
  private var gains = [Float](repeating: 0, count: EchoHop.binCount)

  init(suppressesNoise: Bool) {
    self.suppressesNoise = suppressesNoise
    noiseFloor = suppressesNoise ? 0.008 : 0.5
  }

  /// Processes 480 samples in place, out of which `known`, the echo as far as it is known, has been taken; `uncertainty` is the power that this may be wrong by,
  /// in each bin of both its hops.
  mutating func process(
    _ samples: UnsafeMutablePointer<Float>, known: [Float]?, uncertainty: [SIMD8<Float>], _ transform: EchoTransform
  ) {
    unsafe measure(samples, transform)
    swap(&heard, &power)
    if let known {
      unsafe known.withUnsafeBufferPointer { unsafe measure($0.baseAddress!, transform) }
      swap(&echo, &power)
      for bin in 1..<EchoHop.binCount { echo[bin] = max(echo[bin], VoiceSuppressor.overtones * echo[bin - 1]) }
      findRest(uncertainty)
    }
    noise.process(heard, echo: rest)
    decide()
    unsafe filter.process(samples, gains: gains)
  }

  /// Finds the power of a block's spectrum: of each bin and its neighbours together.
  private mutating func measure(_ samples: UnsafePointer<Float>, _ transform: EchoTransform) {
    for index in windowed.indices { windowed[index] = unsafe samples[index] * window[index] }
    unsafe windowed.withUnsafeBufferPointer { windowed in
      unsafe spectrum.values.withUnsafeMutableBufferPointer { unsafe transform.forward(windowed.baseAddress!, $0.baseAddress!) }
    }
    unsafe spectrum.values.withUnsafeBytes { bytes in
      let values = unsafe bytes.bindMemory(to: Float.self)
      var (last, this): (Float, Float) = (0, 0)
      for bin in 0...EchoHop.binCount {
        var next: Float = 0
        if bin < EchoHop.binCount {
          let (re, im) = unsafe (values[bin], values[8 * EchoHop.vectorCount + bin])
          next = re * re + im * im
        }
        if bin > 0 { power[bin - 1] = 0.25 * last + 0.5 * this + 0.25 * next }
        (last, this) = (this, next)
      }
    }
  }

  /// What is left of the echo: of what is known of it as much as the least that was left lately, and what the filter knows that it does not know.
  private mutating func findRest(_ uncertainty: [SIMD8<Float>]) {
    for bin in rest.indices {
      smoothHeard[bin] += 0.3 * (heard[bin] - smoothHeard[bin])
      smoothEcho[bin] += 0.3 * (echo[bin] - smoothEcho[bin])
      if smoothEcho[bin] > 4 * noise.power[bin], smoothEcho[bin] > 1e-9 {
        let ratio = smoothHeard[bin] / smoothEcho[bin]
        if ratio < leakage[bin] {
          leakage[bin] += 0.1 * (ratio - leakage[bin])
        } else {
          leakage[bin] = min(1, 1.005 * leakage[bin])
        }
      }
      let now = leakage[bin] * echo[bin] + VoiceSuppressor.doubt * uncertainty[bin / 8][bin % 8]
      rest[bin] = max(now, VoiceSuppressor.reverberation * rest[bin])
    }
  }

  /// The gains: as much of each bin's power as is likely to be the voice (Ephraim and Malah's estimate of its level above the rest).
  private mutating func decide() {
    for bin in gains.indices {
      let unwanted = VoiceSuppressor.echoFactor * rest[bin] + (suppressesNoise ? noise.power[bin] : 0) + 1e-12
      let above = heard[bin] / unwanted
      let level = 0.8 * voice[bin] / unwanted + 0.2 * max(0, above - 1)
      let wiener = level / (1 + level)
      voice[bin] = wiener * wiener * heard[bin]
      // Never less than the noise that should stay: a gap in it would be heard.
      let least = (noiseFloor * noise.power[bin] / (heard[bin] + 1e-12)).squareRoot()
      gains[bin] = logf(max(wiener, min(1, least), VoiceSuppressor.leastGain))
    }
  }
}
