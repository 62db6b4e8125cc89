import Testing

@testable import Codecs

struct G711Tests {
  @Test(arguments: [G711.Law.mu, .a])
  func everyCodeSurvivesARoundTrip(law: G711.Law) {
    for code in UInt8.min...UInt8.max {
      let again = G711.compress(G711.expand(code, law), law)
      // µ-law has two zeros; the negative one comes back as the positive one.
      #expect(again == code || (law == .mu && code == 0x7F && again == 0xFF))
    }
  }

  @Test(arguments: [G711.Law.mu, .a])
  func everySampleIsCodedToTheNearestStep(law: G711.Law) {
    for sample in stride(from: Int(Int16.min), through: Int(Int16.max), by: 7) {
      let decoded = Int(G711.expand(G711.compress(Int16(sample), law), law))
      #expect(abs(decoded - sample) <= max(16, abs(sample) / 24) || abs(sample) > 32_124)
    }
  }

  /// ITU-T G.711 tables 1a and 2a, in 16-bit scale.
  @Test func knownValues() {
    #expect(G711.expand(0xFF, .mu) == 0 && G711.expand(0x80, .mu) == 32_124 && G711.expand(0x00, .mu) == -32_124)
    #expect(G711.expand(0xD5, .a) == 8 && G711.expand(0xAA, .a) == 32_256 && G711.expand(0x2A, .a) == -32_256)
    #expect(G711.compress(0, .mu) == 0xFF && G711.compress(0, .a) == 0xD5)
    #expect(G711.compress(.max, .mu) == 0x80 && G711.compress(.min, .mu) == 0x00)
    #expect(G711.compress(.max, .a) == 0xAA && G711.compress(.min, .a) == 0x2A)
  }

  @Test func theTelephoneBandPassesAndWhatWouldAliasDoesNot() {
    func gain(at frequency: Double) -> Double {
      var (decimator, narrow) = (TelephoneRate.Decimator(), [Int16]())
      decimator.process(sine(of: frequency, count: 9_600), appendingTo: &narrow)
      return narrow[400...].map { Double($0) * Double($0) }.reduce(0, +) / Double(narrow.count - 400) / (8_000 * 8_000 / 2)
    }
    #expect(gain(at: 300) > 0.9 && gain(at: 3_000) > 0.9)
    #expect(gain(at: 4_700) < 1e-4 && gain(at: 7_500) < 1e-5)
  }
}
