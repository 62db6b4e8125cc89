/// What one plane of a card can do, as its properties say.
struct PlaneOffer: Hashable, Sendable {
  /// What a plane is for (its `type` property).
  enum Kind: Int, Hashable, Sendable {
    case overlay = 0
    case primary = 1
    case cursor = 2
  }

  /// Where a plane can stand among the others of its CRTC (its `zpos` property); higher is nearer to the viewer.
  struct StackingRange: Hashable, Sendable {
    /// The values it can have; a single one when it is fixed.
    var range: ClosedRange<UInt64>
    /// Whether the driver refuses to change it.
    var isImmutable = false
  }

  /// How a plane's pixels can be laid over those below (its `pixel blend mode` property).
  struct BlendModes: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    static let premultiplied = BlendModes(rawValue: 1)
    static let coverage = BlendModes(rawValue: 2)
    static let none = BlendModes(rawValue: 4)
  }

  /// The kernel's number for it.
  var id: UInt32
  /// What it is for.
  var kind: Kind
  /// Which CRTCs it can belong to: bit n for the nth of the card.
  var possibleCRTCs: UInt32
  /// What it can show.
  var formats: [FormatOffer]
  /// Where it can stand; nil: the driver does not say.
  var stacking: StackingRange? = nil
  /// How it can turn what it shows; `upright` alone where it has no such property.
  var rotations: PlaneRotation = .upright
  /// Whether it has an `alpha` property, the opacity of the whole plane.
  var hasOpacity = false
  /// How it can blend; empty: the driver does not say, which means premultiplied.
  var blendModes: BlendModes = []
  /// The matrices it converts luma and chroma with; empty: the driver does not say.
  var colorEncodings: Set<ColorEncoding> = []
  /// The ranges of luma and chroma that it takes; empty: the driver does not say.
  var colorRanges: Set<ColorRange> = []

  /// Whether it takes the format in the given layout.
  func takes(_ format: PixelFormat, modifier: UInt64 = FormatOffer.linear) -> Bool {
    formats.contains { $0.format == format && $0.modifiers.contains(modifier) }
  }
}

/// Which matrix turns luma and chroma to colours (a plane's `COLOR_ENCODING`).
enum ColorEncoding: String, Hashable, Sendable {
  case bt601 = "ITU-R BT.601 YCbCr"
  case bt709 = "ITU-R BT.709 YCbCr"
  case bt2020 = "ITU-R BT.2020 YCbCr"
}

/// Which values luma and chroma have (a plane's `COLOR_RANGE`).
enum ColorRange: String, Hashable, Sendable {
  case limited = "YCbCr limited range"
  case full = "YCbCr full range"
}
