/// An affine map of the plane, its letters as in CSS's `matrix()`: x' = a x + c y + e and y' = b x + d y + f.
public struct AffineMap: Sendable, Equatable {
  /// What of x goes into x'.
  public var a: Double
  /// What of x goes into y'.
  public var b: Double
  /// What of y goes into x'.
  public var c: Double
  /// What of y goes into y'.
  public var d: Double
  /// Added to x'.
  public var e: Double
  /// Added to y'.
  public var f: Double

  /// The map with these six numbers.
  public init(a: Double, b: Double, c: Double, d: Double, e: Double, f: Double) {
    (self.a, self.b, self.c, self.d, self.e, self.f) = (a, b, c, d, e, f)
  }

  /// Leaves every point where it is.
  public static let identity = AffineMap(a: 1, b: 0, c: 0, d: 1, e: 0, f: 0)

  /// Moves every point.
  public static func translation(x: Double, y: Double) -> AffineMap { AffineMap(a: 1, b: 0, c: 0, d: 1, e: x, f: y) }

  /// Where the point (`x`, `y`) goes.
  public func apply(x: Double, y: Double) -> (x: Double, y: Double) { (a * x + c * y + e, b * x + d * y + f) }

  /// This map, and `next` after it.
  public func followed(by next: AffineMap) -> AffineMap {
    AffineMap(
      a: next.a * a + next.c * b, b: next.b * a + next.d * b, c: next.a * c + next.c * d, d: next.b * c + next.d * d,
      e: next.a * e + next.c * f + next.e, f: next.b * e + next.d * f + next.f)
  }

  /// Whether all six are numbers.
  public var isFinite: Bool { a.isFinite && b.isFinite && c.isFinite && d.isFinite && e.isFinite && f.isFinite }
}
