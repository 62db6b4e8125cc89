import Base
import Frames
import Glibc
import Testing

@testable import Sound

@Suite struct MinimumPhaseFilterTests {
  /// What becomes of an impulse at the start of a block, once the filter has gone over to the gains that `gain` tells for each frequency.
  private func response(_ gain: (Double) -> Double) -> [Float] {
    var filter = MinimumPhaseFilter()
    let gains = (0..<MinimumPhaseFilter.gainCount).map { Float(log(gain(100 * Double($0)))) }
    var samples = [Float](repeating: 0, count: AudioBlock.sampleCount)
    for turn in 0..<3 {
      samples = samples.map { _ in 0 }
      if turn == 2 { samples[0] = 1 }
      unsafe samples.withUnsafeMutableBufferPointer { unsafe filter.process($0.baseAddress!, gains: gains) }
    }
    return samples
  }

  /// Gain of a response at a frequency, in dB.
  private func level(_ response: [Float], at frequency: Double) -> Double {
    var (re, im) = (0.0, 0.0)
    for (index, sample) in response.enumerated() {
      let angle = 2 * Double.pi * frequency * Double(index) / 48_000
      re += Double(sample) * cos(angle)
      im -= Double(sample) * sin(angle)
    }
    return 10 * log10(re * re + im * im)
  }

  @Test("What is as it should be passes unchanged, at once")
  func nothing() {
    let response = response { _ in 1 }
    #expect(abs(response[0] - 1) < 1e-5 && response.dropFirst().allSatisfy { abs($0) < 1e-5 })
  }

  @Test("Gains are kept to, with slopes of some 500 Hz between them", arguments: [0.01, 0.03, 0.3])
  func gains(least: Double) {
    let response = response { (1_500...6_000).contains($0) ? 1 : least }
    let wanted = 20 * log10(least)
    for frequency in stride(from: 2_200.0, to: 5_300, by: 100) { #expect(abs(level(response, at: frequency)) < 2.5, "\(frequency) Hz") }
    for frequency in stride(from: 7_000.0, to: 23_000, by: 500) {
      #expect(abs(level(response, at: frequency) - wanted) < 4, "\(frequency) Hz")
    }
    #expect(level(response, at: 400) < 0.7 * wanted)
  }

  @Test("What passes has passed within a millisecond, whatever is suppressed")
  func delay() {
    for band in [0..<1_000, 300..<4_000, 2_000..<24_100] {
      let response = response { band.contains(Int($0)) ? 1 : 0.03 }
      let energy = response.map { $0 * $0 }
      #expect(energy[..<48].reduce(0, +) > 0.9 * energy.reduce(0, +), "\(band)")
    }
  }

  @Test("New gains come within 5 ms, without a jump")
  func transition() {
    var filter = MinimumPhaseFilter()
    var samples = [Float](repeating: 1, count: AudioBlock.sampleCount)
    let quiet = [Float](repeating: logf(0.1), count: MinimumPhaseFilter.gainCount)
    let loud = [Float](repeating: 0, count: quiet.count)
    unsafe samples.withUnsafeMutableBufferPointer { unsafe filter.process($0.baseAddress!, gains: loud) }
    unsafe samples.withUnsafeMutableBufferPointer { unsafe filter.process($0.baseAddress!, gains: quiet) }
    #expect(zip(samples, samples.dropFirst()).allSatisfy { abs($1 - $0) < 0.12 })
    #expect(samples[0] > 0.9 && samples[240...].allSatisfy { abs($0 - 0.1) < 1e-3 })
  }
}
