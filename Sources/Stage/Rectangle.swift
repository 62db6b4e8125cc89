/// A rectangle of whole pixels; the origin is the picture's upper left corner.
public struct Rectangle: Sendable, Hashable {
  /// The left edge.
  public var x: Int
  /// The upper edge.
  public var y: Int
  /// Pixels from left to right.
  public var width: Int
  /// Pixels from top to bottom.
  public var height: Int

  /// The rectangle with these edges.
  public init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// Whether the pixel at (`x`, `y`) lies inside.
  public func contains(x: Int, y: Int) -> Bool {
    x >= self.x && x < self.x + width && y >= self.y && y < self.y + height
  }

  /// Whether `other` lies inside completely.
  public func contains(_ other: Rectangle) -> Bool {
    other.x >= x && other.y >= y && other.x + other.width <= x + width && other.y + other.height <= y + height
  }

  /// Whether the two share a pixel.
  public func overlaps(_ other: Rectangle) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }
}
