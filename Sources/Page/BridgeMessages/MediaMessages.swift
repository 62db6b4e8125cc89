// Page → run: devices, tracks, and where they are seen and heard (W3C Media Capture and Streams).

/// W3C `MediaTrackSettings`: what a track is to be like, or is like. Members that do not apply to its kind are absent.
public struct TrackSettings: Codable, Sendable, Equatable {
  /// In pixels.
  public var width: Int?
  /// In pixels.
  public var height: Int?
  public var aspectRatio: Double?
  /// Pictures a second.
  public var frameRate: Double?
  /// W3C `VideoFacingModeEnum`.
  public var facingMode: String?
  /// W3C `VideoResizeModeEnum`: `none` or `crop-and-scale`.
  public var resizeMode: String?
  public var echoCancellation: Bool?
  public var noiseSuppression: Bool?
  public var autoGainControl: Bool?
  /// In Hz.
  public var sampleRate: Int?
  /// In bits.
  public var sampleSize: Int?
  public var channelCount: Int?
  /// In seconds.
  public var latency: Double?
  public var deviceId: String?
  public var groupId: String?

  /// Nothing said.
  public init() {}
}

/// W3C `enumerateDevices`; answered with a ``DevicesReply``.
public struct DevicesList: Request {
  public static let type = "devices.list"
  public var id: UInt32

  /// The message.
  public init(id: UInt32) { self.id = id }
}

/// Opens a capture device; answered with a ``TrackReply``.
public struct TrackOpen: Request {
  public static let type = "track.open"
  public var id: UInt32
  /// The track's number.
  public var track: UInt32
  /// The track's identifier.
  public var trackId: String
  /// The device, by the identifier this document knows it under; nil or empty: any.
  public var deviceId: String?
  public var kind: TrackKind
  /// What the constraints came to.
  public var settings: TrackSettings?

  /// The message.
  public init(id: UInt32, track: UInt32, trackId: String, deviceId: String? = nil, kind: TrackKind, settings: TrackSettings? = nil) {
    (self.id, self.track, self.trackId) = (id, track, trackId)
    (self.deviceId, self.kind, self.settings) = (deviceId, kind, settings)
  }
}

/// A track whose media comes from the page.
public struct TrackMake: ControlMessage {
  public static let type = "track.make"
  public var track: UInt32
  public var trackId: String
  public var kind: TrackKind

  /// The message.
  public init(track: UInt32, trackId: String, kind: TrackKind) { (self.track, self.trackId, self.kind) = (track, trackId, kind) }
}

/// Another track of the same source.
public struct TrackClone: ControlMessage {
  public static let type = "track.clone"
  public var track: UInt32
  /// The track that it is made after.
  public var from: UInt32
  public var trackId: String

  /// The message.
  public init(track: UInt32, from: UInt32, trackId: String) { (self.track, self.from, self.trackId) = (track, from, trackId) }
}

/// W3C `applyConstraints`; answered with a ``TrackReply``.
public struct TrackApply: Request {
  public static let type = "track.apply"
  public var id: UInt32
  public var track: UInt32
  /// What the constraints came to.
  public var settings: TrackSettings

  /// The message.
  public init(id: UInt32, track: UInt32, settings: TrackSettings) { (self.id, self.track, self.settings) = (id, track, settings) }
}

/// W3C `MediaStreamTrack.enabled`.
public struct TrackEnable: ControlMessage {
  public static let type = "track.enable"
  public var track: UInt32
  /// False: black pictures, silence.
  public var isEnabled: Bool

  /// The message.
  public init(track: UInt32, isEnabled: Bool) { (self.track, self.isEnabled) = (track, isEnabled) }
}

/// W3C `MediaStreamTrack.stop`.
public struct TrackStop: ControlMessage {
  public static let type = "track.stop"
  public var track: UInt32

  /// The message.
  public init(track: UInt32) { self.track = track }
}

/// Shows a track on the stage under a video identifier.
public struct VideoPlay: ControlMessage {
  public static let type = "video.play"
  /// The video identifier, not 0.
  public var video: UInt32
  /// The track; nil: the video is taken off.
  public var track: UInt32?

  /// The message.
  public init(video: UInt32, track: UInt32?) { (self.video, self.track) = (video, track) }
}

/// Holds a video's picture as it is, or lets it go on: a paused element.
public struct VideoHold: ControlMessage {
  public static let type = "video.hold"
  public var video: UInt32
  public var isHeld: Bool

  /// The message.
  public init(video: UInt32, isHeld: Bool) { (self.video, self.isHeld) = (video, isHeld) }
}

/// Asks to be told of each frame of a video: W3C `requestVideoFrameCallback`.
public struct VideoWatch: ControlMessage {
  public static let type = "video.watch"
  public var video: UInt32
  public var isWatched: Bool

  /// The message.
  public init(video: UInt32, isWatched: Bool) { (self.video, self.isWatched) = (video, isWatched) }
}

/// Plays tracks in one media element.
public struct AudioPlay: ControlMessage {
  public static let type = "audio.play"
  /// The element's number.
  public var element: UInt32
  /// What it plays; empty: nothing any more.
  public var tracks: [UInt32]
  /// 0 to 1.
  public var volume: Double?
  public var isMuted: Bool?
  /// The output device; the box has one.
  public var sinkId: String?

  /// The message.
  public init(element: UInt32, tracks: [UInt32], volume: Double? = nil, isMuted: Bool? = nil) {
    (self.element, self.tracks, self.volume, self.isMuted) = (element, tracks, volume, isMuted)
  }
}

/// Asks for a track's sound, as frames.
public struct AudioTap: ControlMessage {
  public static let type = "audio.tap"
  /// The tap's number: the frames' target.
  public var tap: UInt32
  public var track: UInt32

  /// The message.
  public init(tap: UInt32, track: UInt32) { (self.tap, self.track) = (tap, track) }
}

/// Ends a tap.
public struct AudioUntap: ControlMessage {
  public static let type = "audio.untap"
  public var tap: UInt32

  /// The message.
  public init(tap: UInt32) { self.tap = tap }
}
