import Base
import Frames
import Stage

/// What a site decided about its box: `parlor.toml` as typed values.
public struct Configuration: Sendable, Equatable {
  /// `[call]`; nil: the box does not know whom to call.
  public var call: Call?
  /// `[[grants]]`.
  public var grants = Grants()
  /// `[identity]`.
  public var identity = Identity()
  /// `[display]`.
  public var display = Display()
  /// `[power]`.
  public var power = Power()
  /// `[[camera]]`, in the file's order; the first one is used in direct calls. Without an entry, whichever camera is there.
  public var cameras: [Camera] = []
  /// `[sound]`.
  public var sound = Sound()
  /// `[network]`.
  public var network = Network()
  /// `[page]`.
  public var page = Page()
  /// `[tls]`.
  public var tls = TLS()
  /// `[time]`.
  public var time = Time()
  /// `[access]`.
  public var access = Access()
  /// `[update]`.
  public var update = Update()
  /// `[notices]`.
  public var notices = Notices()
  /// `[logs]`.
  public var logs = Logs()
  /// `[limits]`.
  public var limits = Limits()
  /// What the file says without effect, in the file's order.
  public var warnings: [ConfigurationProblem] = []

  /// The configuration of an empty file: no call, and the devices that are there.
  public init() {}

  /// `[call]`: whom to call, and how.
  public struct Call: Sendable, Equatable {
    /// Where the call is.
    public enum Target: Sendable, Equatable {
      /// `url`: a page that makes the call.
      case page(url: String)
      /// `whip`, `whep`: a direct call; at least one of them.
      case direct(whip: String?, whep: String?)
    }

    /// When the call starts.
    public enum Start: String, Sendable, CaseIterable {
      /// As soon as the box runs.
      case boot
      /// When somebody touches the screen, or presses a pointer's button.
      case touch
      /// With the call key or button.
      case key
      /// With `parlor call start`.
      case manual
    }

    /// Video codecs that can be preferred.
    public enum Codec: String, Sendable, CaseIterable {
      case vp8 = "VP8"
      case h264 = "H264"
    }

    /// An entry of `ice_servers`, with the W3C names (`RTCIceServer`).
    public struct ICEServer: Sendable, Equatable {
      /// `stun:`, `stuns:`, `turn:` and `turns:` URLs.
      public var urls: [String]
      /// The user's name at a TURN server.
      public var username: String?
      /// The password at a TURN server.
      public var credential: Secret?
    }

    /// Where the call is, the identity already filled in for `${serial}`, `${mac}` and `${name}`.
    public var target: Target
    /// The bearer token, read for each call anew.
    public var token: Secret?
    /// Servers beside those that the other side names.
    public var iceServers: [ICEServer] = []
    /// Whether only relayed candidates are used (W3C `iceTransportPolicy` `relay`).
    public var isRelayOnly = false
    /// The video codec to prefer; nil: as the stack orders them.
    public var codec: Codec?
    /// When the call starts.
    public var start = Start.boot
    /// The key that starts and ends the call, whatever `start` says, by its code in `linux/input-event-codes.h`.
    public var key: UInt32?
    /// A button that is wired to the box and does the same.
    public var button: GPIOLine?
    /// Seconds until a call that does not connect is given up.
    public var connectTimeout = 15.0
    /// Where a call page may lead beside its own origin.
    public var allowedOrigins: [Origin] = []
    /// Seconds until a page that has drawn nothing is given up.
    public var loadDeadline = 15.0
    /// When the page is loaded anew each day, unless a call is under way; nil: never.
    public var reloadAt: DailyTime?

    /// A call to `target`, everything else as when the file does not name it.
    public init(target: Target) { self.target = target }
  }

  /// `[page]`: the web engine that runs a call page.
  public struct Page: Sendable, Equatable {
    /// What the engine calls itself; nil: what most call services take.
    public var userAgent: String?
    /// MiB that the page may use before it is ended and loaded again.
    public var memoryLimit = 1_024
    /// Seconds until a question of the page (`alert`, `confirm`, `prompt`) is answered as if somebody had declined.
    public var dialogTimeout = 30.0
  }

  /// `[tls]`: whom the box trusts, and how it says who it is.
  public struct TLS: Sendable, Equatable {
    /// `ca_files`: paths of certificates that are trusted beside the system's own.
    public var certificateFiles: [String] = []
    /// The path of a PEM file with the certificate that a page's server may ask for, and its chain.
    public var clientCertificate: String?
    /// The path of a PEM file with its private key.
    public var clientKey: String?
    /// `sha256/BASE64` of public keys, one of which must be in the chain of the call page's server; empty: any will do.
    public var pins: [String] = []
  }

  /// `[identity]`: which box this is.
  public struct Identity: Sendable, Equatable {
    /// A name for people; nil: the host's name.
    public var name: String?
    /// A number for inventories; nil: the machine's own.
    public var serial: String?
    /// Where the box stands, for people; nil: it is not said.
    public var place: String?
  }

  /// `[display]`.
  public struct Display: Sendable, Equatable {
    /// A screen's size and refresh rate.
    public typealias Mode = RequestedMode

    /// How far the picture is turned.
    public enum Rotation: Int, Sendable, CaseIterable {
      case none = 0
      case quarter = 90
      case half = 180
      case threeQuarters = 270
    }

    /// Where the self-view stands.
    public enum SelfView: String, Sendable, CaseIterable {
      case topLeft = "top-left"
      case topRight = "top-right"
      case bottomLeft = "bottom-left"
      case bottomRight = "bottom-right"
      case off
    }

    /// Which of the connected outputs show the picture.
    public typealias Outputs = DisplayPreferences.Outputs

    /// The path of the DRM device; nil: the first one that has connectors.
    public var card: String?
    /// The path of the virtual terminal that the display belongs to; nil: what the standard input is, else `/dev/tty1`.
    public var terminal: String?
    /// The connector's name, such as `HDMI-A-1`, and then no other shows the picture; nil: what `outputs` says.
    public var connector: String?
    /// Which of the connected outputs show the picture, where `connector` names none.
    public var outputs = Outputs.all
    /// The mode; nil: what the screen prefers.
    public var mode: Mode?
    /// How far picture and touch are turned, clockwise.
    public var rotation = Rotation.none
    /// Brightness is raised to 1 / `gamma`, 0.5 to 2: above 1 what lies between black and white gets brighter. nil: the driver's own.
    public var gamma: Double?
    /// How the remote side fills the screen.
    public var fit = VideoFit.contain
    /// Where the self-view stands.
    public var selfView = SelfView.bottomRight
    /// Whether the self-view is shown as in a mirror.
    public var mirrorsSelfView = true

    /// The self-view's corner; nil: it is not shown.
    public var corner: Scene.Corner? { Scene.Corner(rawValue: selfView.rawValue) }
  }

  /// `[notices]`: what the box itself says on the screen.
  public struct Notices: Sendable, Equatable {
    /// In which language.
    public var language = Language.english
    /// The colours, and the logo.
    public var theme = Notice.Theme()
    /// What is shown while nothing else is.
    public var idle: Artwork?
    /// Whether a mark is shown while pictures of a camera leave the box.
    public var marksCamera = true
  }
}
