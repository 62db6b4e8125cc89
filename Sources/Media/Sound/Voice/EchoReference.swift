/// What was played lately, hop by hop: the samples, and the spectrum of each window.
struct EchoReference {
  /// How many hops back can be looked: 1.28 s.
  static let capacity = 256

  /// Hops played so far.
  private(set) var count = 0
  private var window = [Float](repeating: 0, count: EchoHop.windowCount)
  private var samples = [Float](repeating: 0, count: capacity * EchoHop.sampleCount)
  private var spectra = [SIMD8<Float>](repeating: .zero, count: capacity * 2 * EchoHop.vectorCount)
  private var energies = [Float](repeating: 0, count: capacity)

  /// Takes the next hop: 240 samples.
  mutating func append(_ hop: UnsafePointer<Float>, _ transform: EchoTransform) {
    let slot = count % EchoReference.capacity
    var energy: Float = 0
    for index in 0..<EchoHop.sampleCount {
      let sample = unsafe hop[index]
      window[index] = window[EchoHop.sampleCount + index]
      window[EchoHop.sampleCount + index] = sample
      samples[slot * EchoHop.sampleCount + index] = sample
      energy += sample * sample
    }
    energies[slot] = energy
    unsafe window.withUnsafeBufferPointer { window in
      unsafe spectra.withUnsafeMutableBufferPointer { spectra in
        unsafe transform.forward(window.baseAddress!, spectra.baseAddress! + slot * 2 * EchoHop.vectorCount)
      }
    }
    count += 1
  }

  /// Sum of the squared samples of a hop; 0 for one that was never played or is forgotten.
  func energy(at hop: Int) -> Float { holds(hop) ? energies[hop % EchoReference.capacity] : 0 }

  /// Copies the samples of a hop; silence for one that was never played or is forgotten.
  func copy(_ hop: Int, to target: UnsafeMutablePointer<Float>) {
    let start = (hop % EchoReference.capacity) * EchoHop.sampleCount
    for index in 0..<EchoHop.sampleCount { unsafe target[index] = holds(hop) ? samples[start + index] : 0 }
  }

  /// Calls `body` with all spectra in a ring: that of a hop begins at `EchoReference.offset(of: hop)`.
  @inline(__always)
  func withSpectra<Result>(_ body: (UnsafePointer<SIMD8<Float>>) -> Result) -> Result {
    unsafe spectra.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }

  /// Where the spectrum of a hop begins; negative hops are silence as long as fewer than `capacity` were played.
  @inline(__always)
  static func offset(of hop: Int) -> Int { (hop & (capacity - 1)) * 2 * EchoHop.vectorCount }

  private func holds(_ hop: Int) -> Bool { hop >= 0 && hop < count && hop >= count - EchoReference.capacity }
}
