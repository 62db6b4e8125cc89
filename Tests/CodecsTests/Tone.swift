import Frames
import Glibc

/// Amplitude of a sine of `frequency` within samples at 48 kHz, whatever its phase.
func amplitude(of frequency: Double, in samples: ArraySlice<Int16>) -> Double {
  var (cosine, sine) = (0.0, 0.0)
  for (index, sample) in samples.enumerated() {
    let phase = 2 * .pi * frequency * Double(index) / 48_000
    cosine += Double(sample) * cos(phase)
    sine += Double(sample) * sin(phase)
  }
  return 2 * (cosine * cosine + sine * sine).squareRoot() / Double(samples.count)
}

/// A sine of amplitude 8,000 at 48 kHz.
func sine(of frequency: Double, count: Int) -> [Int16] {
  (0..<count).map { Int16((8_000 * sin(2 * .pi * frequency * Double($0) / 48_000)).rounded()) }
}

/// Something like a voice: harmonics of 130 Hz whose loudness changes four times a second. (Opus copies speech only, and takes a steady tone for noise.)
func voice(block index: Int) -> AudioBlock {
  AudioBlock(
    samples: (0..<480).map { position in
      let time = Double(index * 480 + position) / 48_000
      let sum = (1...12).reduce(0.0) { $0 + sin(2 * .pi * 130 * Double($1) * time) / Double($1) }
      return Int16(4_000 * sum * (0.6 + 0.4 * sin(2 * .pi * 4 * time)))
    })
}
