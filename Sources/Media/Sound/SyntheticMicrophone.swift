import Base
import Frames
import Glibc

/// A microphone without a device: a steady 440 Hz tone, and a click at the start of each second that a `ClickDetector` finds again.
public final class SyntheticMicrophone: AudioSource {
  public let channelCount = 1

  /// Frequency of the tone in Hz.
  public static let toneFrequency = 440.0
  /// Frequency of the click's burst in Hz.
  static let clickFrequency = 2_000.0
  /// Samples of a click: 10 ms, one block.
  static let clickSampleCount = AudioBlock.sampleCount
  private static let clickAmplitude = 16_000.0

  // 11 periods of 440 Hz are 1,200 samples at 48 kHz, so the tone repeats exactly.
  private let tone: [Int16]
  private let click: [Int16]

  /// A microphone whose tone has the given amplitude, 0 to 16,000 (0 leaves the clicks alone).
  public init(toneAmplitude: Int = 3_000) {
    precondition((0...16_000).contains(toneAmplitude), "tone and click together must not clip")
    tone = (0..<1_200).map { Int16((Double(toneAmplitude) * sin(2 * .pi * 11 * Double($0) / 1_200)).rounded()) }
    click = (0..<SyntheticMicrophone.clickSampleCount).map { index in
      let envelope = sin(.pi * (Double(index) + 0.5) / Double(SyntheticMicrophone.clickSampleCount))
      let phase = 2 * .pi * SyntheticMicrophone.clickFrequency * Double(index) / Double(AudioBlock.sampleRate)
      return Int16((SyntheticMicrophone.clickAmplitude * envelope * envelope * sin(phase)).rounded())
    }
  }

  public func block(at index: Int, captureTime: Instant?) -> AudioBlock {
    let start = ((index * AudioBlock.sampleCount) % tone.count + tone.count) % tone.count
    let hasClick = index % 100 == 0
    let samples = [Int16](unsafeUninitializedCapacity: AudioBlock.sampleCount) { samples, count in
      for position in 0..<AudioBlock.sampleCount {
        samples[position] = tone[(start + position) % tone.count] + (hasClick ? click[position] : 0)
      }
      count = AudioBlock.sampleCount
    }
    return AudioBlock(samples: samples, captureTime: captureTime)
  }
}
