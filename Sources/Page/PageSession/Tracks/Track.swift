import Base
import BridgeMessages
import Call
import Frames
import Sound

/// Where a track's media comes from. Clones share it.
enum TrackSource {
  case camera(index: Int, VideoFanOut)
  case microphone(PageService.Media.Microphone)
  case receivedVideo(VideoFanOut, LatencyRecorder)
  case receivedAudio(PlayedSound)
  case madeVideo(VideoFanOut)
  case madeAudio(AudioFanOut)

  var kind: TrackKind {
    switch self {
    case .camera, .receivedVideo, .madeVideo: .video
    case .microphone, .receivedAudio, .madeAudio: .audio
    }
  }

  /// The box's device behind it; nil when there is none.
  var device: DeviceRoster.Device? {
    switch self {
    case .camera(let index, _): .camera(index)
    case .microphone: .microphone
    case .receivedVideo, .receivedAudio, .madeVideo, .madeAudio: nil
    }
  }
}

/// W3C `MediaStreamTrack` as far as it concerns this side: a source, and what this track makes of it. While nobody looks or listens it takes
/// nothing from its source and holds nothing.
final class Track {
  let number: UInt32
  let identifier: String
  let source: TrackSource
  private(set) var isEnabled = true
  /// What the page wants it to be like.
  private(set) var wanted = TrackSettings()
  private let video: VideoStage?
  private let audio: AudioStage?
  private var isGrabbed = false
  /// For pictures that are made of the track's.
  let pool = VideoBufferPool(capacity: 4)

  init(number: UInt32, identifier: String, source: TrackSource) {
    (self.number, self.identifier, self.source) = (number, identifier, source)
    switch source {
    case .camera(_, let pictures), .receivedVideo(let pictures, _), .madeVideo(let pictures):
      (video, audio) = (VideoStage(pictures), nil)
    case .microphone(let microphone): (video, audio) = (nil, AudioStage(microphone.sound(microphone.processing ?? .none)))
    case .madeAudio(let sound): (video, audio) = (nil, AudioStage(sound))
    case .receivedAudio(let received): (video, audio) = (nil, AudioStage(received.sound))
    }
  }

  /// Another track of the same source, in the same state.
  convenience init(copying other: Track, number: UInt32, identifier: String) {
    self.init(number: number, identifier: identifier, source: other.source)
    apply(other.wanted)
    setEnabled(other.isEnabled)
  }

  var kind: TrackKind { source.kind }
  /// Its pictures; nil for sound.
  var pictures: VideoFanOut? { video?.output }
  /// Its sound; nil for pictures.
  var sound: AudioFanOut? { audio?.output }

  /// What a sender takes.
  var senderSource: SenderSource? { pictures.map(SenderSource.video) ?? sound.map(SenderSource.audio) }

  /// False: black pictures, silence.
  func setEnabled(_ value: Bool) {
    isEnabled = value
    video?.setEnabled(value)
    audio?.setEnabled(value)
  }

  /// What is done to a microphone's sound for this track; nil: nothing can be.
  var processing: VoiceProcessing? {
    guard case .microphone(let microphone) = source, var processing = microphone.processing else { return nil }
    processing.echoCancellation = wanted.echoCancellation ?? processing.echoCancellation
    processing.noiseSuppression = wanted.noiseSuppression ?? processing.noiseSuppression
    processing.autoGainControl = wanted.autoGainControl ?? processing.autoGainControl
    return processing
  }

  /// Size and rate, or what is done to voices, from now on.
  func apply(_ settings: TrackSettings) {
    wanted = settings
    // Only a camera's pictures are made smaller: all else is what its source makes it.
    if case .camera = source { video?.setFormat(settings) }
    if case .microphone(let microphone) = source, let processing { audio?.setSource(microphone.sound(processing)) }
  }

  /// The source may be another one now: a camera that came back with other pictures.
  func refresh() { apply(wanted) }

  /// The newest picture. From the first call on the track keeps one.
  func grab() -> VideoFrame? {
    guard let pictures else { return nil }
    if !isGrabbed {
      isGrabbed = true
      _ = pictures.add { _ in }
    }
    return pictures.newest
  }

  /// Gives nothing from now on.
  func stop() {
    video?.stop()
    audio?.stop()
  }
}
