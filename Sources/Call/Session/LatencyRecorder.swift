import Base
import Frames

/// Collects how long frames took from stage to stage, over the last ten seconds. Usable from any thread.
public final class LatencyRecorder: Sendable {
  /// The distribution of one stage's times.
  public struct Figures: Sendable, Equatable, Codable {
    /// In milliseconds.
    public var p50, p95, p99, maximum: Double
    public var count: Int

    private enum CodingKeys: String, CodingKey {
      case p50 = "p50_ms"
      case p95 = "p95_ms"
      case p99 = "p99_ms"
      case maximum = "max_ms"
      case count
    }
  }

  /// A step between two neighbouring stages, or the whole of a side.
  public enum Step: String, Sendable, CaseIterable {
    /// Capture to encoded.
    case encode
    /// Encoded to its first packet leaving.
    case pace
    /// First to last packet leaving.
    case send
    /// First packet of a frame to the whole frame.
    case assemble
    /// Whole frame to when it is taken up by the decoder: longer where lip sync or the application wants it later.
    case hold
    /// Frame taken up to picture.
    case decode
    /// Picture to page flip.
    case present
    /// Capture to last packet sent.
    case sent
    /// First packet received to page flip.
    case received
    /// Capture to page flip, of the own camera's pictures.
    case preview

    var stages: (from: Ledger.Stage, to: Ledger.Stage) {
      switch self {
      case .encode: (.capture, .encode)
      case .pace: (.encode, .pace)
      case .send: (.pace, .send)
      case .assemble: (.receive, .assemble)
      case .hold: (.assemble, .release)
      case .decode: (.release, .decode)
      case .present: (.decode, .present)
      case .sent: (.capture, .send)
      case .received: (.receive, .present)
      case .preview: (.capture, .present)
      }
    }
  }

  private struct Sample {
    var time: Instant
    var milliseconds: Float
  }

  private let samples = Guarded<[Step: [Sample]]>([:])
  private static let window = Interval.seconds(10)
  private static let limit = 1_200

  /// A recorder without times.
  public init() {}

  /// Takes the steps that `ledger` holds complete.
  public func record(_ ledger: Ledger, steps: [Step], now: Instant) {
    samples.with { samples in
      for step in steps {
        let stages = step.stages
        guard let time = ledger.time(from: stages.from, to: stages.to) else { continue }
        samples[step, default: []].append(Sample(time: now, milliseconds: Float(time.milliseconds)))
        if samples[step]!.count > LatencyRecorder.limit { samples[step]!.removeFirst(LatencyRecorder.limit / 4) }
      }
    }
  }

  /// The figures of each step that had frames in the last ten seconds.
  public func figures(now: Instant) -> [Step: Figures] {
    samples.with { $0 }.compactMapValues { list in
      LatencyRecorder.figures(list.filter { now - $0.time <= LatencyRecorder.window }.map { Double($0.milliseconds) })
    }
  }

  /// Percentiles of a list of milliseconds; nil for an empty one.
  public static func figures(_ values: [Double]) -> Figures? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    func percentile(_ share: Double) -> Double { sorted[min(sorted.count - 1, Int((Double(sorted.count) * share).rounded(.down)))] }
    return Figures(p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99), maximum: sorted.last!, count: sorted.count)
  }
}
