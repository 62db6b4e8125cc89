import Frames
import Glibc

/// Learns the path from loudspeaker to microphone, and tells what of the sound that the microphone hears came along it.
///
/// A partitioned-block frequency-domain Kalman filter (Enzner and Vary 2006; Kuech, Mabande and Enzner 2014): each 5 ms of the path have a spectrum of their
/// own, and for each bin the filter also tracks how wrong it may be. So it takes large steps while it knows little, and small ones once it knows the path and
/// while somebody talks; no detector of double talk is needed.
struct EchoFilter {
  /// Partitions of 5 ms each: the path may be as long as 180 ms.
  static let partitionCount = 36

  /// Power of the path's changes in a hop, against that of the path itself.
  private static let processNoise: Float = 0.001
  /// How much of a prediction's uncertainty counts: half of each window is known to be silence, yet partitions depend on each other.
  private static let uncertaintyShare: Float = 0.75
  /// Forgetting of the error's power from hop to hop.
  private static let errorSmoothing: Float = 0.8
  /// Partitions whose second half is set back to silence in each hop, in turn.
  private static let constrainedCount = 4
  /// Far below the noise of any microphone, squared and summed up in a bin.
  private static let floor: Float = 1e-8
  /// Energy of a hop at -60 dB of full scale.
  private static let audible: Float = 1e-6 * Float(EchoHop.sampleCount)
  /// What is thought of a path nobody knows: as loud as the reference, and dying away by 60 dB within 300 ms.
  private static let prior: [Float] = (0..<partitionCount).map { 0.3 * power(ofTen: -0.1 * Float($0)) }

  /// The echo in the block that was predicted last, as far as it is known: 480 samples.
  private(set) var echo = [Float](repeating: 0, count: AudioBlock.sampleCount)
  /// Its energy.
  private(set) var echoEnergy: Float = 0
  /// Power of what the filter may be wrong by, in each bin, of both hops of that block together.
  private(set) var uncertainty = [SIMD8<Float>](repeating: .zero, count: EchoHop.vectorCount)
  /// How often the path turned out to be another one.
  private(set) var restartCount = 0

  private static let stride = 2 * EchoHop.vectorCount
  private var path = [SIMD8<Float>](repeating: .zero, count: partitionCount * stride)
  private var variance: [SIMD8<Float>]
  private var errorPower = [SIMD8<Float>](repeating: .zero, count: EchoHop.vectorCount)
  private var estimate = EchoSpectrum()
  private var error = EchoSpectrum()
  private var gain = [SIMD8<Float>](repeating: .zero, count: EchoHop.vectorCount)
  private var window = [Float](repeating: 0, count: EchoHop.windowCount)
  private var nextConstrained = 0
  private var energies: (captured: Float, left: Float) = (0, 0)
  private var hopsUntilRestart = EchoHop.rate

  init() {
    variance = []
    variance.reserveCapacity(EchoFilter.partitionCount * EchoHop.vectorCount)
    for value in EchoFilter.prior { variance += repeatElement(SIMD8(repeating: value), count: EchoHop.vectorCount) }
  }

  /// Finds out the echo in the next block, whose first hop heard the hop `newest` of the reference first. Nothing is learnt: that may wait until the block is
  /// on its way.
  mutating func predict(_ reference: borrowing EchoReference, newest: Int, _ transform: EchoTransform) {
    for index in 0..<EchoHop.vectorCount { uncertainty[index] = .zero }
    echoEnergy = 0
    for half in 0..<2 {
      _ = predict(reference, newest + half)
      for index in 0..<EchoHop.vectorCount { uncertainty[index] += gain[index] }
      findEcho(transform)
      for index in 0..<EchoHop.sampleCount {
        let sample = window[EchoHop.sampleCount + index]
        echo[half * EchoHop.sampleCount + index] = sample
        echoEnergy += sample * sample
      }
    }
  }

