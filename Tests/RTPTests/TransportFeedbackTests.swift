import Base
import Bytes
import Testing

@testable import RTP

@Suite struct TransportFeedbackTests {
  /// A report on `arrivals` (milliseconds, nil for lost), which must all fit.
  private func report(_ arrivals: [Double?], base: UInt16 = 65_530) throws -> RTCP.TransportFeedback {
    let first = try #require(arrivals.compactMap { $0 }.first)
    var feedback = RTCP.TransportFeedback(
      senderSSRC: 1, mediaSSRC: 2, baseSequenceNumber: base, feedbackPacketCount: 9,
      firstArrival: Instant(nanoseconds: Int64(first * 1e6)))
    for arrival in arrivals {
      let isAdded = feedback.append(arrival: arrival.map { Instant(nanoseconds: Int64($0 * 1e6)) })
      #expect(isAdded)
    }
    return feedback
  }

  private func expectBack(_ arrivals: [Double?]) throws {
    let feedback = try report(arrivals)
    let bytes = RTCP.write([.transportFeedback(feedback)])
    guard case .transportFeedback(let back) = try parse(bytes)[0] else { throw MalformedPacket.value("type") }
    #expect(back == feedback)
    #expect(back.arrivals.count == arrivals.count)
    for (time, arrival) in zip(back.arrivals, arrivals) {
      #expect((time == nil) == (arrival == nil))
      if let time, let arrival { #expect(abs(time.milliseconds - arrival) <= 0.126) }
    }
  }

  @Test func steadyArrivalsComeBackWithinATick() throws { try expectBack((0..<40).map { 1_000 + Double($0) * 1.3 }) }

  @Test func lossesAndReorderingComeBack() throws {
    try expectBack([100, nil, 90, nil, nil, 105, 400, 401, nil, 399])
    try expectBack([5, 5, 5] + Array(repeating: nil, count: 30) + [9, 500, nil, 501])
  }

  @Test func randomPatternsComeBack() throws {
    var random = RandomSource(seed: 7)
    for _ in 0..<300 {
      var time = Double.random(in: 0...100_000, using: &random)
      let loss = Double.random(in: 0...1, using: &random)
      var arrivals: [Double?] = (0..<Int.random(in: 1...200, using: &random)).map { _ in
        guard Double.random(in: 0...1, using: &random) >= loss else { return nil }
        time += Bool.random(using: &random) ? Double.random(in: 0...3, using: &random) : Double.random(in: -500...5_000, using: &random)
        return time
      }
      arrivals.append(time)
      try expectBack(arrivals)
    }
  }

  @Test func theBytesAreThoseOfTheDraft() throws {
    // Two small deltas and one large: one two-bit vector.
    let feedback = try report([64, 65, nil, 200], base: 5)
    #expect(
      RTCP.write([.transportFeedback(feedback)])
        == [0x8F, 205, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 0, 5, 0, 4, 0, 0, 1, 9, 0xD4, 0x80, 0, 4, 0x02, 0x1C, 0, 0])
  }

  @Test func aRunOfPacketsTakesOneChunk() throws {
    let bytes = RTCP.write([.transportFeedback(try report((0..<100).map { Double($0) / 4 }))])
    #expect(bytes.count == 20 + 2 + 100 + 2)
  }

  @Test func tooLongAPauseNeedsANewReport() throws {
    var feedback = try report([0])
    let isAdded = feedback.append(arrival: Instant(nanoseconds: 9_000_000_000))
    #expect(!isAdded)
    #expect(feedback.deltas.count == 1)
  }

  @Test func clocksBeforeTheirOriginAndFarBehindItWork() throws {
    try expectBack([-70, -65, nil, -63.5])
    // 24 bits of 64 ms wrap after 12.4 days.
    let feedback = try report([2_000_000_000, 2_000_000_001])
    #expect(feedback.deltas.count == 2)
    guard case .transportFeedback(let back) = try parse(RTCP.write([.transportFeedback(feedback)]))[0] else {
      throw MalformedPacket.value("type")
    }
    #expect(back == feedback)
  }

  @Test func malformedReportsAreRefused() {
    let head: [UInt8] = [0x8F, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 5]
    // One packet with the reserved status, a run of nothing, missing deltas, missing chunks.
    #expect(rtcpError(head + [0, 1, 0, 0, 1, 9, 0x60, 1, 0, 0]) == .value("a packet status"))
    #expect(rtcpError(head + [0, 1, 0, 0, 1, 9, 0x20, 0, 0, 0]) == .value("a run length chunk"))
    #expect(rtcpError(head + [0, 9, 0, 0, 1, 9, 0x20, 9, 0, 0]) == .truncated("the end of the transport feedback"))
    #expect(rtcpError(head + [0, 99, 0, 0, 1, 9, 0x80, 0, 0x80, 0]) == .truncated("the end of the transport feedback"))
  }
}
