import Base
import Testing

@testable import WebRTC

@Suite struct BitrateTargetTests {
  /// A path of `capacity` bits per second with a queue, on which the sender sends what the target says for `seconds`.
  private func run(_ target: inout BitrateTarget, capacity: Double, loss: Double = 0, seconds: Int, from start: Int64 = 0) -> (
    worstQueue: Double, delivered: Double
  ) {
    var random = RandomSource(seed: 5)
    var busy = Double(start) / 1_000
    var (worst, delivered) = (0.0, 0.0)
    for tick in 0..<seconds * 20 {
      let begin = Double(start) / 1_000 + Double(tick) * 0.05
      var results: [SentPackets.Result] = []
      let packets = max(Int(Double(target.bitrate) * 0.05 / 9_600), 1)
      for index in 0..<packets {
        let time = begin + 0.05 * Double(index) / Double(packets)
        busy = max(busy, time) + 9_600 / capacity
        worst = max(worst, busy - time)
        let isLost = Double.random(in: 0..<1, using: &random) < loss
        if !isLost { delivered += 9_600 }
        results.append(
          SentPackets.Result(
            sent: Instant(nanoseconds: Int64(time * 1e9)), arrival: isLost ? nil : .nanoseconds(Int64((busy + 1_000.02) * 1e9)),
            count: 1_200))
      }
      target.handle(results, roundTripTime: .milliseconds(80), now: Instant(nanoseconds: Int64((begin + 0.1) * 1e9)))
    }
    return (worst, delivered / Double(seconds))
  }

  @Test func aFreePathIsFilledWithinSeconds() {
    var target = BitrateTarget(initial: 500_000, range: 50_000...4_000_000)
    _ = run(&target, capacity: 100_000_000, seconds: 6)
    #expect(target.bitrate == 4_000_000)
  }

  @Test func aNarrowPathIsUsedWithoutALastingQueue() {
    var target = BitrateTarget(initial: 500_000, range: 50_000...10_000_000)
    _ = run(&target, capacity: 1_000_000, seconds: 10)
    let steady = run(&target, capacity: 1_000_000, seconds: 30, from: 10_000)
    #expect(steady.worstQueue < 0.4)
    #expect((600_000...1_010_000).contains(steady.delivered))
  }

  @Test func aPathThatGetsNarrowIsFollowedDown() {
    var target = BitrateTarget(initial: 2_000_000, range: 50_000...2_500_000)
    _ = run(&target, capacity: 5_000_000, seconds: 5)
    _ = run(&target, capacity: 500_000, seconds: 15, from: 5_000)
    #expect(target.bitrate < 700_000)
  }

  @Test func aLittleLossIsBorneAndMuchIsNot() {
    var little = BitrateTarget(initial: 1_000_000, range: 50_000...2_000_000)
    _ = run(&little, capacity: 100_000_000, loss: 0.05, seconds: 10)
    #expect(little.bitrate >= 1_000_000)
    var much = BitrateTarget(initial: 1_000_000, range: 50_000...2_000_000)
    _ = run(&much, capacity: 100_000_000, loss: 0.3, seconds: 10)
    #expect(much.bitrate < 300_000)
  }

  @Test func theReceiversEstimateIsACap() {
    var target = BitrateTarget(initial: 1_000_000, range: 50_000...2_000_000)
    target.handle(receiverEstimatedMaximumBitrate: 300_000)
    #expect(target.bitrate == 300_000)
    target.handle(receiverEstimatedMaximumBitrate: 10)
    #expect(target.bitrate == 50_000)
    target.handle(receiverEstimatedMaximumBitrate: .max)
    #expect(target.bitrate == 1_000_000)
  }

  @Test func reportBlocksServeWhereThereIsNothingBetter() {
    var target = BitrateTarget(initial: 1_000_000, range: 50_000...2_000_000)
    for second in 0..<5 as Range<Int64> {
      target.handle(fractionLost: 0, roundTripTime: nil, now: .zero + .milliseconds(second * 1_000))
    }
    #expect(target.bitrate == 2_000_000)
    target.handle(fractionLost: 0.5, roundTripTime: nil, now: .zero + .milliseconds(6_000))
    #expect(target.bitrate == 1_500_000)
    target.handle(fractionLost: 0.05, roundTripTime: nil, now: .zero + .milliseconds(7_000))
    #expect(target.bitrate == 1_500_000)
  }
}
