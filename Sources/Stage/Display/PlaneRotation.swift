import Frames

/// Bits of a plane's `rotation` property (`DRM_MODE_ROTATE_…`, `DRM_MODE_REFLECT_…`). The kernel's angles run counterclockwise.
struct PlaneRotation: OptionSet, Hashable, Sendable {
  let rawValue: UInt64
  static let upright = PlaneRotation(rawValue: 1 << 0)
  static let quarterCounterclockwise = PlaneRotation(rawValue: 1 << 1)
  static let half = PlaneRotation(rawValue: 1 << 2)
  static let quarterClockwise = PlaneRotation(rawValue: 1 << 3)
  static let reflectedLeftRight = PlaneRotation(rawValue: 1 << 4)
  static let reflectedTopBottom = PlaneRotation(rawValue: 1 << 5)

  init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The value that turns what a plane shows clockwise.
  init(clockwise rotation: VideoFrame.Rotation) {
    self =
      switch rotation {
      case .none: .upright
      case .quarter: .quarterClockwise
      case .half: .half
      case .threeQuarters: .quarterCounterclockwise
      }
  }
}
