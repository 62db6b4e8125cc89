import CKissFFT
import Glibc

/// Finds a known sound in a recording: how late it comes.
public struct MatchedFilter: Sendable {
  /// Where the sound was found.
  public struct Match: Sendable, Equatable {
    /// Samples from the recording's start to the sound's.
    public var offset: Int
    /// How far it stands out of everything else in the recording, in dB: chance gives 13 dB in a second.
    public var clarity: Double
  }

  /// What stands out less may be chance.
  public static let leastClarity = 18.0
  /// Reflections within so many samples belong to the sound.
  private static let neighbourhood = 480

  private let template: [Float]

  /// A filter for `template`, which is not silent.
  public init(_ template: [Float]) {
    self.template = template
    precondition(template.contains { $0 != 0 }, "silence is everywhere")
  }

  /// Looks for the sound at all `offsets` into `recording`; nil when it is not there, or cannot be told from the rest.
  public func find(in recording: [Float], offsets: Range<Int>) -> Match? {
    guard !offsets.isEmpty, offsets.lowerBound >= 0 else { return nil }
    let correlation = correlation(recording, offsets: offsets)
    guard let peak = correlation.indices.max(by: { abs(correlation[$0]) < abs(correlation[$1]) }) else { return nil }
    let near = max(0, peak - MatchedFilter.neighbourhood)...peak + MatchedFilter.neighbourhood
    let rest = correlation.indices.lazy.filter { !near.contains($0) }.reduce((0.0, 0)) {
      ($0.0 + Double(correlation[$1]) * Double(correlation[$1]), $0.1 + 1)
    }
    let height = Double(abs(correlation[peak]))
    guard height > 0, rest.1 > 0 else { return nil }
    let background = max((rest.0 / Double(rest.1)).squareRoot(), height * 1e-6)
    let match = Match(offset: offsets.lowerBound + peak, clarity: 20 * log10(height / background))
    return match.clarity >= MatchedFilter.leastClarity ? match : nil
  }

  /// The sum of products with the template at each offset.
  private func correlation(_ recording: [Float], offsets: Range<Int>) -> [Float] {
    let part = recording.dropFirst(offsets.lowerBound).prefix(offsets.count + template.count - 1)
    var count = 2
    while count < offsets.count + 2 * template.count { count *= 2 }
    guard let forward = unsafe kiss_fftr_alloc(Int32(count), 0, nil, nil), let inverse = unsafe kiss_fftr_alloc(Int32(count), 1, nil, nil)
    else { preconditionFailure("there is no memory for a transform") }
    defer {
      unsafe free(UnsafeMutableRawPointer(forward))
      unsafe free(UnsafeMutableRawPointer(inverse))
    }
    func spectrum(_ values: some Collection<Float>) -> [kiss_fft_cpx] {
      let padded = Array(values) + [Float](repeating: 0, count: count - values.count)
      var bins = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: count / 2 + 1)
      unsafe kiss_fftr(forward, padded, &bins)
      return bins
    }
    var bins = spectrum(part)
    let pattern = spectrum(template)
    let scale = 1 / Float(count)
    for index in bins.indices {
      let (x, y) = (bins[index], pattern[index])
      bins[index] = kiss_fft_cpx(r: (x.r * y.r + x.i * y.i) * scale, i: (x.i * y.r - x.r * y.i) * scale)
    }
    var products = [Float](repeating: 0, count: count)
    unsafe kiss_fftri(inverse, bins, &products)
    return Array(products.prefix(offsets.count))
  }
}
