import CKissFFT
import Frames
import Glibc

/// Makes each part of a sound's spectrum as loud as is wanted, and keeps none of it waiting.
///
/// Of all filters with the same gains this is the one with the least delay, none where nothing is to be changed: short in time, so that spectra decide what is
/// done to the sound yet the sound itself never goes through them (Löllmann and Vary 2007). Its coefficients follow from the gains' logarithms by way of
/// the cepstrum (Oppenheim and Schafer).
struct MinimumPhaseFilter: ~Copyable {
  /// Gains, from 0 Hz on, 100 Hz apart.
  static let gainCount = transformCount / 2 + 1

  private static let transformCount = 480
  /// Coefficients: 4 ms, a multiple of what a vector holds.
  private static let count = 192
  /// The coefficients go over to new ones in so many steps of so many samples: 5 ms.
  private static let (steps, stepCount) = (10, 24)
  /// How much of each part of the cepstrum is kept: details of the spectrum that are too fine for such a short filter fade out.
  private static let keptCount = 128
  private let lifter = (0..<count).map { $0 < keptCount ? Float(0.5 + 0.5 * cos(Double.pi * Double($0) / Double(keptCount))) : 0 }

  private let plan: kiss_fftr_cfg
  private var bins = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: gainCount)
  private var cepstrum = [Float](repeating: 0, count: transformCount)
  private var wanted = [Float](repeating: 0, count: count)
  private var coefficients = [Float](repeating: 0, count: count)
  /// The last samples that went in, then those of a block.
  private var input = [Float](repeating: 0, count: count + AudioBlock.sampleCount)

  /// A filter that changes nothing.
  init() {
    guard let plan = unsafe kiss_fftr_alloc(Int32(MinimumPhaseFilter.transformCount), 1, nil, nil) else {
      preconditionFailure("there is no memory for a transform")
    }
    unsafe self.plan = unsafe plan
    coefficients[0] = 1
  }

  deinit { unsafe free(UnsafeMutableRawPointer(plan)) }

  /// Filters 480 samples in place. In the first half of them the filter goes over to `gains`: natural logarithms.
  mutating func process(_ samples: UnsafeMutablePointer<Float>, gains: [Float]) {
    find(gains)
    let (count, stepCount) = (MinimumPhaseFilter.count, MinimumPhaseFilter.stepCount)
    for index in 0..<AudioBlock.sampleCount { input[count + index] = unsafe samples[index] }
    for step in 0..<AudioBlock.sampleCount / stepCount {
      let remaining = MinimumPhaseFilter.steps - step
      if remaining > 0 {
        for index in 0..<count { coefficients[index] += (wanted[index] - coefficients[index]) / Float(remaining) }
      }
      unsafe filter(samples + step * stepCount, at: step * stepCount)
    }
    for index in 0..<count { input[index] = input[AudioBlock.sampleCount + index] }
  }

  /// Filters as many samples as a step has.
  private func filter(_ target: UnsafeMutablePointer<Float>, at start: Int) {
    unsafe input.withUnsafeBytes { input in
      unsafe coefficients.withUnsafeBufferPointer { coefficients in
        var sums = (SIMD8<Float>.zero, SIMD8<Float>.zero, SIMD8<Float>.zero)
        for index in 0..<MinimumPhaseFilter.count {
          let coefficient = SIMD8(repeating: coefficients[index])
          let offset = (MinimumPhaseFilter.count + start - index) * MemoryLayout<Float>.stride
          unsafe sums.0 += coefficient * input.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
          unsafe sums.1 += coefficient * input.loadUnaligned(fromByteOffset: offset + 32, as: SIMD8<Float>.self)
          unsafe sums.2 += coefficient * input.loadUnaligned(fromByteOffset: offset + 64, as: SIMD8<Float>.self)
        }
        let bytes = UnsafeMutableRawPointer(target)
        unsafe bytes.storeBytes(of: sums.0, as: SIMD8<Float>.self)
        unsafe bytes.storeBytes(of: sums.1, toByteOffset: 32, as: SIMD8<Float>.self)
        unsafe bytes.storeBytes(of: sums.2, toByteOffset: 64, as: SIMD8<Float>.self)
      }
    }
  }

  /// The coefficients for these gains.
  private mutating func find(_ gains: [Float]) {
    let scale = 1 / Float(MinimumPhaseFilter.transformCount)
    for index in 0..<MinimumPhaseFilter.gainCount { bins[index] = kiss_fft_cpx(r: gains[index] * scale, i: 0) }
    unsafe bins.withUnsafeBufferPointer { bins in
      unsafe cepstrum.withUnsafeMutableBufferPointer { unsafe kiss_fftri(plan, bins.baseAddress!, $0.baseAddress!) }
    }
    // Folding the cepstrum to positive times makes the phase minimal. The exponential of its series, times n for the recursion.
    let count = MinimumPhaseFilter.count
    for index in 1..<count { cepstrum[index] *= 2 * lifter[index] * Float(index) }
    wanted[0] = expf(cepstrum[0])
    unsafe cepstrum.withUnsafeBufferPointer { cepstrum in
      unsafe wanted.withUnsafeMutableBufferPointer { wanted in
        for index in 1..<count {
          var sum: Float = 0
          for part in 1...index { unsafe sum += cepstrum[part] * wanted[index - part] }
          unsafe wanted[index] = sum / Float(index)
        }
      }
    }
  }
}
