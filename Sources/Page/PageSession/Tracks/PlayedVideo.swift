import BridgeMessages
import Call
import Frames

/// A track's pictures on the stage, under the identifier of a media element.
final class PlayedVideo {
  let identifier: UInt32
  let track: Track
  private let pictures: VideoFanOut
  private let videos: ShownVideos
  private var sink = 0
  private let state = Guarded(State())

  private struct State {
    var size = (width: 0, height: 0)
    var isHeld = false
  }

  /// nil when the identifier is another video's.
  init?(identifier: UInt32, track: Track, pictures: VideoFanOut, document: Document) {
    let videos = document.bridge.videos
    var latency: LatencyRecorder?
    if case .receivedVideo(_, let recorder) = track.source { latency = recorder }
    guard videos.add(identifier, latency: latency) else { return nil }
    (self.identifier, self.track, self.pictures, self.videos) = (identifier, track, pictures, videos)
    let (state, loop) = (self.state, document.loop)
    sink = pictures.add { [weak document] frame in
      let size = (width: frame.uprightWidth, height: frame.uprightHeight)
      let (isHeld, isNew) = state.with { state in
        defer { if !state.isHeld { state.size = size } }
        return (state.isHeld, state.size != size)
      }
      // A held video shows its first picture all the same.
      guard !isHeld || isNew else { return }
      videos.show(frame, in: identifier)
      guard isNew else { return }
      state.with { $0.size = size }
      loop.run { [weak document] in document?.send(VideoSize(video: identifier, width: size.width, height: size.height)) }
    }
  }

  /// Keeps the picture that is shown, or goes on.
  func setHeld(_ value: Bool) {
    state.with { $0.isHeld = value }
    if !value, let newest = pictures.newest { videos.show(newest, in: identifier) }
  }

  func stop() {
    pictures.remove(sink)
    videos.remove(identifier)
  }
}
