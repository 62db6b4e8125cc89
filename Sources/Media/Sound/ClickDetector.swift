import Base
import Frames
import Glibc

/// Finds the clicks of a `SyntheticMicrophone` in what arrives, to about a millisecond, after any codec of a call.
public struct ClickDetector: Sendable {
  private static let window = SyntheticMicrophone.clickSampleCount
  /// A twentieth of a click's own response: far above the tone's, far below what any codec leaves of a click.
  private static let threshold = 200.0

  // One period of the click's frequency is 24 samples at 48 kHz, so 24 products are all there are.
  private let reference: [(cosine: Double, sine: Double)]
  private var products: [(Double, Double)] = Array(repeating: (0, 0), count: window)
  private var sum = (0.0, 0.0)
  private var position = 0
  /// How long the response has been above the threshold, in samples.
  private var width = 0

  /// A detector that has heard nothing.
  public init() {
    reference = (0..<24).map { (cos(2 * .pi * Double($0) / 24), sin(2 * .pi * Double($0) / 24)) }
  }

  /// Listens to a block whose first sample belongs to `time`; returns when a click began that was heard to its end, on the same clock.
  public mutating func process(_ block: AudioBlock, at time: Instant) -> Instant? {
    var found: Instant?
    for index in 0..<AudioBlock.sampleCount {
      let sample = Double(block.samples[index * block.channelCount]) / Double(ClickDetector.window)
      let slot = position % ClickDetector.window
      let turn = reference[position % 24]
      let product = (sample * turn.cosine, sample * turn.sine)
      sum.0 += product.0 - products[slot].0
      sum.1 += product.1 - products[slot].1
      products[slot] = product
      position += 1

      let strength = (sum.0 * sum.0 + sum.1 * sum.1).squareRoot()
      if strength > ClickDetector.threshold {
        width += 1
      } else if width > 0 {
        // The response rises and falls alike, and is strongest when the window covers the click exactly: with the click's last sample.
        if width > ClickDetector.window / 4 {
          let samplesBack = Int64(width / 2 + ClickDetector.window - index)
          found = time - .nanoseconds(samplesBack * 1_000_000_000 / Int64(AudioBlock.sampleRate))
        }
        width = 0
      }
    }
    return found
  }
}
