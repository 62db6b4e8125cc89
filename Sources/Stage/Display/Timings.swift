import Base

/// How a monitor is driven: the fields of the kernel's `drm_mode_modeinfo` that say so, unaltered, so that they can go back to it.
struct Timings: Hashable, Sendable {
  /// One direction of the picture, in pixels or rows.
  struct Axis: Hashable, Sendable {
    /// What is seen.
    var active: Int
    /// Where the synchronisation pulse begins.
    var syncStart: Int
    /// Where it ends.
    var syncEnd: Int
    /// All, with what is not seen.
    var total: Int
  }

  /// `DRM_MODE_FLAG_…` of `drm_mode.h`.
  struct Flags: OptionSet, Hashable, Sendable {
    let rawValue: UInt32
    static let positiveHorizontalSync = Flags(rawValue: 1 << 0)
    static let negativeHorizontalSync = Flags(rawValue: 1 << 1)
    static let positiveVerticalSync = Flags(rawValue: 1 << 2)
    static let negativeVerticalSync = Flags(rawValue: 1 << 3)
    static let interlaced = Flags(rawValue: 1 << 4)
    static let doubleScan = Flags(rawValue: 1 << 5)
    static let doubleClock = Flags(rawValue: 1 << 12)
    /// The layout of a stereoscopic mode: a number, not flags.
    static let stereo = Flags(rawValue: 0x1F << 14)
  }

  /// Pixels a millisecond (kHz).
  var clock: Int
  /// From left to right.
  var horizontal: Axis
  /// From top to bottom; of the whole picture, for interlaced modes too.
  var vertical: Axis
  /// `hskew`.
  var horizontalSkew = 0
  /// `vscan`: how often each row is shown.
  var verticalScan = 0
  /// Polarities and the like.
  var flags: Flags = []

  /// Vertical blanks a second, as `drm_mode_vrefresh` counts them but not rounded: each field of an interlaced mode has one.
  var refresh: Double {
    var refreshes = Double(clock) * 1000
    if flags.contains(.interlaced) { refreshes *= 2 }
    var pixels = Double(horizontal.total) * Double(vertical.total)
    if flags.contains(.doubleScan) { pixels *= 2 }
    if verticalScan > 1 { pixels *= Double(verticalScan) }
    return pixels > 0 && refreshes > 0 ? refreshes / pixels : 0
  }
}
