/// Names a video that placements show: chosen by the page host, unguessable.
public struct VideoIdentifier: Hashable, Sendable {
  /// The number that stands on the wire.
  public var rawValue: UInt32

  /// The identifier with this number.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Where a page put one video: the element's content box, carried to the surface by an affine map.
///
/// Any values may be given: what makes no picture, such as a size of 0 or a map with a NaN in it, shows nothing.
public struct VideoPlacement: Sendable, Equatable {
  /// How the picture fills the content box (CSS Images Module Level 3, section 5.5, `object-fit`).
  public enum Fit: UInt32, Sendable, CaseIterable {
    /// Stretched to the box.
    case fill
    /// As large as fits, all of it seen.
    case contain
    /// As small as covers the box, the rest cut off.
    case cover
    /// One pixel of the picture for one unit of the box.
    case none
    /// As `none` or as `contain`, whichever is smaller.
    case scaleDown
  }

  /// The radii of a content box's rounded corners, in units of the content box; 0 is a right angle.
  public struct CornerRadii: Sendable, Equatable {
    /// Of the upper left corner.
    public var topLeft: Double
    /// Of the upper right corner.
    public var topRight: Double
    /// Of the lower right corner.
    public var bottomRight: Double
    /// Of the lower left corner.
    public var bottomLeft: Double

    /// Four radii.
    public init(topLeft: Double = 0, topRight: Double = 0, bottomRight: Double = 0, bottomLeft: Double = 0) {
      (self.topLeft, self.topRight, self.bottomRight, self.bottomLeft) = (topLeft, topRight, bottomRight, bottomLeft)
    }

    /// The same radius four times.
    public init(_ radius: Double) { self.init(topLeft: radius, topRight: radius, bottomRight: radius, bottomLeft: radius) }
  }

  /// A rectangle in surface coordinates that nothing of the video is seen outside of.
  public struct ClipRectangle: Sendable, Equatable {
    /// The left edge.
    public var x: Double
    /// The upper edge.
    public var y: Double
    /// From the left edge to the right.
    public var width: Double
    /// From the upper edge to the lower.
    public var height: Double

    /// The rectangle with these edges.
    public init(x: Double, y: Double, width: Double, height: Double) {
      (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }
  }

  /// The video that is seen here.
  public var video: VideoIdentifier
  /// Width of the content box before the map.
  public var width: Double
  /// Height of the content box before the map.
  public var height: Double
  /// Carries the content box, whose upper left corner is the origin, to surface coordinates.
  public var map: AffineMap
  /// How the picture fills the content box.
  public var fit: Fit
  /// Where the picture stands in the box from left to right, 0 to 1 (`object-position`).
  public var positionX: Double
  /// Where the picture stands in the box from top to bottom, 0 to 1 (`object-position`).
  public var positionY: Double
  /// How the content box is rounded.
  public var cornerRadii: CornerRadii
  /// Of picture and background together, 0 to 1.
  public var opacity: Double
  /// What is cut off, in surface coordinates; nil: nothing.
  public var clip: ClipRectangle?
  /// The colour of the content box under the picture: alpha, red, green, blue from the highest byte, premultiplied.
  public var background: UInt32

  /// A placement; without more, the picture is contained in the middle of its box on a transparent background.
  public init(
    video: VideoIdentifier, width: Double, height: Double, map: AffineMap = .identity, fit: Fit = .contain, positionX: Double = 0.5,
    positionY: Double = 0.5, cornerRadii: CornerRadii = CornerRadii(), opacity: Double = 1, clip: ClipRectangle? = nil,
    background: UInt32 = 0
  ) {
    (self.video, self.width, self.height, self.map, self.fit) = (video, width, height, map, fit)
    (self.positionX, self.positionY, self.cornerRadii) = (positionX, positionY, cornerRadii)
    (self.opacity, self.clip, self.background) = (opacity, clip, background)
  }
}
