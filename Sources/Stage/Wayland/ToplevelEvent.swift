/// What the stage knows of a client's window.
public struct ToplevelInformation: Sendable, Hashable {
  /// Names the window; never used twice while the server runs.
  public var identifier: UInt64
  /// The process that it belongs to, as the kernel says.
  public var process: Int32
  /// The title that the client gave it (`xdg_toplevel.set_title`).
  public var title: String
  /// The application's name (`xdg_toplevel.set_app_id`).
  public var applicationIdentifier: String
}

/// What happened to a client's window.
public enum ToplevelEvent: Sendable, Hashable {
  /// It has committed its first picture, and lies on top now.
  case mapped(ToplevelInformation)
  /// Its title or application name has changed.
  case changed(ToplevelInformation)
  /// It is gone.
  case unmapped(ToplevelInformation)
}
