import Base

/// A size and rate that a monitor is driven at, as the kernel lists it for a connector.
struct DisplayMode: Hashable, Sendable {
  /// What the kernel calls it, such as `1920x1080`.
  var name: String
  /// How the monitor is driven.
  var timings: Timings
  /// Whether the monitor, or who built it in, prefers it.
  var isPreferred = false

  /// Pixels from left to right.
  var width: Int { timings.horizontal.active }
  /// Pixels from top to bottom.
  var height: Int { timings.vertical.active }
  /// Vertical blanks a second.
  var refresh: Double { timings.refresh }
  /// From one vertical blank to the next; for timings that make no sense, that of 60 a second.
  var period: Interval { refresh > 1 ? .seconds(1 / refresh) : .seconds(1.0 / 60) }
  /// Whether each refresh brings every second row only.
  var isInterlaced: Bool { timings.flags.contains(.interlaced) }
}

extension DisplayMode: CustomStringConvertible {
  /// As the configuration writes it: `1920x1080@60`, `1920x1080@59.94`; interlaced modes with an `i` behind.
  var description: String { "\(width)x\(height)@\(RequestedMode.text(of: refresh))\(isInterlaced ? "i" : "")" }
}
