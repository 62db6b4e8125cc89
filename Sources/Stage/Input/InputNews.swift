/// What people do that concerns the box, whatever is on its screen.
public enum InputNews: Sendable, Equatable {
  /// Somebody is there: told when they begin to do something, and at most once a second while they go on.
  case activity
  /// A finger or a pointer's button went down, and not on something that the stage itself shows.
  case press
  /// The call key or button was pressed: a call starts, or the one under way ends.
  case callKey
  /// A volume key was pressed.
  case volume(InputAction.VolumeStep)
}
