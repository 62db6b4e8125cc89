import Base
import BridgeMessages
import Call
import Frames
import Stage

/// The videos of all documents on the stage: who they belong to, and what was shown of them. Usable from any thread.
final class ShownVideos: Sendable {
  private struct Video {
    var presentedFrames = 0
    var start: Instant?
    var isWatched = false
    /// The steps of frames that came over the network are recorded here.
    var latency: LatencyRecorder?
  }

  private let videos = Guarded<[VideoIdentifier: Video]>([:])
  private let stage: Stage
  /// Told of each frame of a watched video, on the stage's thread.
  let onWatched = Guarded<(@Sendable (VideoFrameShown) -> Void)?>(nil)

  init(stage: Stage) { self.stage = stage }

  /// Takes an identifier for a video; false when it is taken.
  func add(_ identifier: UInt32, latency: LatencyRecorder?) -> Bool {
    let identifier = VideoIdentifier(rawValue: identifier)
    return videos.with { videos in
      guard videos[identifier] == nil else { return false }
      videos[identifier] = Video(latency: latency)
      return true
    }
  }

  /// Takes a video off the stage and gives its identifier back.
  func remove(_ identifier: UInt32) {
    let identifier = VideoIdentifier(rawValue: identifier)
    videos.with { $0[identifier] = nil }
    stage.remove(identifier)
  }

  func watch(_ identifier: UInt32, _ isWatched: Bool) {
    videos.with { $0[VideoIdentifier(rawValue: identifier)]?.isWatched = isWatched }
  }

  func show(_ frame: VideoFrame, in identifier: UInt32) { stage.show(frame, in: VideoIdentifier(rawValue: identifier)) }

  /// Counts what the screen shows, and tells who watches.
  func flipped(_ flip: Flip) {
    guard !flip.videos.isEmpty else { return }
    var watched: [VideoFrameShown] = []
    videos.with { videos in
      for shown in flip.videos {
        guard var video = videos[shown.video] else { continue }
        video.presentedFrames += 1
        let time = shown.ledger[.capture] ?? shown.ledger[.receive] ?? flip.time
        if video.start == nil { video.start = time }
        videos[shown.video] = video
        video.latency?.record(shown.ledger, steps: [.present, .received], now: flip.time)
        if video.isWatched { watched.append(ShownVideos.message(shown, video.presentedFrames, time - (video.start ?? time), flip.time)) }
      }
    }
    guard !watched.isEmpty, let tell = onWatched.with({ $0 }) else { return }
    for message in watched { tell(message) }
  }

  private static func message(_ shown: PresentedVideo, _ count: Int, _ mediaTime: Interval, _ time: Instant) -> VideoFrameShown {
    let (frame, ledger) = (shown.frame, shown.ledger)
    // Pictures of a peer have no capture time of this machine's clock; those of a camera here have one.
    return VideoFrameShown(
      video: shown.video.rawValue, presentationTime: time.milliseconds, expectedDisplayTime: time.milliseconds,
      width: frame.uprightWidth, height: frame.uprightHeight, mediaTime: max(0, mediaTime.seconds), presentedFrames: count,
      receiveTime: ledger[.receive]?.milliseconds, captureTime: ledger[.capture]?.milliseconds,
      processingDuration: ledger.time(from: .release, to: .decode)?.seconds)
  }
}
