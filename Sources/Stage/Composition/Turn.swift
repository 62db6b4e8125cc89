import Frames

/// One of the eight ways to lay a rectangle onto a rectangle: turned clockwise, then perhaps mirrored left to right.
struct Turn: Equatable {
  /// Quarter turns clockwise, 0 to 3.
  var quarters: Int
  /// Whether left and right are swapped after turning.
  var isMirrored: Bool

  /// Whether width and height change places.
  var isSideways: Bool { quarters % 2 == 1 }

  /// What the linear part of a map does when it only scales, mirrors and turns by quarters; nil for any other map.
  init?(_ map: AffineMap) {
    // Animations leave residues such as cos 90° = 6e-17. What moves no pixel of a large screen is none.
    let negligible = 1e-6 * max(abs(map.a), abs(map.b), abs(map.c), abs(map.d))
    if abs(map.b) <= negligible && abs(map.c) <= negligible && map.a != 0 && map.d != 0 {
      self.init(quarters: map.d > 0 ? 0 : 2, isMirrored: (map.a > 0) != (map.d > 0))
    } else if abs(map.a) <= negligible && abs(map.d) <= negligible && map.b != 0 && map.c != 0 {
      self.init(quarters: map.b > 0 ? 1 : 3, isMirrored: (map.b > 0) == (map.c > 0))
    } else {
      return nil
    }
  }

  init(quarters: Int, isMirrored: Bool) { (self.quarters, self.isMirrored) = (quarters, isMirrored) }

  /// A frame's own turn, and this one after it.
  func after(_ rotation: VideoFrame.Rotation) -> Turn {
    Turn(quarters: (quarters + rotation.rawValue / 90) % 4, isMirrored: isMirrored)
  }
}
