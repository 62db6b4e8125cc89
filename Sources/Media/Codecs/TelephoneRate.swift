import Glibc

/// Low-pass filters between 48 kHz and the telephone's 8 kHz: a windowed sinc, pass band to 3.4 kHz, 60 dB down from 4.2 kHz.
enum TelephoneRate {
  static let factor = 6
  /// Taps of each of the six phases.
  static let phaseTapCount = 32
  static let tapCount = factor * phaseTapCount

  /// The filter's impulse response at 48 kHz, its sum 1.
  static func impulseResponse() -> [Float] {
    let cutoff = 3_800.0 / 48_000.0
    let middle = Double(tapCount - 1) / 2
    let taps = (0..<tapCount).map { index -> Double in
      let x = Double(index) - middle
      let sinc = x == 0 ? 2 * cutoff : sin(2 * .pi * cutoff * x) / (.pi * x)
      let phase = 2 * Double.pi * Double(index) / Double(tapCount - 1)
      return sinc * (0.42 - 0.5 * cos(phase) + 0.08 * cos(2 * phase))  // Blackman window
    }
    let sum = taps.reduce(0, +)
    return taps.map { Float($0 / sum) }
  }

  /// From 48 kHz to 8 kHz.
  struct Decimator {
    private let taps = impulseResponse()
    private var history = [Float](repeating: 0, count: tapCount)

    /// Filters `input`, whose count is a multiple of six, and appends a sixth as many samples to `output`.
    mutating func process(_ input: [Int16], appendingTo output: inout [Int16]) {
      precondition(input.count % factor == 0, "six samples make one")
      for start in stride(from: 0, to: input.count, by: factor) {
        // The history is short: moving it costs less than wrapping each access.
        for index in 0..<tapCount - factor { history[index] = history[index + factor] }
        for index in 0..<factor { history[tapCount - factor + index] = Float(input[start + index]) }
        var sum: Float = 0
        for index in 0..<tapCount { sum += taps[index] * history[index] }
        output.append(Int16(max(-32_768, min(32_767, sum.rounded()))))
      }
    }
  }

  /// From 8 kHz to 48 kHz.
  struct Interpolator {
    private let taps = impulseResponse()
    private var history = [Float](repeating: 0, count: phaseTapCount)

    /// Filters `input` and appends six times as many samples to `output`.
    mutating func process(_ input: [Int16], appendingTo output: inout [Int16]) {
      for position in 0..<input.count {
        for index in 0..<phaseTapCount - 1 { history[index] = history[index + 1] }
        history[phaseTapCount - 1] = Float(input[position]) * Float(factor)
        for phase in 0..<factor {
          var sum: Float = 0
          for index in 0..<phaseTapCount { sum += taps[phase + factor * index] * history[phaseTapCount - 1 - index] }
          output.append(Int16(max(-32_768, min(32_767, sum.rounded()))))
        }
      }
    }
  }
}
