import Base
import Camera
import Foundation
import Frames
import Net
import Stage
import Synchronization

/// Video on a monitor of 1920 by 1080 pixels that nobody sees, refreshed 60 times a second, by the code that drives real ones.
enum DisplayBenchmarks {
  private static let (width, height, rate) = (1_920, 1_080, 60.0)
  private static let seconds = 8.0

  static func run(_ settings: Benchmark.Settings) async throws -> [Figure] {
    let composed = try await play(hasPlanes: false)
    let planes = try await play(hasPlanes: true)
    return figures(composed, "composed") + figures(planes, "on planes")
  }

  private struct Result {
    var statistics: StageStatistics
    var missed: Int
    var shown: Int
    var planes: Int
  }

  private static func figures(_ result: Result, _ name: String) -> [Figure] {
    let (period, frames) = (1_000 / rate, Int(seconds * 30))
    let latency = (result.statistics.readyToFlip?.p95 ?? .zero).seconds * 1_000
    let work = (result.statistics.composition?.p50 ?? .zero).seconds * 1_000
    func figure(_ metric: String, _ value: Double, _ unit: String, _ bound: Figure.Bound?) -> Figure {
      Figure(
        name: "display-1080p", metric: "page over video, \(name): \(metric)", value: value, unit: unit, runs: 1, spread: 0, bound: bound,
        needsReference: false)
    }
    return [
      figure("ready to flip, p95", latency, "ms", .atMost(period + 2)),
      figure("missed flips in \(frames) frames", Double(result.missed), "flips", .atMost(0)),
      figure("frames not shown", Double(frames - result.shown), "frames", .atMost(0)),
      figure("work for a picture", work, "ms", nil), figure("planes", Double(result.planes), "planes", nil),
    ]
  }

  /// Shows 30 frames a second under a page that stands still.
  private static func play(hasPlanes: Bool) async throws -> Result {
    let stage = Stage(width: width, height: height, refreshRate: rate)
    let box = Counter()
    let thread = VirtualMonitor.thread(of: stage, width: width, height: height, refreshRate: rate, hasPlanes: hasPlanes) { flip in
      box.count.withLock { $0 += flip.videos.count }
    }
    thread.start()
    defer { thread.stop() }
    let video = VideoIdentifier(rawValue: 1)
    let placement = VideoPlacement(video: video, width: Double(width), height: Double(height))
    let target = Rectangle(x: 0, y: 0, width: width, height: height)
    let layer = SurfaceLayer(
      identifier: 1, bitmap: ComposeBenchmarks.page(), target: target, damage: [target], videos: [placement], canvas: .black)
    stage.update(layers: LayersUpdate(layers: [layer], isRearranged: true))
    let camera = SyntheticCamera(width: width, height: height)
    let frames = (0..<4).map { camera.frame(at: $0) }
    // What is made once is made before.
    for index in 0..<15 { try await show(frames[index % 4], of: video, on: stage, at: index, since: MonotonicClock.now()) }
    try await Task.sleep(for: .milliseconds(200))
    let (before, missed) = (box.count.withLock { $0 }, stage.displayStatus.missedFlips)
    let start = MonotonicClock.now()
    for index in 0..<Int(seconds * 30) { try await show(frames[index % 4], of: video, on: stage, at: index, since: start) }
    try await Task.sleep(for: .milliseconds(100))
    return Result(
      statistics: stage.statistics, missed: stage.displayStatus.missedFlips - missed, shown: box.count.withLock { $0 } - before,
      planes: stage.displayStatus.planes)
  }

  private final class Counter: Sendable {
    let count = Mutex(0)
  }

  private static func show(_ frame: VideoFrame, of video: VideoIdentifier, on stage: Stage, at index: Int, since start: Instant)
    async throws
  {
    let wait = start + .seconds(Double(index) / 30) - MonotonicClock.now()
    if wait.nanoseconds > 0 { try await Task.sleep(for: .nanoseconds(wait.nanoseconds)) }
    var frame = frame
    frame.ledger[.decode] = MonotonicClock.now()
    stage.show(frame, in: video)
  }
}
