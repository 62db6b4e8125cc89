import Frames
import Glibc

/// A tone that rises evenly: what small loudspeakers play and microphones hear, and no noise resembles.
public struct Chirp: Sendable {
  /// 1 is full scale.
  public let samples: [Float]

  /// A tone that rises `from` one frequency `to` another, in Hz, within `seconds`, its ends faded, `peak` of full scale loud.
  public init(from: Double = 400, to: Double = 6_000, seconds: Double = 0.5, peak: Double = 0.25) {
    let count = Int(seconds * Double(AudioBlock.sampleRate))
    let fade = Double(AudioBlock.sampleRate) / 100
    samples = (0..<count).map { index in
      let time = Double(index) / Double(AudioBlock.sampleRate)
      let phase = 2 * Double.pi * (from * time + (to - from) * time * time / (2 * seconds))
      let edge = min(1, Double(min(index, count - 1 - index)) / fade)
      return Float(peak * sin(phase) * (0.5 - 0.5 * cos(.pi * edge)))
    }
  }

  /// How loud it is on average, in dB of full scale.
  public var level: Double { Chirp.level(samples) }

  /// How loud sound is on average, in dB of full scale; -120 when there is none.
  static func level(_ samples: some Collection<Float>) -> Double {
    let sum = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
    return 10 * log10(max(1e-12, sum / Double(max(1, samples.count))))
  }
}
