import Base
import Testing

@testable import RTP

@Suite struct NTPTimeTests {
  @Test func knownInstants() {
    #expect(NTPTime(unixNanoseconds: 0).bits == 2_208_988_800 << 32)
    #expect(NTPTime(unixNanoseconds: 1_500_000_000).bits == UInt64(2_208_988_801) << 32 | 0x8000_0000)
    #expect(NTPTime(unixNanoseconds: -500_000_000).bits == UInt64(2_208_988_799) << 32 | 0x8000_0000)
    #expect(NTPTime(bits: 0x1234_5678_9ABC_DEF0).compact == 0x5678_9ABC)
  }

  @Test func nanosecondsSurviveTheRoundTripToWithinOne() {
    var random = RandomSource(seed: 3)
    for _ in 0..<1_000 {
      let time = Int64.random(in: 0...2_000_000_000_000_000_000, using: &random)
      #expect(abs(NTPTime(unixNanoseconds: time).unixNanoseconds - time) <= 1)
    }
  }

  @Test func compactIntervals() {
    #expect(NTPTime.compact(.milliseconds(2_000)) == 131_072)
    #expect(NTPTime.compact(.milliseconds(-1)) == 0)
    #expect(NTPTime.compact(.milliseconds(100_000_000)) == .max)
    #expect(NTPTime.interval(compact: 98_304) == .milliseconds(1_500))
  }
}

@Suite struct UnwrappingTests {
  @Test func sequenceNumbersGoOnBeyondTheirWrap() {
    var unwrapper = SequenceNumberUnwrapper()
    let numbers = ([65_534, 65_535, 1, 0, 2, 65_535, 32_769, 32_768, 60_000, 10] as [UInt16]).map { unwrapper.unwrap($0) }
    #expect(numbers == [65_534, 65_535, 65_537, 65_536, 65_538, 65_535, 98_305, 98_304, 125_536, 131_082])
    #expect(unwrapper.highest == 131_082)
    #expect(unwrapper.peek(9) == 131_081)
  }

  @Test func oneBelowTheFirstBecomesNegative() {
    var unwrapper = SequenceNumberUnwrapper()
    let numbers = ([0, 65_535] as [UInt16]).map { unwrapper.unwrap($0) }
    #expect(numbers == [0, -1])
  }

  @Test func timestampsGoOnBeyondTheirWrap() {
    var unwrapper = TimestampUnwrapper()
    let times = ([0xFFFF_FF00, 0x100, 0xFFFF_FFFF, 0x8000_0000] as [UInt32]).map { unwrapper.unwrap($0) }
    #expect(times == [0xFFFF_FF00, 0x1_0000_0100, 0xFFFF_FFFF, 0x1_8000_0000])
    #expect(unwrapper.latest == 0x1_8000_0000)
  }
}

@Suite struct ReceiverStatisticsTests {
  /// Receives `numbers`, one every 20 ms of 48 kHz audio, each `late` milliseconds late.
  private func receive(_ numbers: [UInt16], late: [Int64] = []) -> ReceiverStatistics {
    var statistics = ReceiverStatistics(clockRate: 48_000)
    for (index, number) in numbers.enumerated() {
      let step = Int64(Int16(bitPattern: number &- numbers[0]))
      statistics.receive(
        sequenceNumber: number, timestamp: UInt32(truncatingIfNeeded: 0xFFFF_F000 + step * 960),
        arrival: Instant.zero + .milliseconds(20 * step + (late.isEmpty ? 0 : late[index % late.count])))
    }
    return statistics
  }

  @Test func lossIsCountedAcrossTheWrapAndSinceTheLastReport() {
    var statistics = receive([65_533, 65_534, 0, 1])
    var block = statistics.reportBlock(ssrc: 5, lastSenderReport: 6, delaySinceLastSenderReport: 7)
    #expect(
      block
        == RTCP.ReportBlock(
          ssrc: 5, fractionLost: 51, packetsLost: 1, extendedHighestSequenceNumber: 65_537, lastSenderReport: 6,
          delaySinceLastSenderReport: 7))
    statistics.receive(sequenceNumber: 2, timestamp: 0, arrival: .zero)
    block = statistics.reportBlock(ssrc: 5)
    #expect(block.fractionLost == 0)
    #expect(block.packetsLost == 1)
    block = statistics.reportBlock(ssrc: 5)
    #expect(block.fractionLost == 0)
  }

  @Test func duplicatesMakeTheLossNegativeButNotItsFraction() {
    var statistics = receive([1, 1, 2, 2])
    let block = statistics.reportBlock(ssrc: 1)
    #expect(block.packetsLost == -2)
    #expect(block.fractionLost == 0)
  }

  @Test func aSteadyStreamHasNoJitterAndALooseOneHas() {
    #expect(receive(Array(65_500...65_535) + Array(0...200)).jitterTicks < 1)
    // Alternately on time and 5 ms late: each packet differs by 5 ms from the one before it.
    let jitter = receive(Array(0...300), late: [0, 5]).jitter
    #expect(abs(jitter.milliseconds - 5) < 0.1)
  }

  @Test func aRestartForgetsTheOldSequence() {
    var statistics = receive([10, 11, 12])
    statistics.restart()
    #expect(statistics.packetsExpected == 0)
    statistics.receive(sequenceNumber: 30_000, timestamp: 0, arrival: .zero)
    #expect(statistics.packetsLost == 0)
  }
}
