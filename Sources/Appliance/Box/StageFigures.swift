import Base
import Stage

/// What `parlor stats` tells of the stage.
struct StageFigures: Encodable, Sendable {
  /// Changes of the picture; on monitors, the page flips that the kernel reported.
  var flips: Int
  /// Refreshes that a picture was meant for and missed.
  var missedFlips: Int
  /// Frames never shown, because a newer one came first.
  var skipped: Int
  var remoteFramesPresented: Int
  var selfViewFramesPresented: Int
  var videoFramesPresented: Int
  /// Hardware planes that show the picture.
  var planes: Int
  /// Video frames that planes of their own showed: those copied to the graphics card, and those shown from where they were.
  var copiedFrames: Int
  var importedFrames: Int
  /// From a frame or a page's picture being there to the flip that shows it, over the last ten seconds.
  var readyToFlip: Milliseconds?
  /// What composing a picture took, over the last ten seconds.
  var composition: Milliseconds?

  /// How long something took, in milliseconds.
  struct Milliseconds: Encodable, Sendable {
    var p50, p95, p99, max: Double
    var count: Int

    init(_ figures: LatencyFigures) {
      func milliseconds(_ interval: Interval) -> Double { interval.seconds * 1_000 }
      (p50, p95) = (milliseconds(figures.p50), milliseconds(figures.p95))
      (p99, max, count) = (milliseconds(figures.p99), milliseconds(figures.max), figures.count)
    }
  }

  private enum CodingKeys: String, CodingKey {
    case flips, skipped, remoteFramesPresented, selfViewFramesPresented, videoFramesPresented, planes
    case missedFlips = "missed_flips"
    case copiedFrames = "copied_frames"
    case importedFrames = "imported_frames"
    case readyToFlip = "ready_to_flip_ms"
    case composition = "compose_ms"
  }

  init(_ counts: StageStatistics, display: DisplayStatus) {
    (flips, skipped, missedFlips, planes) = (counts.flips, counts.skipped, display.missedFlips, display.planes)
    (remoteFramesPresented, selfViewFramesPresented) = (counts.remoteFramesPresented, counts.selfViewFramesPresented)
    (copiedFrames, importedFrames) = (display.planeFrames.copied, display.planeFrames.imported)
    videoFramesPresented = counts.videoFramesPresented
    (readyToFlip, composition) = (counts.readyToFlip.map(Milliseconds.init), counts.composition.map(Milliseconds.init))
  }
}
