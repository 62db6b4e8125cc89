import Base
import Call
import WebRTC

/// What the latency overlay says, of counts that are looked at again and again.
struct OverlayFigures {
  /// One look.
  struct Sample {
    var time: Instant
    /// Changes of the picture so far.
    var flips: Int
    /// Refreshes that a change was meant for and missed, so far.
    var missedFlips: Int
    /// Frames of the other side, and of pages' videos, shown so far.
    var frames: Int
    /// Of the screen, over the last ten seconds.
    var latency: [LatencyRecorder.Step: LatencyRecorder.Figures] = [:]
    var bytesReceived = 0
    var bytesSent = 0
    /// Seconds that all samples together spent in jitter buffers, and how many these were.
    var jitterBufferDelay = 0.0
    var jitterBufferEmittedCount = 0

    /// A look at the screen and the W3C reports of all connections.
    init(
      time: Instant, flips: Int, missedFlips: Int = 0, frames: Int, latency: [LatencyRecorder.Step: LatencyRecorder.Figures] = [:],
      reports: [StatisticsReport] = []
    ) {
      (self.time, self.flips, self.missedFlips, self.frames, self.latency) = (time, flips, missedFlips, frames, latency)
      for member in reports.flatMap(\.values) {
        switch member["type"] {
        case .text("inbound-rtp"):
          bytesReceived += member["bytesReceived"]?.intValue ?? 0
          if case .number(let seconds) = member["jitterBufferDelay"] { jitterBufferDelay += seconds }
          jitterBufferEmittedCount += member["jitterBufferEmittedCount"]?.intValue ?? 0
        case .text("outbound-rtp"): bytesSent += member["bytesSent"]?.intValue ?? 0
        default: break
        }
      }
    }
  }

  private var last: Sample?

  /// The overlay's lines after one more look: rates since the look before, `-` for what is not known.
  mutating func lines(_ sample: Sample) -> [String] {
    let before = last ?? sample
    last = sample
    let seconds = (sample.time - before.time).seconds
    func rate(_ count: Int) -> Double? { seconds > 0 && count >= 0 ? Double(count) / seconds : nil }
    let emitted = sample.jitterBufferEmittedCount - before.jitterBufferEmittedCount
    let delay = emitted > 0 ? (sample.jitterBufferDelay - before.jitterBufferDelay) / Double(emitted) * 1_000 : nil
    func kilobits(_ bytes: Int) -> String { OverlayFigures.rounded(rate(bytes).map { $0 * 8 / 1_000 }, decimals: 0) }
    return [
      OverlayFigures.line("camera to screen", OverlayFigures.text(sample.latency[.preview])),
      OverlayFigures.line("receive to screen", OverlayFigures.text(sample.latency[.received])),
      OverlayFigures.line("flips", OverlayFigures.rounded(rate(sample.flips - before.flips)) + " /s  missed \(sample.missedFlips)"),
      OverlayFigures.line("frames", OverlayFigures.rounded(rate(sample.frames - before.frames)) + " /s"),
      OverlayFigures.line("jitter buffer", OverlayFigures.rounded(delay) + " ms"),
      OverlayFigures.line(
        "bitrate",
        "in \(kilobits(sample.bytesReceived - before.bytesReceived))  out \(kilobits(sample.bytesSent - before.bytesSent)) kbit/s"),
    ]
  }

  private static func text(_ figures: LatencyRecorder.Figures?) -> String {
    "p50 \(rounded(figures?.p50))  p95 \(rounded(figures?.p95)) ms"
  }

  private static func line(_ name: String, _ value: String) -> String {
    name + String(repeating: " ", count: max(1, 18 - name.count)) + value
  }

  private static func rounded(_ value: Double?, decimals: Int = 1) -> String {
    guard let value else { return "-" }
    let whole = Int64((value * (decimals == 0 ? 1 : 10)).rounded())
    return decimals == 0 ? "\(whole)" : "\(whole / 10).\(abs(whole % 10))"
  }
}
