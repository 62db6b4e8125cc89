/// What a graphics card has and what is plugged into it, at one moment. Everything about outputs and planes is decided from this value.
struct CardSnapshot: Hashable, Sendable {
  /// What the card and its driver can do beside what planes and connectors say.
  struct Capabilities: OptionSet, Hashable, Sendable {
    let rawValue: UInt16
    /// Modes, planes and properties change in one commit, and a commit can be tested (`DRM_CLIENT_CAP_ATOMIC`).
    static let atomic = Capabilities(rawValue: 1 << 0)
    /// Buffers that the processor draws into (`DRM_CAP_DUMB_BUFFER`).
    static let dumbBuffers = Capabilities(rawValue: 1 << 1)
    /// Buffers of other devices can be shown (`DRM_PRIME_CAP_IMPORT`).
    static let imports = Capabilities(rawValue: 1 << 2)
    /// Buffers can be handed to other devices (`DRM_PRIME_CAP_EXPORT`).
    static let exports = Capabilities(rawValue: 1 << 3)
    /// Buffers say how they lie in memory (`DRM_CAP_ADDFB2_MODIFIERS`).
    static let modifiers = Capabilities(rawValue: 1 << 4)
    /// Flip events say which CRTC flipped (`DRM_CAP_CRTC_IN_VBLANK_EVENT`).
    static let crtcInEvents = Capabilities(rawValue: 1 << 5)
    /// Time stamps of flips are those of the monotonic clock (`DRM_CAP_TIMESTAMP_MONOTONIC`).
    static let monotonicTimestamps = Capabilities(rawValue: 1 << 6)
    /// Planes take a fence to wait for (`IN_FENCE_FD`).
    static let fences = Capabilities(rawValue: 1 << 7)
  }

  /// The driver's name, such as `i915`.
  var driver: String
  /// What the card and its driver can do.
  var capabilities: Capabilities
  /// In the kernel's order.
  var connectors: [ConnectorSnapshot]
  /// In the kernel's order: masks count by it.
  var crtcs: [CRTCSnapshot]
  /// In the kernel's order; empty without the universal planes.
  var planes: [PlaneOffer]
  /// The size that a cursor plane's buffer should have.
  var cursorSize: (width: Int, height: Int) {
    get { (cursorWidth, cursorHeight) }
    set { (cursorWidth, cursorHeight) = newValue }
  }
  private var cursorWidth: Int
  private var cursorHeight: Int

  init(
    driver: String, capabilities: Capabilities = [], connectors: [ConnectorSnapshot] = [], crtcs: [CRTCSnapshot] = [],
    planes: [PlaneOffer] = [], cursorSize: (width: Int, height: Int) = (64, 64)
  ) {
    (self.driver, self.capabilities, self.connectors) = (driver, capabilities, connectors)
    (self.crtcs, self.planes) = (crtcs, planes)
    (cursorWidth, cursorHeight) = cursorSize
  }

  /// Whether modes, planes and properties change in one commit.
  var isAtomic: Bool { capabilities.contains(.atomic) }

  /// The planes that can belong to a CRTC.
  func planes(of crtc: CRTCSnapshot) -> [PlaneOffer] {
    planes.filter { $0.possibleCRTCs & crtc.mask != 0 }
  }
}

/// A display controller (CRTC, from the days of tubes): makes one picture out of planes and sends it in one mode.
struct CRTCSnapshot: Hashable, Sendable {
  /// The kernel's number for it.
  var id: UInt32
  /// Its place among the card's CRTCs, from 0.
  var index: Int
  /// Entries of its gamma table; 0: it has none.
  var gammaSize = 0

  /// Its bit in masks of possible CRTCs.
  var mask: UInt32 { index < 32 ? 1 << UInt32(index) : 0 }
}

/// A socket that a monitor is, or can be, plugged into.
struct ConnectorSnapshot: Hashable, Sendable {
  /// Whether there is a monitor.
  enum Status: Hashable, Sendable {
    case connected
    case disconnected
    /// The hardware cannot tell.
    case unknown
  }

  /// The kernel's number for it.
  var id: UInt32
  /// As the kernel's sysfs has it, without the card: `HDMI-A-1`.
  var name: String
  /// Whether there is a monitor.
  var status: Status
  /// What the monitor takes, in the kernel's order.
  var modes: [DisplayMode] = []
  /// Which CRTCs can drive it: bit n for the nth of the card. All its encoders together; the one it has now does not matter.
  var possibleCRTCs: UInt32
  /// The CRTC that drives it now; nil: none.
  var crtc: UInt32? = nil
  /// Whether the monitor described itself.
  var hasEDID = false
  /// Millimetres from left to right and from top to bottom; 0: not known.
  var physicalWidth = 0
  var physicalHeight = 0
  /// Whether it writes pictures to memory instead of to a monitor.
  var isWriteback = false

  /// Whether the monitor is built in: its driver knows its only mode, without an EDID.
  var isBuiltIn: Bool { ["eDP-", "LVDS-", "DSI-", "DPI-"].contains { name.hasPrefix($0) } }
}
