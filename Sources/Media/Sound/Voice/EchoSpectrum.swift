import CKissFFT
import Glibc

/// The measures of the echo canceller: 5 ms hops, and for each the spectrum of the 10 ms that end with it.
enum EchoHop {
  /// Samples in a hop.
  static let sampleCount = 240
  /// Samples that a spectrum covers: a hop and the one before.
  static let windowCount = 2 * sampleCount
  /// Bins of a spectrum, 100 Hz apart.
  static let binCount = sampleCount + 1
  /// SIMD vectors that hold a value for each bin; what is left over in the last one is 0.
  static let vectorCount = (binCount + 7) / 8
  /// Hops in a second.
  static let rate = 200
}

/// Complex values, one for each bin of a hop: first all real parts, then all imaginary ones.
struct EchoSpectrum {
  var values = [SIMD8<Float>](repeating: .zero, count: 2 * EchoHop.vectorCount)
}

/// The transform between the samples of a window and a spectrum.
final class EchoTransform {
  private let forwardPlan: kiss_fftr_cfg
  private let inversePlan: kiss_fftr_cfg
  private var bins = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: EchoHop.binCount)

  init() {
    guard let forward = unsafe kiss_fftr_alloc(Int32(EchoHop.windowCount), 0, nil, nil),
      let inverse = unsafe kiss_fftr_alloc(Int32(EchoHop.windowCount), 1, nil, nil)
    else { preconditionFailure("there is no memory for a transform") }
    (unsafe forwardPlan, unsafe inversePlan) = unsafe (forward, inverse)
  }

  deinit {
    unsafe free(UnsafeMutableRawPointer(forwardPlan))
    unsafe free(UnsafeMutableRawPointer(inversePlan))
  }

  /// The spectrum of `window` (480 samples), written to `spectrum` (two times `EchoHop.vectorCount` vectors).
  func forward(_ window: UnsafePointer<Float>, _ spectrum: UnsafeMutablePointer<SIMD8<Float>>) {
    unsafe bins.withUnsafeMutableBufferPointer { bins in
      unsafe kiss_fftr(forwardPlan, window, bins.baseAddress!)
      let real = unsafe UnsafeMutableRawPointer(spectrum).assumingMemoryBound(to: Float.self)
      let imaginary = unsafe UnsafeMutableRawPointer(spectrum + EchoHop.vectorCount).assumingMemoryBound(to: Float.self)
      for bin in 0..<EchoHop.binCount {
        unsafe real[bin] = bins[bin].r
        unsafe imaginary[bin] = bins[bin].i
      }
    }
  }

  /// The 480 samples that have this spectrum, written to `window`.
  func inverse(_ spectrum: UnsafePointer<SIMD8<Float>>, _ window: UnsafeMutablePointer<Float>) {
    unsafe bins.withUnsafeMutableBufferPointer { bins in
      let real = unsafe UnsafeRawPointer(spectrum).assumingMemoryBound(to: Float.self)
      let imaginary = unsafe UnsafeRawPointer(spectrum + EchoHop.vectorCount).assumingMemoryBound(to: Float.self)
      let scale = 1 / Float(EchoHop.windowCount)
      for bin in 0..<EchoHop.binCount { unsafe bins[bin] = kiss_fft_cpx(r: real[bin] * scale, i: imaginary[bin] * scale) }
      unsafe kiss_fftri(inversePlan, bins.baseAddress!, window)
    }
  }
}
