import Base
import Call
import Testing
import WebRTC

@testable import Appliance

@Suite struct OverlayFiguresTests {
  private func report(received: Int, sent: Int, delay: Double, emitted: Int) -> StatisticsReport {
    [
      "I": ["type": "inbound-rtp", "bytesReceived": .integer(received)],
      "A": ["type": "inbound-rtp", "jitterBufferDelay": .number(delay), "jitterBufferEmittedCount": .integer(emitted)],
      "O": ["type": "outbound-rtp", "bytesSent": .integer(sent)], "P": ["type": "peer-connection"],
    ]
  }

  @Test func ratesAreThoseSinceTheLookBefore() throws {
    var figures = OverlayFigures()
    let received = try #require(LatencyRecorder.figures([40, 50, 60.25]))
    let start = Instant.zero + .seconds(100)
    let first = figures.lines(
      OverlayFigures.Sample(
        time: start, flips: 1_000, frames: 400, reports: [report(received: 5_000, sent: 9_000, delay: 10, emitted: 48_000)]))
    #expect(first.contains("flips             - /s  missed 0") && first.contains("jitter buffer     - ms"))
    #expect(first.contains("camera to screen  p50 -  p95 - ms"))
    let second = figures.lines(
      OverlayFigures.Sample(
        time: start + .seconds(2), flips: 1_120, missedFlips: 3, frames: 461, latency: [.received: received],
        reports: [report(received: 255_000, sent: 134_000, delay: 2_890, emitted: 144_000)]))
    #expect(
      second == [
        "camera to screen  p50 -  p95 - ms", "receive to screen p50 50.0  p95 60.3 ms", "flips             60.0 /s  missed 3",
        "frames            30.5 /s", "jitter buffer     30.0 ms", "bitrate           in 1000  out 500 kbit/s",
      ])
  }

  @Test func aCallThatWasReplacedGivesNoRate() {
    var figures = OverlayFigures()
    let start = Instant.zero
    _ = figures.lines(
      OverlayFigures.Sample(time: start, flips: 10, frames: 5, reports: [report(received: 5_000, sent: 1, delay: 1, emitted: 5)]))
    let lines = figures.lines(
      OverlayFigures.Sample(time: start + .seconds(1), flips: 10, frames: 5, reports: [report(received: 10, sent: 1, delay: 0, emitted: 0)])
    )
    #expect(lines.last == "bitrate           in -  out 0 kbit/s" && lines.contains("jitter buffer     - ms"))
  }
}
