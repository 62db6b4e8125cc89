import Base
import BridgeMessages
import Call
import Net

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
      /// What pages with a grant are told.
      public var label: String
      public var camera: CameraThread

      /// A camera.
      public init(identifier: String, label: String, camera: CameraThread) {
        (self.identifier, self.label, self.camera) = (identifier, label, camera)
      }
    }

    /// A microphone.
    public struct Microphone: Sendable {
      /// Stable from start to start; pages see a hash of it.
      public var identifier: String
      /// What pages with a grant are told.
      public var label: String
      public var microphone: MicrophoneThread

      /// A microphone.
      public init(identifier: String, label: String, microphone: MicrophoneThread) {
        (self.identifier, self.label, self.microphone) = (identifier, label, microphone)
      }
    }

    public var cameras: [Camera]
    public var microphone: Microphone?
    /// Where sound is played; nil: it is received, and heard by nobody.
    public var playout: PlayoutThread?

    /// The devices.
    public init(cameras: [Camera] = [], microphone: Microphone? = nil, playout: PlayoutThread? = nil) {
      (self.cameras, self.microphone, self.playout) = (cameras, microphone, playout)
    }
  }
}

/// Why a page service could not be started.
public struct PageServiceError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, such as `bind /run/parlor/bridge.sock: Permission denied`.
  public var description: String
}
