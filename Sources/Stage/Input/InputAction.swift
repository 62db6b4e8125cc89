/// What comes of a device's event.
public enum InputAction: Sendable, Equatable {
  /// A step of the volume.
  public enum VolumeStep: Sendable, Equatable {
    case up
    case down
    /// Off, and on again.
    case mute
  }

  /// Input for whatever is on the screen.
  case input(StageInput)
  /// Somebody is there, and the screen is dark.
  case wake
  /// The call key was pressed: a call starts, or the one under way ends.
  case callKey
  /// A volume key was pressed.
  case volume(VolumeStep)
  /// Whether a keyboard with letters is attached, when that changes. At the start none is.
  case keyboardAttached(Bool)
}
