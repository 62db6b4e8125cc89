import Frames

/// The picture that people point at, and how it lies on the monitor.
public struct InputScreen: Sendable, Equatable {
  /// Width of the upright picture in pixels.
  public var width: Int
  /// Height of the upright picture in pixels.
  public var height: Int
  /// Clockwise turn of the picture on the monitor.
  public var rotation: VideoFrame.Rotation

  /// A picture of `width` by `height` pixels, as a viewer sees it.
  public init(width: Int, height: Int, rotation: VideoFrame.Rotation = .none) {
    (self.width, self.height, self.rotation) = (width, height, rotation)
  }

  /// Which pixel of the picture lies at a place of the monitor, given as parts of the monitor's width and height.
  func pixel(x: Double, y: Double) -> (x: Double, y: Double) {
    let (across, down) =
      switch rotation {
      case .none: (x, y)
      case .quarter: (y, 1 - x)
      case .half: (1 - x, 1 - y)
      case .threeQuarters: (1 - y, x)
      }
    return onScreen(x: across * Double(width), y: down * Double(height))
  }

  /// The nearest point of the picture.
  func onScreen(x: Double, y: Double) -> (x: Double, y: Double) {
    func clamp(_ value: Double, _ size: Int) -> Double { value.isFinite ? max(0, min(Double(size) - 0.01, value)) : 0 }
    return (clamp(x, width), clamp(y, height))
  }
}
