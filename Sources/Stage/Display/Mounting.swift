import Frames

/// How the upright picture lies on a monitor: the mode's size, and the turn of the picture on it.
struct Mounting: Hashable, Sendable {
  /// Pixels of the mode from left to right.
  var width: Int
  /// Pixels of the mode from top to bottom.
  var height: Int
  /// Clockwise turn of the picture on the monitor.
  var rotation: VideoFrame.Rotation = .none

  private var isSideways: Bool { rotation == .quarter || rotation == .threeQuarters }

  /// Pixels of the upright picture from left to right.
  var uprightWidth: Int { isSideways ? height : width }
  /// Pixels of the upright picture from top to bottom.
  var uprightHeight: Int { isSideways ? width : height }
  /// The upright picture.
  var upright: Rectangle { Rectangle(x: 0, y: 0, width: uprightWidth, height: uprightHeight) }

  /// Where a rectangle of the upright picture lies among the mode's pixels.
  func onMonitor(_ area: Rectangle) -> Rectangle {
    switch rotation {
    case .none: area
    case .quarter: Rectangle(x: width - area.y - area.height, y: area.x, width: area.height, height: area.width)
    case .half:
      Rectangle(x: width - area.x - area.width, y: height - area.y - area.height, width: area.width, height: area.height)
    case .threeQuarters: Rectangle(x: area.y, y: height - area.x - area.width, width: area.height, height: area.width)
    }
  }
}

extension VideoFrame.Rotation {
  /// This turn, and another one after it.
  func followed(by other: VideoFrame.Rotation) -> VideoFrame.Rotation {
    VideoFrame.Rotation(rawValue: (rawValue + other.rawValue) % 360) ?? .none
  }
}
