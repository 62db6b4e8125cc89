import Base
import RTP
import Testing

@testable import WebRTC

@Suite struct TransportFeedbackRecorderTests {
  private func reports(_ recorder: inout TransportFeedbackRecorder, at milliseconds: Int64) throws -> [RTCP.TransportFeedback] {
    var packets: [RTCP.Packet] = []
    recorder.feedback(now: .zero + .milliseconds(milliseconds), senderSSRC: 1, mediaSSRC: 2, into: &packets)
    // What leaves is what the other side reads.
    let bytes = RTCP.write(packets)
    if !bytes.isEmpty { #expect(try RTCP.parse(bytes.span.bytes) == packets) }
    return packets.compactMap { if case .transportFeedback(let report) = $0 { report } else { nil } }
  }

  @Test func reportsComeSoonThenAtAPaceThatFitsTheTraffic() throws {
    var recorder = TransportFeedbackRecorder()
    #expect(recorder.deadline == nil)
    recorder.record(65_535, now: .zero + .milliseconds(100))
    #expect(recorder.deadline == .zero + .milliseconds(120))
    #expect(try reports(&recorder, at: 119).isEmpty)
    let first = try reports(&recorder, at: 120)
    #expect(first.count == 1 && first[0].baseSequenceNumber == 65_535 && first[0].deltas.count == 1 && first[0].feedbackPacketCount == 0)
    #expect(recorder.deadline == nil)
    recorder.record(1, now: .zero + .milliseconds(130))
    #expect(recorder.deadline == .zero + .milliseconds(220))
    for number in 2..<30 as Range<UInt16> { recorder.record(number, now: .zero + .milliseconds(131)) }
    #expect(recorder.deadline == .zero + .milliseconds(170))
    let second = try reports(&recorder, at: 170)
    #expect(second.count == 1 && second[0].baseSequenceNumber == 0 && second[0].deltas.count == 30)
    #expect(second[0].deltas[0] == nil && second[0].deltas[1] != nil && second[0].feedbackPacketCount == 1)
  }

  @Test func aPacketThatCameAfterItsReportIsReportedLater() throws {
    var recorder = TransportFeedbackRecorder()
    for number in [1, 2, 4] as [UInt16] { recorder.record(number, now: .zero) }
    #expect(try reports(&recorder, at: 20)[0].deltas.map { $0 != nil } == [true, true, false, true])
    recorder.record(3, now: .zero + .milliseconds(30))
    recorder.record(3, now: .zero + .milliseconds(31))
    recorder.record(5, now: .zero + .milliseconds(32))
    let report = try reports(&recorder, at: 130)[0]
    #expect(report.baseSequenceNumber == 3 && report.deltas.allSatisfy { $0 != nil } && report.deltas.count == 3)
    #expect(report.arrivals[0] == .milliseconds(30))
  }

  @Test func longGapsAndPausesAreSplitIntoReportsThatFit() throws {
    var recorder = TransportFeedbackRecorder()
    recorder.record(0, now: .zero)
    recorder.record(1_700, now: .zero + .milliseconds(5))
    let gap = try reports(&recorder, at: 20)
    #expect(gap.map(\.deltas.count).reduce(0, +) == 1_701 && gap.allSatisfy { $0.deltas.count <= 500 })
    recorder.record(1_701, now: .zero + .milliseconds(20))
    recorder.record(1_702, now: .zero + .milliseconds(30_000))
    let pause = try reports(&recorder, at: 30_000)
    #expect(pause.count == 2)
    #expect(pause[1].arrivals == [.milliseconds(30_000)])
  }

  @Test func aJumpBeyondTheWindowBeginsAnew() throws {
    var recorder = TransportFeedbackRecorder()
    recorder.record(0, now: .zero)
    recorder.record(20_000, now: .zero)
    recorder.record(5, now: .zero)
    let all = try reports(&recorder, at: 20)
    #expect(all.count == 1 && all[0].baseSequenceNumber == 20_000 && all[0].deltas.count == 1)
  }
}

@Suite struct SentPacketsTests {
  private func feedback(_ base: UInt16, _ arrivals: [Int64?], reference: Int64) throws -> RTCP.TransportFeedback {
    var report = RTCP.TransportFeedback(
      senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: base, feedbackPacketCount: 0, firstArrival: .zero + .milliseconds(reference))
    for arrival in arrivals {
      let isAdded = report.append(arrival: arrival.map { .zero + .milliseconds($0) })
      #expect(isAdded)
    }
    return report
  }

  @Test func eachPacketsFateIsToldOnceAcrossTheWrap() throws {
    var packets = SentPackets(first: 65_534)
    for time in 0..<4 as Range<Int64> { packets.sent(100, now: .zero + .milliseconds(time)) }
    #expect(packets.nextSequenceNumber == 2 && packets.bytesInFlight == 400)
    let roundTrip = packets.handle(try feedback(65_534, [5_000, nil, 5_002], reference: 5_000), now: .zero + .milliseconds(42))
    #expect(roundTrip == .milliseconds(40))
    #expect(packets.results.map(\.arrival) == [.milliseconds(5_000), nil, .milliseconds(5_002)])
    #expect(packets.results.map(\.sent) == [.zero, .zero + .milliseconds(1), .zero + .milliseconds(2)])
    #expect(packets.bytesInFlight == 100)
    // The one that was only late, and all again: only the news is told.
    packets.handle(try feedback(65_534, [5_000, 5_010, 5_002, nil, 5_100], reference: 5_000), now: .zero + .milliseconds(90))
    #expect(packets.results.map(\.arrival) == [.milliseconds(5_010), nil])
    #expect(packets.bytesInFlight == 0)
  }

  @Test func theReceiversClockGoesOnWhenItsReferenceWraps() throws {
    var packets = SentPackets()
    packets.sent(1, now: .zero)
    packets.sent(1, now: .zero)
    let wrap: Int64 = 64 << 23
    packets.handle(try feedback(0, [wrap - 64], reference: wrap - 64), now: .zero)
    let before = try #require(packets.results[0].arrival)
    packets.handle(try feedback(1, [wrap + 64], reference: wrap + 64), now: .zero)
    let after = try #require(packets.results[0].arrival)
    #expect(after - before == .milliseconds(128))
  }

  @Test func feedbackOnPacketsNeverSentOrLongForgottenIsIgnored() throws {
    var packets = SentPackets()
    for _ in 0..<9_000 { packets.sent(1, now: .zero) }
    let roundTrip = packets.handle(try feedback(0, [1], reference: 0), now: .zero)
    #expect(roundTrip == nil && packets.results.isEmpty)
    packets.handle(try feedback(9_000, [1], reference: 0), now: .zero)
    #expect(packets.results.isEmpty)
  }
}
