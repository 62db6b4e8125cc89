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

  /// Whether there is no pixel in it.
  var isEmpty: Bool { width <= 0 || height <= 0 }

  /// Pixels in it.
  var area: Int { isEmpty ? 0 : width * height }

  /// The pixels that are in both; none when they share none.
  func intersection(_ other: Rectangle) -> Rectangle {
    let (left, top) = (max(x, other.x), max(y, other.y))
    let (right, bottom) = (min(x + width, other.x + other.width), min(y + height, other.y + other.height))
    return Rectangle(x: left, y: top, width: max(0, right - left), height: max(0, bottom - top))
  }

  /// The smallest rectangle around both, neither of them empty.
  func union(_ other: Rectangle) -> Rectangle {
    let (left, top) = (min(x, other.x), min(y, other.y))
    let (right, bottom) = (max(x + width, other.x + other.width), max(y + height, other.y + other.height))
    return Rectangle(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// What is left without `other`: up to four rectangles that share no pixel.
  func subtracting(_ other: Rectangle, _ body: (Rectangle) -> Void) {
    let hole = intersection(other)
    if hole.isEmpty { return isEmpty ? () : body(self) }
    if hole.y > y { body(Rectangle(x: x, y: y, width: width, height: hole.y - y)) }
    let (right, bottom) = (hole.x + hole.width, hole.y + hole.height)
    if hole.x > x { body(Rectangle(x: x, y: hole.y, width: hole.x - x, height: hole.height)) }
    if right < x + width { body(Rectangle(x: right, y: hole.y, width: x + width - right, height: hole.height)) }
    if bottom < y + height { body(Rectangle(x: x, y: bottom, width: width, height: y + height - bottom)) }
  }
}
