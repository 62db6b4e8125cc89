extension Wayland {
  /// How a client turned its picture, counter-clockwise, before it put it into the buffer (`wl_output.transform`).
  enum BufferTransform: UInt32 {
    case normal, quarter, half, threeQuarters, flipped, flippedQuarter, flippedHalf, flippedThreeQuarters

    /// Whether width and height change places.
    var isSideways: Bool { rawValue & 1 == 1 }

    /// Where in a buffer of `width` by `height` pixels the upright picture's pixel (`x`, `y`) lies.
    func source(x: Int, y: Int, width: Int, height: Int) -> (x: Int, y: Int) {
      switch self {
      case .normal: (x, y)
      case .quarter: (y, height - 1 - x)
      case .half: (width - 1 - x, height - 1 - y)
      case .threeQuarters: (width - 1 - y, x)
      case .flipped: (width - 1 - x, y)
      case .flippedQuarter: (y, x)
      case .flippedHalf: (x, height - 1 - y)
      case .flippedThreeQuarters: (width - 1 - y, height - 1 - x)
      }
    }
  }
}
