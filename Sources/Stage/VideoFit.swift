/// How a video fills the place it is given, as CSS `object-fit` names it.
public enum VideoFit: String, Sendable, CaseIterable {
  /// All of the picture is seen, with bars where the aspect ratios differ.
  case contain
  /// All of the place is filled, and the picture's edges are cut off where the aspect ratios differ.
  case cover

  /// Which part of a picture is seen, and where.
  struct Placement: Equatable {
    /// The part of the upright picture that is seen, centred.
    var sourceWidth: Int
    var sourceHeight: Int
    /// Where it is seen.
    var target: Rectangle
  }

  /// Places an upright picture of the given size in `area`, both at least one pixel.
  func placement(width: Int, height: Int, in area: Rectangle) -> Placement {
    /// `a * b / c`, rounded, at least 1 and at most `limit`.
    func scaled(_ a: Int, _ b: Int, _ c: Int, limit: Int) -> Int { min(limit, max(1, (a * b + c / 2) / c)) }
    let isWider = width * area.height > area.width * height
    switch self {
    case .contain:
      let w = isWider ? area.width : scaled(area.height, width, height, limit: area.width)
      let h = isWider ? scaled(area.width, height, width, limit: area.height) : area.height
      let target = Rectangle(x: area.x + (area.width - w) / 2, y: area.y + (area.height - h) / 2, width: w, height: h)
      return Placement(sourceWidth: width, sourceHeight: height, target: target)
    case .cover:
      return Placement(
        sourceWidth: isWider ? scaled(height, area.width, area.height, limit: width) : width,
        sourceHeight: isWider ? height : scaled(width, area.height, area.width, limit: height), target: area)
    }
  }
}