  /// Learns from 240 samples of the microphone. The path begins with the hop `newest` of the reference.
  mutating func learn(_ captured: UnsafePointer<Float>, _ reference: borrowing EchoReference, newest: Int, _ transform: EchoTransform) {
    guard predict(reference, newest) else { return }
    findEcho(transform)
    var (before, after): (Float, Float) = (0, 0)
    for index in 0..<EchoHop.sampleCount {
      let sample = unsafe captured[index]
      let rest = sample - window[EchoHop.sampleCount + index]
      before += sample * sample
      after += rest * rest
      window[index] = 0
      window[EchoHop.sampleCount + index] = rest
    }
    // A microphone that is off hears not even noise, and nothing can be learnt from it.
    guard before > 0 else { return }
    unsafe window.withUnsafeBufferPointer { window in
      unsafe error.values.withUnsafeMutableBufferPointer { unsafe transform.forward(window.baseAddress!, $0.baseAddress!) }
    }
    correct(reference, newest)
    constrain(transform)
    watch(before, after)
  }

  /// The samples of the estimated echo, in the second half of `window`.
  private mutating func findEcho(_ transform: EchoTransform) {
    unsafe estimate.values.withUnsafeBufferPointer { estimate in
      unsafe window.withUnsafeMutableBufferPointer { unsafe transform.inverse(estimate.baseAddress!, $0.baseAddress!) }
    }
  }

  /// The path begins `hops` later against the reference than it did (earlier if negative): what is known of it moves along,
  /// and counts as uncertain, since what moves is likely to have changed as well.
  mutating func move(by hops: Int) {
    let count = EchoFilter.partitionCount
    for step in 0..<count {
      let partition = hops > 0 ? step : count - 1 - step
      let source = partition + hops
      if (0..<count).contains(source) {
        for index in 0..<EchoFilter.stride { path[partition * EchoFilter.stride + index] = path[source * EchoFilter.stride + index] }
        for index in 0..<EchoHop.vectorCount {
          let known = variance[source * EchoHop.vectorCount + index]
          variance[partition * EchoHop.vectorCount + index] = pointwiseMax(known, SIMD8(repeating: EchoFilter.prior[partition]))
        }
      } else {
        forget(partition)
      }
    }
  }

  /// The estimated echo's spectrum, and how uncertain its power is. Returns whether the reference is heard at all.
  private mutating func predict(_ reference: borrowing EchoReference, _ newest: Int) -> Bool {
    var loudest: Float = 0
    for partition in 0..<EchoFilter.partitionCount { loudest = max(loudest, reference.energy(at: newest - partition)) }
    for index in 0..<EchoFilter.stride { estimate.values[index] = .zero }
    for index in 0..<EchoHop.vectorCount { gain[index] = .zero }
    guard loudest > 1e-9 else { return false }
    let count = EchoHop.vectorCount
    unsafe reference.withSpectra { spectra in
      unsafe path.withUnsafeBufferPointer { path in
        unsafe variance.withUnsafeBufferPointer { variance in
          unsafe estimate.values.withUnsafeMutableBufferPointer { estimate in
            unsafe gain.withUnsafeMutableBufferPointer { uncertain in
              for partition in 0..<EchoFilter.partitionCount {
                let played = unsafe spectra + EchoReference.offset(of: newest - partition)
                let known = unsafe path.baseAddress! + partition * EchoFilter.stride
                let variance = unsafe variance.baseAddress! + partition * count
                for index in 0..<count {
                  let (xr, xi) = unsafe (played[index], played[count + index])
                  let (wr, wi) = unsafe (known[index], known[count + index])
                  unsafe estimate[index] += xr * wr - xi * wi
                  unsafe estimate[count + index] += xr * wi + xi * wr
                  unsafe uncertain[index] += (xr * xr + xi * xi) * variance[index]
                }
              }
            }
          }
        }
      }
    }
    return true
  }

