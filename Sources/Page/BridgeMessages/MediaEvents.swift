// Run → page: answers and events of devices, tracks and videos.

/// The value that answers ``DevicesList``.
public struct DevicesReply: Codable, Sendable, Equatable {
  /// W3C `MediaDeviceInfo`, with what `getCapabilities` says. Without a grant there is at most one of a kind, and it has no identifiers and no label.
  /// One that is away and may come back is not listed to pages; its tracks are muted meanwhile.
  public struct Device: Codable, Sendable, Equatable {
    /// W3C `MediaDeviceKind`.
    public enum Kind: String, Codable, Sendable { case audioinput, videoinput, audiooutput }

    public var deviceId: String
    public var groupId: String
    public var kind: Kind
    public var label: String
    public var capabilities: DeviceCapabilities?
    /// Whether it is away; nil: it is not.
    public var isAbsent: Bool?

    /// A device.
    public init(deviceId: String, groupId: String, kind: Kind, label: String, capabilities: DeviceCapabilities? = nil) {
      (self.deviceId, self.groupId, self.kind) = (deviceId, groupId, kind)
      (self.label, self.capabilities) = (label, capabilities)
    }
  }

  /// What the document may capture.
  public struct Grants: Codable, Sendable, Equatable {
    public var camera: Bool
    public var microphone: Bool

    /// Both answers.
    public init(camera: Bool, microphone: Bool) { (self.camera, self.microphone) = (camera, microphone) }
  }

  public var devices: [Device]
  public var grants: Grants

  /// The value.
  public init(devices: [Device], grants: Grants) { (self.devices, self.grants) = (devices, grants) }
}

/// W3C `MediaTrackCapabilities`.
public struct DeviceCapabilities: Codable, Sendable, Equatable {
  /// W3C `ULongRange` and `DoubleRange`.
  public struct Range: Codable, Sendable, Equatable {
    public var min: Double
    public var max: Double

    /// A range, both ends included.
    public init(min: Double, max: Double) { (self.min, self.max) = (min, max) }
  }

  public var width: Range?
  public var height: Range?
  public var aspectRatio: Range?
  public var frameRate: Range?
  public var facingMode: [String]?
  public var resizeMode: [String]?
  public var echoCancellation: [Bool]?
  public var noiseSuppression: [Bool]?
  public var autoGainControl: [Bool]?
  public var sampleRate: Range?
  public var sampleSize: Range?
  public var channelCount: Range?
  public var latency: Range?
  public var deviceId: String?
  public var groupId: String?

  /// Nothing said.
  public init() {}
}

/// The value that answers ``TrackOpen`` and ``TrackApply``.
public struct TrackReply: Codable, Sendable, Equatable {
  /// What holds now.
  public var settings: TrackSettings
  /// The device's label.
  public var label: String
  /// Whether the device gives no media now; nil: it does.
  public var isMuted: Bool?

  /// The value.
  public init(settings: TrackSettings, label: String) { (self.settings, self.label) = (settings, label) }
}

/// The devices changed: W3C `devicechange`.
public struct DevicesChanged: ControlMessage {
  public static let type = "devices.changed"

  /// The message.
  public init() {}
}

/// A track's source stopped giving media for now, or gives it again.
public struct TrackMuted: ControlMessage {
  public static let type = "track.muted"
  public var track: UInt32
  public var isMuted: Bool
  /// What holds now that media flows again; nil: what held before.
  public var settings: TrackSettings?
  /// What the device can be set to now that it is back; nil: as before.
  public var capabilities: DeviceCapabilities?

  /// The message.
  public init(track: UInt32, isMuted: Bool) { (self.track, self.isMuted) = (track, isMuted) }
}

/// A track's source is gone for good.
public struct TrackEnded: ControlMessage {
  public static let type = "track.ended"
  public var track: UInt32

  /// The message.
  public init(track: UInt32) { self.track = track }
}

/// A video's size, with its first picture and on change.
public struct VideoSize: ControlMessage {
  public static let type = "video.size"
  public var video: UInt32
  public var width: Int
  public var height: Int

  /// The message.
  public init(video: UInt32, width: Int, height: Int) { (self.video, self.width, self.height) = (video, width, height) }
}

/// A frame of a watched video was shown: W3C `VideoFrameCallbackMetadata`, times in milliseconds of `CLOCK_MONOTONIC`.
public struct VideoFrameShown: ControlMessage {
  public static let type = "video.frame"
  public var video: UInt32
  public var presentationTime: Double
  public var expectedDisplayTime: Double
  public var width: Int
  public var height: Int
  /// In seconds, since the video's first frame.
  public var mediaTime: Double
  /// How many frames of the video were shown, this one included.
  public var presentedFrames: Int
  public var receiveTime: Double?
  public var captureTime: Double?
  public var rtpTimestamp: UInt32?
  /// In seconds, decoding included.
  public var processingDuration: Double?

  /// The message.
  public init(
    video: UInt32, presentationTime: Double, expectedDisplayTime: Double, width: Int, height: Int, mediaTime: Double,
    presentedFrames: Int, receiveTime: Double? = nil, captureTime: Double? = nil, rtpTimestamp: UInt32? = nil,
    processingDuration: Double? = nil
  ) {
    (self.video, self.presentationTime, self.expectedDisplayTime) = (video, presentationTime, expectedDisplayTime)
    (self.width, self.height, self.mediaTime, self.presentedFrames) = (width, height, mediaTime, presentedFrames)
    (self.receiveTime, self.captureTime) = (receiveTime, captureTime)
    (self.rtpTimestamp, self.processingDuration) = (rtpTimestamp, processingDuration)
  }
}

/// The time on `CLOCK_MONOTONIC`, told to each document first.
public struct Clock: ControlMessage {
  public static let type = "clock"
  /// In milliseconds.
  public var monotonic: Double

  /// The message.
  public init(monotonic: Double) { self.monotonic = monotonic }
}
