import Base
import Testing

@testable import SRTP

@Suite struct ReplayWindowTests {
  private func outcome(_ window: ReplayWindow, _ index: UInt64) -> SRTPError? {
    do throws(SRTPError) {
      try window.check(index)
      return nil
    } catch { return error }
  }

  @Test(arguments: [64, 65, 100, 128, 1024]) func agreesWithASetOfIndices(_ size: Int) {
    var random = RandomSource(seed: UInt64(size))
    var window = ReplayWindow(size: size)
    var seen: Set<UInt64> = []
    var highest: UInt64?
    for _ in 0..<20_000 {
      let jump: UInt64 = Double.random(in: 0..<1, using: &random) < 0.01 ? 3_000 : 4
      let ahead = UInt64.random(in: 0...jump, using: &random)
      let behind = UInt64.random(in: 0...UInt64(size + 8), using: &random) / 2 * 2
      let index = (highest ?? 65_000) + ahead - behind
      let top = highest ?? 0
      let expected: SRTPError? =
        seen.isEmpty || index > top ? nil : top - index >= UInt64(size) ? .tooOld : seen.contains(index) ? .replayed : nil
      #expect(outcome(window, index) == expected)
      if expected == nil {
        window.insert(index)
        seen.insert(index)
        highest = max(top, index)
        if seen.count > 3 * size { seen = seen.filter { $0 + 2 * UInt64(size) > top } }
      }
    }
  }
}
