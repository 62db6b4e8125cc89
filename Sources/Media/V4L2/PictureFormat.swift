/// How pictures or coded data lie in a queue's buffers (`struct v4l2_format`).
public struct PictureFormat: Sendable, Equatable {
  /// One plane of memory. A format may keep several colour planes in one.
  public struct Plane: Sendable, Equatable {
    /// Bytes from one row of the first colour plane to the next; 0 for coded data.
    public var stride: Int
    /// Bytes of a buffer.
    public var size: Int

    /// A plane. Asking for a format, 0 leaves the choice to the driver.
    public init(stride: Int = 0, size: Int = 0) { (self.stride, self.size) = (stride, size) }
  }

  /// How luma and chroma come out of red, green and blue.
  public enum Matrix: Sendable, Equatable { case bt601, bt709, bt2020 }

  /// Numbers of the kernel's `enum v4l2_colorspace`, `v4l2_ycbcr_encoding`, `v4l2_quantization` and `v4l2_xfer_func`; 0: by default.
  public struct Colors: Sendable, Equatable {
    public var space: UInt32
    public var encoding: UInt32
    public var quantization: UInt32
    public var transfer: UInt32

    /// Colours as numbers of the kernel.
    public init(space: UInt32 = 0, encoding: UInt32 = 0, quantization: UInt32 = 0, transfer: UInt32 = 0) {
      (self.space, self.encoding, self.quantization, self.transfer) = (space, encoding, quantization, transfer)
    }

    /// BT.601 in the limited range, as pictures are inside Parlor (`V4L2_COLORSPACE_SMPTE170M`).
    public static let bt601 = Colors(space: 1, encoding: 1, quantization: 2, transfer: 1)
  }

  /// What is in a buffer.
  public var pixelFormat: FourCC
  /// In pixels, with the driver's padding.
  public var width: Int
  /// In rows, with the driver's padding.
  public var height: Int
  /// One for each plane of memory, at most eight.
  public var planes: [Plane]
  /// How colours are coded.
  public var colors: Colors
  /// The kernel's `enum v4l2_field`; 1: whole pictures, 0: any.
  public var field: UInt32

  /// A format. Without `planes` the driver lays out one.
  public init(
    pixelFormat: FourCC, width: Int, height: Int, planes: [Plane] = [Plane()], colors: Colors = Colors(), field: UInt32 = 1
  ) {
    (self.pixelFormat, self.width, self.height) = (pixelFormat, width, height)
    (self.planes, self.colors, self.field) = (planes, colors, field)
  }

  /// Whether luma goes from 0 to 255. JPEG pictures do by their own standard (JFIF), whatever the driver says.
  public var isFullRange: Bool {
    if pixelFormat == .mjpeg || pixelFormat == .jpeg { return true }
    // V4L2_QUANTIZATION_DEFAULT of luma and chroma is limited, but for V4L2_COLORSPACE_JPEG.
    return colors.quantization == 1 || colors.quantization == 0 && colors.space == 7
  }

  /// How colours are coded, with the defaults of the kernel's `V4L2_MAP_YCBCR_ENC_DEFAULT`.
  public var matrix: Matrix {
    switch (colors.encoding, colors.space) {
    case (2, _), (4, _), (0, 3), (0, 12): .bt709  // Rec. 709, DCI-P3
    case (6, _), (7, _), (0, 10): .bt2020
    default: .bt601
    }
  }
}

/// A format that a queue offers (`VIDIOC_ENUM_FMT`).
public struct FormatOffer: Sendable, Equatable {
  /// The format.
  public var pixelFormat: FourCC
  /// Whether buffers hold coded data.
  public var isCompressed: Bool
  /// Whether a library, not the device, makes it.
  public var isEmulated: Bool

  /// An offer.
  public init(_ pixelFormat: FourCC, isCompressed: Bool = false, isEmulated: Bool = false) {
    (self.pixelFormat, self.isCompressed, self.isEmulated) = (pixelFormat, isCompressed, isEmulated)
  }
}

/// Sizes that a format comes in: one, or all from the least to the greatest in steps (`VIDIOC_ENUM_FRAMESIZES`).
public struct SizeOffer: Sendable, Equatable {
  public var width: ClosedRange<Int>
  public var height: ClosedRange<Int>
  public var widthStep: Int
  public var heightStep: Int

  /// One size.
  public init(width: Int, height: Int) {
    (self.width, self.height, widthStep, heightStep) = (width...width, height...height, 1, 1)
  }

  /// Sizes in steps.
  public init(width: ClosedRange<Int>, widthStep: Int, height: ClosedRange<Int>, heightStep: Int) {
    (self.width, self.height, self.widthStep, self.heightStep) = (width, height, max(1, widthStep), max(1, heightStep))
  }
}

/// The time from one picture to the next as a fraction of a second.
public struct FrameInterval: Sendable, Equatable {
  public var numerator: UInt32
  public var denominator: UInt32

  /// A fraction of a second.
  public init(numerator: UInt32, denominator: UInt32) { (self.numerator, self.denominator) = (numerator, denominator) }

  /// The interval of so many pictures a second, which must be positive.
  public init(framesPerSecond: Double) {
    // 29.97 and its like are thousands over 1001.
    let whole = framesPerSecond.rounded()
    let isWhole = abs(framesPerSecond - whole) < 0.005
    (numerator, denominator) = isWhole ? (1, UInt32(whole)) : (1_001, UInt32((framesPerSecond * 1_001).rounded()))
  }

  /// Pictures a second; 0 when the driver says none.
  public var framesPerSecond: Double { numerator == 0 ? 0 : Double(denominator) / Double(numerator) }
}

/// Intervals that a size comes at: one, or all in between (`VIDIOC_ENUM_FRAMEINTERVALS`).
public struct IntervalOffer: Sendable, Equatable {
  public var shortest: FrameInterval
  public var longest: FrameInterval

  /// Intervals from the shortest to the longest.
  public init(shortest: FrameInterval, longest: FrameInterval) { (self.shortest, self.longest) = (shortest, longest) }
  /// One interval.
  public init(_ interval: FrameInterval) { self.init(shortest: interval, longest: interval) }
}
