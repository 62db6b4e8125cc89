import Glibc

/// The discrete Fourier transform of a power of two of complex values, in place (Cooley and Tukey, radix 2): for measurements, not for the hot path.
struct FourierTransform {
  /// How many values it transforms.
  let count: Int
  private let turns: [(cosine: Float, sine: Float)]

  /// A transform of the smallest power of two that is at least `count`.
  init(atLeast count: Int) {
    var power = 2
    while power < count { power *= 2 }
    self.count = power
    turns = (0..<power / 2).map { index in
      let angle = -2 * Double.pi * Double(index) / Double(power)
      return (Float(cos(angle)), Float(sin(angle)))
    }
  }

  /// Transforms; `isInverse` goes back, the factor 1 / `count` included. Both arrays have `count` values.
  func transform(real: inout [Float], imaginary: inout [Float], isInverse: Bool = false) {
    precondition(real.count == count && imaginary.count == count, "a transform has one length")
    var re = real.mutableSpan
    var im = imaginary.mutableSpan
    var j = 0
    for i in 1..<count {
      var bit = count >> 1
      while j & bit != 0 {
        j ^= bit
        bit >>= 1
      }
      j |= bit
      if i < j {
        re.swapAt(i, j)
        im.swapAt(i, j)
      }
    }
    var half = 1
    while half < count {
      let step = count / (2 * half)
      for start in stride(from: 0, to: count, by: 2 * half) {
        for k in 0..<half {
          let turn = turns[k * step]
          let sine = isInverse ? -turn.sine : turn.sine
          let (a, b) = (start + k, start + k + half)
          let (x, y) = (re[b] * turn.cosine - im[b] * sine, re[b] * sine + im[b] * turn.cosine)
          (re[b], im[b]) = (re[a] - x, im[a] - y)
          (re[a], im[a]) = (re[a] + x, im[a] + y)
        }
      }
      half *= 2
    }
    guard isInverse else { return }
    let factor = 1 / Float(count)
    for index in 0..<count {
      re[index] *= factor
      im[index] *= factor
    }
  }
}
