import Base
import BridgeMessages
import Call
import Net
import Sound

extension PageService {
  /// What one origin may capture.
  public struct Grant: Sendable, Equatable {
    /// Whether its pages may use the cameras.
    public var camera: Bool
    /// Whether its pages may use the microphone.
    public var microphone: Bool

    /// A grant; without arguments for nothing.
    public init(camera: Bool = false, microphone: Bool = false) { (self.camera, self.microphone) = (camera, microphone) }
  }

  /// What the service is made with.
  public struct Configuration: Sendable {
    /// The folder for `bridge.sock`.
    public var runtimeFolder: String
    /// What the page host is told: the call's URL, who is admitted, limits.
    public var page: PageSettings
    /// How connections reach the network; its ICE servers serve pages that name none.
    public var session: PeerSession.Configuration
    /// What an origin may capture: asked each time, with the main frame's origin.
    public var grants: @Sendable (_ origin: String) -> Grant
    /// The user that the page host runs as; nil: this process's own.
    public var allowedUser: UInt32?
    /// Makes the identifiers that pages know devices under different for each origin and each box. Kept by the owner, so that they last.
    public var deviceSalt: [UInt8]
    /// Bytes that wait for a page's process from which on its data channels wait too, and what can be spared is dropped.
    public var congestion = 4 << 20

    /// A configuration with the defaults.
    public init(
      runtimeFolder: String, page: PageSettings, session: PeerSession.Configuration,
      grants: @escaping @Sendable (_ origin: String) -> Grant, allowedUser: UInt32? = nil, deviceSalt: [UInt8]? = nil
    ) {
      (self.runtimeFolder, self.page, self.session) = (runtimeFolder, page, session)
      (self.grants, self.allowedUser) = (grants, allowedUser)
      var generator = SystemRandomNumberGenerator()
      self.deviceSalt = deviceSalt ?? (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
  }

  /// The box's devices, which all documents share.
  public struct Media: Sendable {
    /// A camera.
    public struct Camera: Sendable {
      /// Stable from start to start; pages see a hash of it.
      public var identifier: String
      /// What pages with a grant are told until the device itself says its name.
      public var label: String
      public var camera: CameraThread
      /// How it stands.
      public var watch: DeviceWatch
      /// Whether the box's owner named it: then it can be opened also before it was ever there.
      public var isExpected: Bool

      /// A camera; without `watch` one that always runs.
      public init(identifier: String, label: String, camera: CameraThread, watch: DeviceWatch? = nil, isExpected: Bool = false) {
        (self.identifier, self.label, self.camera, self.isExpected) = (identifier, label, camera, isExpected)
        self.watch = watch ?? DeviceWatch(.running(name: label))
      }
    }

    /// A microphone.
    public struct Microphone: Sendable {
      /// Stable from start to start; pages see a hash of it.
      public var identifier: String
      /// What pages with a grant are told until the device itself says its name.
      public var label: String
      /// How it stands.
      public var watch: DeviceWatch
      /// Whether the box's owner named it: then it can be opened also before it was ever there.
      public var isExpected: Bool
      /// What is done to its sound for pages that do not say what they want; nil: nothing can be done to it.
      public var processing: VoiceProcessing?
      /// Its sound after what is wanted was done to it.
      public var sound: @Sendable (VoiceProcessing) -> AudioFanOut

      /// A microphone; without `watch` one that always runs.
      public init(
        identifier: String, label: String, watch: DeviceWatch? = nil, isExpected: Bool = false, processing: VoiceProcessing? = nil,
        sound: @escaping @Sendable (VoiceProcessing) -> AudioFanOut
      ) {
        (self.identifier, self.label, self.isExpected) = (identifier, label, isExpected)
        (self.processing, self.sound) = (processing, sound)
        self.watch = watch ?? DeviceWatch(.running(name: label))
      }
    }

    /// A loudspeaker.
    public struct Speaker: Sendable {
      /// Where sound is played.
      public var playout: PlayoutThread
      /// What pages with a grant are told until the device itself says its name.
      public var label: String
      /// How it stands.
      public var watch: DeviceWatch

      /// A loudspeaker; without `watch` one that always runs.
      public init(playout: PlayoutThread, label: String = "Speaker", watch: DeviceWatch? = nil) {
        (self.playout, self.label, self.watch) = (playout, label, watch ?? DeviceWatch(.running(name: label)))
      }
    }

    public var cameras: [Camera]
    public var microphone: Microphone?
    /// nil: sound is received, and heard by nobody.
    public var speaker: Speaker?

    /// The devices.
    public init(cameras: [Camera] = [], microphone: Microphone? = nil, speaker: Speaker? = nil) {
      (self.cameras, self.microphone, self.speaker) = (cameras, microphone, speaker)
    }
  }
}

/// Why a page service could not be started.
public struct PageServiceError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, such as `bind /run/parlor/bridge.sock: Permission denied`.
  public var description: String
}
