/// How late what is played comes back in what the microphone hears: for each delay up to 0.6 s, how steadily the phases of the two agree.
///
/// Only phases count, so neither levels nor the tone of a room matter; a person who talks nearby has phases of their own and only blurs the picture.
struct EchoDelayEstimator {
  /// Delays that are looked at, in hops of 5 ms.
  static let lagCount = 120

  /// Bins that are compared, in vectors of eight: 400 to 4,300 Hz, where loudspeakers and voices are strong.
  private static let vectors = 5
  private static let firstBin = 4
  /// Bins weaker than this are left out: about -80 dB of full scale.
  private static let floor: Float = 1e-7
  /// What is remembered from hop to hop: the last second or so.
  private static let memory: Float = 0.995
  /// Between decisions, in hops.
  private static let pace = 10

  /// The delay until the first sound arrives, in hops; nil as long as none has been heard clearly.
  private(set) var delay: Int?
  /// How clearly, 0 to 1.
  private(set) var clarity: Float = 0

  /// Phases of what was played, hop by hop, in a ring: real parts, then imaginary ones.
  private var played = [SIMD8<Float>](repeating: .zero, count: ringCount * stride)
  private var isHeard = [Bool](repeating: false, count: ringCount)
  private var captured = [SIMD8<Float>](repeating: .zero, count: stride)
  private var agreement = [SIMD8<Float>](repeating: .zero, count: lagCount * stride)
  private var scores = [Float](repeating: 0, count: lagCount)
  /// Hops in which each delay was compared, up to a second's worth.
  private var compared = [Int](repeating: 0, count: lagCount)
  private var hop = 0
  private var candidate: (delay: Int, count: Int) = (0, 0)
  private static let ringCount = 128
  private static let stride = 2 * vectors

  /// Takes the spectrum of a window of each, at the same time.
  mutating func process(played reference: UnsafePointer<SIMD8<Float>>, captured microphone: UnsafePointer<SIMD8<Float>>) {
    let stride = EchoDelayEstimator.stride
    let slot = hop % EchoDelayEstimator.ringCount
    unsafe played.withUnsafeMutableBufferPointer { played in
      isHeard[slot] = unsafe EchoDelayEstimator.phases(of: reference, played.baseAddress! + slot * stride)
    }
    let isSpoken = unsafe captured.withUnsafeMutableBufferPointer { unsafe EchoDelayEstimator.phases(of: microphone, $0.baseAddress!) }
    hop += 1
    guard isSpoken else { return }
    compare()
    if hop % EchoDelayEstimator.pace == 0 { decide() }
  }

  private mutating func compare() {
    let (vectors, stride) = (EchoDelayEstimator.vectors, EchoDelayEstimator.stride)
    let memory = EchoDelayEstimator.memory
    let newest = hop - 1
    unsafe played.withUnsafeBufferPointer { played in
      unsafe captured.withUnsafeBufferPointer { captured in
        unsafe agreement.withUnsafeMutableBufferPointer { agreement in
          for lag in 0..<min(EchoDelayEstimator.lagCount, hop) {
            let slot = (newest - lag) % EchoDelayEstimator.ringCount
            guard isHeard[slot] else { continue }
            let x = unsafe played.baseAddress! + slot * stride
            let sum = unsafe agreement.baseAddress! + lag * stride
            var score = SIMD8<Float>.zero
            for index in 0..<vectors {
              let (xr, xi) = unsafe (x[index], x[vectors + index])
              let (yr, yi) = unsafe (captured[index], captured[vectors + index])
              let re = unsafe memory * sum[index] + (1 - memory) * (xr * yr + xi * yi)
              let im = unsafe memory * sum[vectors + index] + (1 - memory) * (xr * yi - xi * yr)
              unsafe sum[index] = re
              unsafe sum[vectors + index] = im
              score += re * re + im * im
            }
            scores[lag] = score.sum() / Float(8 * vectors)
            compared[lag] = min(EchoHop.rate, compared[lag] + 1)
          }
        }
      }
    }
  }

  private mutating func decide() {
    var (best, total, count): (Float, Float, Float) = (0, 0, 0)
    for lag in scores.indices where compared[lag] >= EchoHop.rate / 4 {
      best = max(best, scores[lag])
      total += scores[lag]
      count += 1
    }
    guard count > 0, best > 0.01, best > 4 * total / count else {
      candidate = (0, 0)
      return
    }
    // The first sound, not the loudest: an echo that comes later belongs to the same path.
    guard let first = scores.indices.first(where: { compared[$0] >= EchoHop.rate / 4 && scores[$0] > 0.4 * best }) else { return }
    candidate = candidate.count > 0 && abs(first - candidate.delay) <= 1 ? (candidate.delay, candidate.count + 1) : (first, 1)
    if candidate.count >= 4 { (delay, clarity) = (candidate.delay, min(1, best.squareRoot())) }
  }

  /// The bins' phases: complex values of length 1, or 0 where there is too little to hear. Returns whether there is any.
  private static func phases(of spectrum: UnsafePointer<SIMD8<Float>>, _ result: UnsafeMutablePointer<SIMD8<Float>>) -> Bool {
    let real = unsafe UnsafeRawPointer(spectrum).assumingMemoryBound(to: Float.self)
    let imaginary = unsafe UnsafeRawPointer(spectrum + EchoHop.vectorCount).assumingMemoryBound(to: Float.self)
    let target = unsafe UnsafeMutableRawPointer(result).assumingMemoryBound(to: Float.self)
    var isAny = false
    for index in 0..<8 * vectors {
      let (re, im) = unsafe (real[firstBin + index], imaginary[firstBin + index])
      let power = re * re + im * im
      let scale = power > floor ? 1 / power.squareRoot() : 0
      isAny = isAny || scale > 0
      unsafe target[index] = re * scale
      unsafe target[8 * vectors + index] = im * scale
    }
    return isAny
  }
}
