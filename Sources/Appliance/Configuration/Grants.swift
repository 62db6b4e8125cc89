/// Who may use the camera and the microphone: given once, in the configuration file. Nothing ever prompts.
public struct Grants: Sendable, Equatable {
  /// What one origin may capture.
  public struct Grant: Sendable, Equatable {
    /// Whose pages the grant is for.
    public var origin: Origin
    /// Whether they may use the camera.
    public var camera: Bool
    /// Whether they may use the microphone.
    public var microphone: Bool

    /// A grant for `origin`.
    public init(origin: Origin, camera: Bool, microphone: Bool) {
      (self.origin, self.camera, self.microphone) = (origin, camera, microphone)
    }
  }

  /// A device that a grant can open.
  public enum Device: Sendable { case camera, microphone }

  /// Who asks.
  public enum Caller: Sendable, Equatable {
    /// A direct call (`call.whip`): the file that names it grants it.
    case directCall
    /// A page of this origin.
    case page(Origin)
  }

  /// The grants in the file's order, one for each origin.
  public private(set) var all: [Grant] = []

  /// No grants.
  public init() {}

  /// Adds a grant; false when its origin already has one.
  public mutating func add(_ grant: Grant) -> Bool {
    guard !all.contains(where: { $0.origin == grant.origin }) else { return false }
    all.append(grant)
    return true
  }

  /// Whether `caller` may use `device`. False means `NotAllowedError`, at once.
  public func allow(_ device: Device, for caller: Caller) -> Bool {
    switch caller {
    case .directCall: true
    case .page(let origin):
      all.contains { $0.origin == origin && (device == .camera ? $0.camera : $0.microphone) }
    }
  }
}
