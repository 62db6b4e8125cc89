/// Where the videos of a view stand, ready for the compositor: bottom first, in pixels of the view.
struct Placements: Equatable {
  /// The most that the compositor takes.
  static let limit = 256

  var videos: [VideoPlace] = []
  /// 0xFFRRGGBB: what lies under everything; nil for nothing.
  var canvas: UInt32?
}

/// Where one video stands.
struct VideoPlace: Equatable {
  var video: UInt32
  /// The content box before the map.
  var width: Double
  var height: Double
  var map: AffineMap
  var fit: Fit
  /// `object-position` as fractions of the free room.
  var positionX: Double
  var positionY: Double
  /// Top left, top right, bottom right, bottom left, in units of the content box.
  var radii: [Double]
  var opacity: Double
  var clip: ClipBox?
  /// 0xAARRGGBB, premultiplied: what fills the box under the picture.
  var background: UInt32

  /// CSS `object-fit`, numbered as in parlor_video_v1.
  enum Fit: String, Decodable {
    case fill
    case contain
    case cover
    case none
    case scaleDown = "scale-down"

    var number: UInt32 {
      switch self {
      case .fill: 0
      case .contain: 1
      case .cover: 2
      case .none: 3
      case .scaleDown: 4
      }
    }
  }
}

/// A rectangle that cuts off what lies outside of it.
struct ClipBox: Equatable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double

  /// What lies in both; empty where they do not meet.
  func intersection(_ other: Self) -> Self {
    let left = max(x, other.x)
    let top = max(y, other.y)
    return Self(
      x: left, y: top, width: max(0, min(x + width, other.x + other.width) - left),
      height: max(0, min(y + height, other.y + other.height) - top))
  }
}

/// x' = a x + c y + e and y' = b x + d y + f, as CSS `matrix(a, b, c, d, e, f)`.
struct AffineMap: Equatable {
  var a: Double
  var b: Double
  var c: Double
  var d: Double
  var e: Double
  var f: Double

  static let identity = Self(a: 1, b: 0, c: 0, d: 1, e: 0, f: 0)

  /// First `inner`, then this map.
  func composed(with inner: Self) -> Self {
    Self(
      a: a * inner.a + c * inner.b, b: b * inner.a + d * inner.b, c: a * inner.c + c * inner.d, d: b * inner.c + d * inner.d,
      e: a * inner.e + c * inner.f + e, f: b * inner.e + d * inner.f + f)
  }

  func callAsFunction(_ x: Double, _ y: Double) -> (x: Double, y: Double) { (a * x + c * y + e, b * x + d * y + f) }

  /// The smallest upright rectangle around what becomes of `box`.
  func bounds(of box: ClipBox) -> ClipBox {
    let corners = [
      self(box.x, box.y), self(box.x + box.width, box.y), self(box.x, box.y + box.height), self(box.x + box.width, box.y + box.height),
    ]
    let (left, right) = (corners.map(\.x).min()!, corners.map(\.x).max()!)
    let (top, bottom) = (corners.map(\.y).min()!, corners.map(\.y).max()!)
    return ClipBox(x: left, y: top, width: right - left, height: bottom - top)
  }
}
