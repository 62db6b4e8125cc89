import Frames

/// What a site decided about its monitors.
public struct DisplayPreferences: Sendable, Hashable {
  /// Which connected monitors show the picture.
  public enum Outputs: String, Sendable, CaseIterable {
    /// All of them, the same picture.
    case all
    /// The first one.
    case one
  }

  /// The connector's name as the kernel's sysfs has it, such as `HDMI-A-1`: it alone is used, and none in its place; nil: those connected.
  public var connector: String?
  /// The mode; nil: what the monitor prefers.
  public var mode: RequestedMode?
  /// Clockwise turn of the picture on the monitor.
  public var rotation: VideoFrame.Rotation
  /// Which connected monitors show the picture, when no connector is named.
  public var outputs: Outputs

  /// Preferences; without more, all connected monitors in the modes they prefer, upright.
  public init(
    connector: String? = nil, mode: RequestedMode? = nil, rotation: VideoFrame.Rotation = .none, outputs: Outputs = .all
  ) {
    (self.connector, self.mode, self.rotation, self.outputs) = (connector, mode, rotation, outputs)
  }
}
