import Base
import Testing

@testable import WebRTC

@Suite struct PacerTests {
  /// When each of `count` packets of 1,200 bytes leaves, in milliseconds, when all wait from the start.
  private func departures(_ count: Int, bitrate: Int) -> [Double] {
    var pacer = Pacer(targetBitrate: bitrate)
    var now = Instant.zero
    var result: [Double] = []
    while result.count < count {
      pacer.update(queuedBytes: (count - result.count) * 1_200)
      if pacer.allows(now: now) {
        pacer.sent(1_200, now: now)
        result.append((now - .zero).milliseconds)
      } else if let deadline = pacer.deadline {
        // The deadline is exact: nothing leaves before it, and the next packet leaves then.
        #expect(deadline > now)
        now = deadline
      }
    }
    return result
  }

  @Test func aSmallFrameLeavesAtOnce() { #expect(departures(3, bitrate: 500_000).allSatisfy { $0 == 0 }) }

  @Test func aLargeFrameIsSpreadAtTwoAndAHalfTimesTheTarget() throws {
    // 50 packets of 9,600 bits at 10 Mbit/s take 48 ms, less what may leave at once.
    let last = try #require(departures(50, bitrate: 4_000_000).last)
    #expect((35...48).contains(last))
  }

  @Test func noQueueLastsLongerThanItsLimit() throws {
    // At 250 kbit/s the frame would take 1.9 s.
    let last = try #require(departures(50, bitrate: 100_000).last)
    #expect((150...200).contains(last))
    let all = departures(50, bitrate: 100_000)
    #expect(all == all.sorted())
  }

  @Test func anIdlePacerHasNoDeadline() {
    let pacer = Pacer(targetBitrate: 1)
    #expect(pacer.deadline == nil && pacer.allows(now: .zero) && pacer.rate == 50_000)
  }
}
