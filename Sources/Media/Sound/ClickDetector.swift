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
  /// The strongest response since it rose above the threshold, and how many samples ago it was.
  private var peak: (strength: Double, age: Int)?
  /// Whether the last click's response has faded.
  private var isArmed = true

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
      if let current = peak {
        if strength > current.strength {
          peak = (strength, 0)
        } else if strength < current.strength / 4 {
          // The response is strongest when the window covers the click exactly: with the click's last sample.
          let samplesBack = Int64(current.age + ClickDetector.window - index)
          found = time - .nanoseconds(samplesBack * 1_000_000_000 / Int64(AudioBlock.sampleRate))
          peak = nil
        } else {
          peak = (current.strength, current.age + 1)
        }
      } else if strength < ClickDetector.threshold / 2 {
        isArmed = true
      } else if strength > ClickDetector.threshold && isArmed {
        (peak, isArmed) = ((strength, 0), false)
      }
    }
    return found
  }
}
