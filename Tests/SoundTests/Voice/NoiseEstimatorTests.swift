import Base
import Testing

@testable import Sound

@Suite struct NoiseEstimatorTests {
  private var random = RandomSource(seed: 3)
  private var estimator = NoiseEstimator()

  /// Blocks of noise with this mean power, and `voice` where there is one.
  private mutating func pass(blocks: Int, noise: Float, voice: (Int) -> Float = { _ in 0 }, echo: Float = 0) {
    for block in 0..<blocks {
      // The mean of several bins, as of a spectrum whose neighbours were added.
      let spectrum = (0..<EchoHop.binCount).map { _ in
        (0..<4).reduce(voice(block)) { sum, _ in sum + noise / 2 * Float.random(in: 0..<1, using: &random) }
      }
      estimator.process(spectrum, echo: [Float](repeating: echo, count: EchoHop.binCount))
    }
  }

  /// The mean over all bins, against what it should be.
  private func ratio(to noise: Float) -> Float { estimator.power.reduce(0, +) / Float(EchoHop.binCount) / noise }

  @Test("The level of noise is known after half a second, to 1 dB")
  mutating func noise() {
    pass(blocks: 50, noise: 1e-4)
    #expect((0.8...1.25).contains(ratio(to: 1e-4)))
  }

  @Test("Words are no noise, also where they come first")
  mutating func words() {
    pass(blocks: 300, noise: 1e-4) { $0 % 40 < 25 ? 0.1 : 0 }
    #expect((0.5...2).contains(ratio(to: 1e-4)), "\(ratio(to: 1e-4))")
  }

  @Test("Noise that gets louder is known within some seconds, and one that gets quieter at once")
  mutating func change() {
    pass(blocks: 100, noise: 1e-4)
    pass(blocks: 400, noise: 1e-2)
    #expect((0.5...2).contains(ratio(to: 1e-2)), "\(ratio(to: 1e-2))")
    pass(blocks: 100, noise: 1e-4)
    #expect((0.5...2).contains(ratio(to: 1e-4)), "\(ratio(to: 1e-4))")
  }

  @Test("Neither echo nor a microphone that is off changes it")
  mutating func others() {
    pass(blocks: 100, noise: 1e-4)
    let before = estimator.power
    pass(blocks: 300, noise: 1e-3, echo: 1e-3)
    pass(blocks: 300, noise: 0)
    #expect(estimator.power == before)
  }
}
