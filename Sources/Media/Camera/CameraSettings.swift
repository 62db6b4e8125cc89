/// Which camera is wanted, and how it is to be set.
public struct CameraSettings: Sendable, Equatable {
  /// Which one.
  public enum Selection: Sendable, Equatable {
    /// Whichever is there, or arrives first.
    case any
    /// The one with this stable name (`/dev/v4l/by-id`, `/dev/v4l/by-path`), device node, or name on its label.
    case named(String)
  }

  /// What holds a lamp's flicker off the picture.
  public enum PowerLineFrequency: Sendable, Equatable { case off, hertz50, hertz60, automatic }

  /// When a camera's own H.264 is used.
  public enum OwnH264: String, Sendable, CaseIterable {
    /// While somebody sends it as it is, and if the camera lets its bitrate be set.
    case automatic = "auto"
    /// Whenever the camera has it in the wanted size and rate.
    case always
    /// Never: its pictures are coded here.
    case never
  }

  /// Which camera.
  public var selection = Selection.any
  /// Wanted width in pixels; what the camera has comes closest.
  public var width = 1280
  /// Wanted height in pixels.
  public var height = 720
  /// Wanted pictures a second.
  public var framesPerSecond = 30.0
  /// Share of the control's range, 0 to 1; nil: as the camera has it.
  public var brightness: Double?
  /// Share of the control's range, 0 to 1; nil: as the camera has it.
  public var zoom: Double?
  /// nil: as the camera has it.
  public var powerLineFrequency: PowerLineFrequency?
  /// Whether pictures are turned over from left to right, for everybody.
  public var isMirrored = false
  /// When the H.264 is used that the camera codes itself.
  public var ownH264 = OwnH264.automatic

  /// Whichever camera is there, 1280 by 720 pixels, 30 pictures a second.
  public init() {}
}