  /// Corrects the path by what was left, and the uncertainty by what was learnt.
  private mutating func correct(_ reference: borrowing EchoReference, _ newest: Int) {
    let count = EchoHop.vectorCount
    unsafe error.values.withUnsafeBufferPointer { error in
      unsafe errorPower.withUnsafeMutableBufferPointer { power in
        unsafe gain.withUnsafeMutableBufferPointer { gain in
          for index in 0..<count {
            let (re, im) = unsafe (error[index], error[count + index])
            unsafe power[index] = EchoFilter.errorSmoothing * power[index] + (1 - EchoFilter.errorSmoothing) * (re * re + im * im)
            unsafe gain[index] = 1 / (EchoFilter.uncertaintyShare * gain[index] + power[index] + EchoFilter.floor)
          }
        }
      }
      unsafe reference.withSpectra { spectra in
        unsafe path.withUnsafeMutableBufferPointer { path in
          unsafe variance.withUnsafeMutableBufferPointer { variance in
            unsafe gain.withUnsafeBufferPointer { gain in
              for partition in 0..<EchoFilter.partitionCount {
                let played = unsafe spectra + EchoReference.offset(of: newest - partition)
                let known = unsafe path.baseAddress! + partition * EchoFilter.stride
                let variance = unsafe variance.baseAddress! + partition * count
                for index in 0..<count {
                  let (xr, xi) = unsafe (played[index], played[count + index])
                  let (er, ei) = unsafe (error[index], error[count + index])
                  let step = unsafe variance[index] * gain[index]
                  let wr = unsafe known[index] + step * (xr * er + xi * ei)
                  let wi = unsafe known[count + index] + step * (xr * ei - xi * er)
                  unsafe known[index] = wr
                  unsafe known[count + index] = wi
                  // Not below 0, but for rounding.
                  let kept = 1 - EchoFilter.uncertaintyShare * step * (xr * xr + xi * xi)
                  unsafe variance[index] =
                    (1 - EchoFilter.processNoise) * kept * variance[index] + EchoFilter.processNoise * (wr * wr + wi * wi) + 1e-20
                }
              }
            }
          }
        }
      }
    }
  }

  /// A partition is 5 ms long, though its spectrum has room for 10: what has got into the second half is taken out, of some partitions each time.
  private mutating func constrain(_ transform: EchoTransform) {
    unsafe path.withUnsafeMutableBufferPointer { path in
      unsafe window.withUnsafeMutableBufferPointer { window in
        for _ in 0..<EchoFilter.constrainedCount {
          let spectrum = unsafe path.baseAddress! + nextConstrained * EchoFilter.stride
          unsafe transform.inverse(spectrum, window.baseAddress!)
          for index in EchoHop.sampleCount..<EchoHop.windowCount { unsafe window[index] = 0 }
          unsafe transform.forward(window.baseAddress!, spectrum)
          nextConstrained = (nextConstrained + 1) % EchoFilter.partitionCount
        }
      }
    }
  }

  /// A filter that makes things worse knows another path than the one there is now: it starts anew.
  private mutating func watch(_ before: Float, _ after: Float) {
    energies.captured += 0.05 * (before - energies.captured)
    energies.left += 0.05 * (after - energies.left)
    hopsUntilRestart -= 1
    guard hopsUntilRestart <= 0, energies.left > 1.1 * energies.captured, energies.left > EchoFilter.audible else { return }
    for partition in 0..<EchoFilter.partitionCount { forget(partition) }
    restartCount += 1
    hopsUntilRestart = EchoHop.rate
  }

  private mutating func forget(_ partition: Int) {
    for index in 0..<EchoFilter.stride { path[partition * EchoFilter.stride + index] = .zero }
    for index in 0..<EchoHop.vectorCount {
      variance[partition * EchoHop.vectorCount + index] = SIMD8(repeating: EchoFilter.prior[partition])
    }
  }

  private static func power(ofTen exponent: Float) -> Float { Float(pow(10, Double(exponent))) }
}
