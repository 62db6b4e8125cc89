import Base
import Frames
import Testing

@testable import Call

@Suite struct BlockSourceTests {
  private func take(_ source: BlockSource) -> Int16? {
    var samples = [Int16](repeating: -1, count: AudioBlock.sampleCount)
    return source.fill(&samples, now: .zero, delay: .zero) ? samples[0] : nil
  }

  private func put(_ value: Int, in source: BlockSource) {
    source.put(AudioBlock(samples: [Int16](repeating: Int16(value), count: AudioBlock.sampleCount)))
  }

  @Test func aBlockIsHeardAtOnce() {
    let source = BlockSource()
    #expect(take(source) == nil)
    put(1, in: source)
    #expect(take(source) == 1)
    #expect(take(source) == nil)
  }

  @Test func theDelayOfALateBlockDoesNotStay() {
    let source = BlockSource()
    #expect(take(source) == nil)  // The first block comes late ...
    var last: Int16 = 0
    for value in 1...1_000 {
      put(value, in: source)
      if value == 1 { put(value, in: source) }  // ... together with the second.
      last = take(source) ?? 0
    }
    #expect(source.waitingCount == 0)
    #expect(last == 1_000)
  }

  @Test func oneThatIsNeededNowAndThenStays() {
    let source = BlockSource()
    var gaps = 0
    for value in 1...1_000 {
      // Every tenth block comes only after it was wanted.
      if value % 10 == 0, value > 10 {
        if take(source) == nil { gaps += 1 }
        put(value, in: source)
      } else {
        put(value, in: source)
        if take(source) == nil { gaps += 1 }
      }
    }
    #expect(gaps == 1)
  }

  @Test func aFloodIsCutShort() {
    let source = BlockSource()
    for value in 1...20 { put(value, in: source) }
    #expect(take(source) == 6)
    #expect(take(source) == nil)
  }
}
