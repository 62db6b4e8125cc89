import Glibc
import Sound
import Testing

@testable import JitterBuffer

struct TimeStretchTests {
  private let tone = SyntheticMicrophone()

  private var samples: [Int16] { (1..<20).flatMap { tone.block(at: $0).samples } }

  private func steepestStep(_ samples: [Int16]) -> Int { zip(samples, samples.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0 }

  @Test func aToneStaysATone() {
    var shorter = samples
    let removed = TimeStretch.shorten(&shorter, channelCount: 1, resemblance: 0.9)
    #expect((120...720).contains(removed) && shorter.count == samples.count - removed)
    #expect(steepestStep(shorter) < 190)
    var longer = samples
    let inserted = TimeStretch.lengthen(&longer, channelCount: 1, resemblance: 0.9)
    #expect((120...720).contains(inserted) && longer.count == samples.count + inserted)
    #expect(steepestStep(longer) < 190)
  }

  /// How far `samples` are from being a pure tone of the microphone's frequency, per 10 ms, in dB.
  private func impurity(_ samples: [Int16]) -> Double {
    var worst = -Double.infinity
    for start in stride(from: 0, to: samples.count - 480, by: 240) {
      var (ss, cc, sc, ys, yc, yy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
      for index in 0..<480 {
        let phase = 2 * Double.pi * SyntheticMicrophone.toneFrequency * Double(index) / 48_000
        let (s, c, y) = (sin(phase), cos(phase), Double(samples[start + index]))
        (ss, cc, sc) = (ss + s * s, cc + c * c, sc + s * c)
        (ys, yc, yy) = (ys + y * s, yc + y * c, yy + y * y)
      }
      let determinant = ss * cc - sc * sc
      let (a, b) = ((ys * cc - yc * sc) / determinant, (yc * ss - ys * sc) / determinant)
      let rest = yy - a * ys - b * yc
      worst = max(worst, 10 * log10(max(rest, 1e-9) / yy))
    }
    return worst
  }

  @Test func aToneIsPureHoweverOftenItIsStretched() {
    // Half a second, shortened and lengthened by a fifth.
    var (shorter, longer) = (Array(samples), Array(samples))
    for isShorter in [true, false] {
      var (output, rest): ([Int16], [Int16]) = ([], isShorter ? shorter : longer)
      while rest.count > TimeStretch.historyCount + TimeStretch.shorteningCount {
        let moved =
          isShorter
          ? TimeStretch.shorten(&rest, channelCount: 1, resemblance: 0.8) : TimeStretch.lengthen(&rest, channelCount: 1, resemblance: 0.8)
        #expect(moved > 0)
        output += rest[..<1_920]
        rest.removeFirst(1_920)
      }
      if isShorter { shorter = output } else { longer = output }
    }
    #expect(impurity(shorter) < -25 && impurity(longer) < -25, "\(impurity(shorter)), \(impurity(longer)) dB")
  }

  @Test func twoChannelsAreStretchedTogether() {
    var stereo = samples.flatMap { sample -> [Int16] in [sample, -sample] }
    #expect(TimeStretch.shorten(&stereo, channelCount: 2, resemblance: 0.9) > 0)
    #expect(stride(from: 0, to: stereo.count, by: 2).allSatisfy { abs(Int(stereo[$0]) + Int(stereo[$0 + 1])) <= 1 })
    #expect(TimeStretch.lengthen(&stereo, channelCount: 2, resemblance: 0.9) > 0)
    #expect(stride(from: 0, to: stereo.count, by: 2).allSatisfy { abs(Int(stereo[$0]) + Int(stereo[$0 + 1])) <= 1 })
  }

  @Test func soundWithoutPeriodAndShortSoundStayAsTheyAre() {
    var random = SystemlessNoise()
    var noise = (0..<4_000).map { _ in random.next() }
    let before = noise
    #expect(TimeStretch.shorten(&noise, channelCount: 1, resemblance: 0.8) == 0)
    #expect(TimeStretch.lengthen(&noise, channelCount: 1, resemblance: 0.8) == 0)
    var short = Array(samples[..<1_000])
    #expect(TimeStretch.shorten(&short, channelCount: 1, resemblance: 0) == 0)
    #expect(TimeStretch.lengthen(&short, channelCount: 1, resemblance: 0) == 0)
    #expect(noise == before && short.count == 1_000)
  }

  @Test func noiseThatIsCutAllTheSameStaysAsLoud() {
    var random = SystemlessNoise()
    let noise = (0..<4_000).map { _ in random.next() }
    func loudness(_ samples: ArraySlice<Int16>) -> Double {
      (samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)).squareRoot()
    }
    let whole = loudness(noise[...])
    for isShorter in [true, false] {
      var cut = noise
      let moved =
        isShorter
        ? TimeStretch.shorten(&cut, channelCount: 1, resemblance: -1) : TimeStretch.lengthen(&cut, channelCount: 1, resemblance: -1)
      #expect(moved > 0)
      let blended = isShorter ? TimeStretch.historyCount..<TimeStretch.historyCount + moved : 720..<720 + moved
      // In the middle of the blend, where plain addition would lose 3 dB.
      let middle = blended.lowerBound + moved / 4..<blended.upperBound - moved / 4
      #expect((0.85...1.15).contains(loudness(cut[middle]) / whole), "\(loudness(cut[middle])) of \(whole)")
    }
  }

  @Test func timeIsGainedWithTenMillisecondsInHand() {
    var little = Array(samples[..<1_200])
    let before = little
    #expect((120...480).contains(TimeStretch.lengthen(&little, channelCount: 1, resemblance: 0.9)))
    #expect(steepestStep(little) < 190)
    #expect(little.starts(with: before[..<720]), "what was played already is not changed")
  }

  @Test func silenceIsCutGenerously() {
    var silence = [Int16](repeating: 0, count: 4_000)
    #expect(TimeStretch.shorten(&silence, channelCount: 1, resemblance: 0.9) == 720)
  }
}

/// White noise, the same every time.
private struct SystemlessNoise {
  private var state: UInt32 = 1
  mutating func next() -> Int16 {
    state = state &* 1_664_525 &+ 1_013_904_223
    return Int16(truncatingIfNeeded: state >> 16) / 2
  }
}
