/// Part of a picture, in whole pixels.
public struct PixelRectangle: Sendable, Equatable {
  public var x: Int
  public var y: Int
  public var width: Int
  public var height: Int

  /// The rectangle from (x, y), `width` wide and `height` high.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  var isEmpty: Bool { width <= 0 || height <= 0 }

  /// The smallest rectangle that holds both.
  func union(_ other: Self) -> Self {
    let left = min(x, other.x)
    let top = min(y, other.y)
    return Self(x: left, y: top, width: max(x + width, other.x + other.width) - left, height: max(y + height, other.y + other.height) - top)
  }

  func contains(_ other: Self) -> Bool {
    x <= other.x && y <= other.y && x + width >= other.x + other.width && y + height >= other.y + other.height
  }
}

/// Which part of a picture has changed: a few rectangles, which may overlap.
public struct Region: Sendable, Equatable {
  /// Above this many one rectangle stands for all: a client's message has to stay short.
  static let limit = 16

  /// The rectangles, none of them empty.
  public private(set) var rectangles: [PixelRectangle] = []

  /// Nothing.
  public init() {}

  /// Whether it holds nothing.
  public var isEmpty: Bool { rectangles.isEmpty }

  /// Adds a rectangle.
  public mutating func add(_ rectangle: PixelRectangle) {
    guard !rectangle.isEmpty, !rectangles.contains(where: { $0.contains(rectangle) }) else { return }
    rectangles.removeAll { rectangle.contains($0) }
    rectangles.append(rectangle)
    if rectangles.count > Self.limit { rectangles = [rectangles.dropFirst().reduce(rectangles[0]) { $0.union($1) }] }
  }

  /// Adds all of another region.
  public mutating func add(_ region: Region) { for rectangle in region.rectangles { add(rectangle) } }

  /// Leaves nothing.
  public mutating func removeAll() { rectangles.removeAll(keepingCapacity: true) }
}
