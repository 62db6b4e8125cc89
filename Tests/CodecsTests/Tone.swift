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
