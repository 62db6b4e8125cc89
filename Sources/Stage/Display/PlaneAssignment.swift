import Frames

/// What a plane shows.
enum PlaneContent: Hashable, Sendable {
  /// The whole picture, opaque, composed as without planes. What lies under the named videos is never seen, since planes above show them.
  case composed(without: Set<VideoIdentifier>)
  /// What lies under the page, opaque: the ground, the videos of `with`, and of those of `backgrounds`, which planes above show, what their
  /// boxes show beside the picture.
  case under(with: Set<VideoIdentifier>, backgrounds: Set<VideoIdentifier>)
  /// The page and what the stage lays over it, transparent elsewhere: painted onto nothing from bottom to top, where the videos of `with` are
  /// painted below the page's pixels, and the seen pictures of those of `holes`, which planes below show, make their places transparent again.
  case page(with: Set<VideoIdentifier>, holes: Set<VideoIdentifier>)
  /// A frame of one video, without its background.
  case video(VideoIdentifier)
  /// Black, opaque.
  case black
}

/// One plane of a commit: what it shows, and how.
struct PlaneAssignment: Hashable, Sendable {
  /// A part of a buffer in 65,536ths of a pixel, as the `SRC_…` properties have it.
  struct Source: Hashable, Sendable {
    /// The left edge.
    var x: UInt32
    /// The upper edge.
    var y: UInt32
    /// From left to right.
    var width: UInt32
    /// From top to bottom.
    var height: UInt32

    /// Whole pixels.
    init(_ rectangle: Rectangle) {
      (x, y) = (UInt32(rectangle.x) << 16, UInt32(rectangle.y) << 16)
      (width, height) = (UInt32(rectangle.width) << 16, UInt32(rectangle.height) << 16)
    }

    /// From edges in pixels, rounded.
    init(x: Double, y: Double, width: Double, height: Double) {
      func fixed(_ value: Double) -> UInt32 { UInt32((max(0, value) * 65_536).rounded()) }
      (self.x, self.y, self.width, self.height) = (fixed(x), fixed(y), fixed(width), fixed(height))
    }
  }

  /// The plane.
  var plane: UInt32
  /// What it shows.
  var content: PlaneContent
  /// The format of its buffer.
  var format: PixelFormat
  /// The layout of its buffer.
  var modifier: UInt64 = FormatOffer.linear
  /// Width of its buffer in pixels.
  var bufferWidth: Int
  /// Height of its buffer in pixels.
  var bufferHeight: Int
  /// The part of the buffer that is shown.
  var source: Source
  /// Where it is shown, in pixels of the mode.
  var destination: Rectangle
  /// The `zpos` to set; nil: it is not to be set.
  var stacking: UInt64? = nil
  /// The `rotation` to set, where the plane has the property; it is `upright` when the buffer is as the monitor shows it.
  var rotation: PlaneRotation = .upright
  /// How far composition turns what it paints into the buffer, because the plane does not.
  var composedTurn: VideoFrame.Rotation = .none
  /// The `COLOR_ENCODING` and `COLOR_RANGE` to set; nil: they are not to be set.
  var colorEncoding: ColorEncoding? = nil
  var colorRange: ColorRange? = nil

  /// Whether it shows frames of one video alone.
  var isVideo: Bool { if case .video = content { true } else { false } }
}

/// A way to show a scene: planes from bottom to top. All other planes of the CRTC are switched off.
struct PlaneLayout: Hashable, Sendable {
  /// From bottom to top.
  var planes: [PlaneAssignment]
}
