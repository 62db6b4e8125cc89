import V4L2

/// A way to have a camera take pictures.
public struct CaptureMode: Sendable, Equatable {
  public var pixelFormat: FourCC
  /// In pixels.
  public var width: Int
  /// In pixels.
  public var height: Int
  /// Pictures a second; 0: the driver does not say.
  public var framesPerSecond: Double

  /// A mode.
  public init(_ pixelFormat: FourCC, width: Int, height: Int, framesPerSecond: Double) {
    (self.pixelFormat, self.width, self.height, self.framesPerSecond) = (pixelFormat, width, height, framesPerSecond)
  }
}

/// A size of a format and the intervals it comes at.
public struct CaptureOffer: Sendable, Equatable {
  public var pixelFormat: FourCC
  public var size: SizeOffer
  /// None: the driver does not say.
  public var intervals: [IntervalOffer]

  /// An offer.
  public init(_ pixelFormat: FourCC, size: SizeOffer, intervals: [IntervalOffer]) {
    (self.pixelFormat, self.size, self.intervals) = (pixelFormat, size, intervals)
  }
}

/// Which of a camera's modes is to be tried first, second, and so on.
///
/// In this order: modes of at least three quarters of the wanted rate before slower ones; the size that is nearest, a larger one rather than a
/// smaller one; modes that hold the wanted rate in full; then by format: H.264 if it may be used, and then in the wanted size and rate alone unless
/// there is nothing else; NV12 and YUYV (what the bus carries as it is needs no decoding), YU12, UYVY, then MJPEG, then what libv4lconvert knows;
/// then the rate that is nearest. What the bus has no room for after all is refused by the driver, and the next one is tried.
public struct FormatChoice: Sendable {
  /// Wanted width in pixels.
  public var width: Int
  /// Wanted height in pixels.
  public var height: Int
  /// Wanted pictures a second.
  public var framesPerSecond: Double
  /// Whether H.264 that the camera codes itself may be used: where it comes in the wanted size and at the wanted rate, or there is nothing else.
  public var takesH264 = false

  /// What is wanted.
  public init(width: Int, height: Int, framesPerSecond: Double) {
    (self.width, self.height, self.framesPerSecond) = (max(1, width), max(1, height), max(1, framesPerSecond))
  }

  /// Formats that are converted here, best first.
  static let order: [FourCC] = [.nv12, nv12Apart, .yuyv, .yuv420, yuv420Apart, .uyvy, .mjpeg, .jpeg]
  static let nv12Apart = FourCC("NM12")
  static let yuv420Apart = FourCC("YM12")

  /// Formats that libv4lconvert makes something of, best first.
  static let others: [FourCC] = [
    FourCC("YV12"), FourCC("YVYU"), FourCC("NV21"), FourCC("NV16"), FourCC("RGB3"), FourCC("BGR3"), FourCC("BGR4"), FourCC("RGB4"),
    FourCC("RGBP"), FourCC("PJPG"), FourCC("BA81"), FourCC("GBRG"), FourCC("GRBG"), FourCC("RGGB"), FourCC("GREY"), FourCC("S561"),
    FourCC("P207"), FourCC("910A"), FourCC("905C"),
  ]

  private static func rank(_ format: FourCC) -> Int? {
    order.firstIndex(of: format) ?? others.firstIndex(of: format).map { order.count + $0 }
  }

  /// Whether pictures of this format can be used.
  public static func accepts(_ format: FourCC) -> Bool { rank(format) != nil }

  /// Whether a mode is what is wanted as it comes: H.264 in another size would have to be decoded for everybody.
  private func isExact(_ mode: CaptureMode) -> Bool {
    (mode.width, mode.height) == (width, height) && (mode.framesPerSecond == 0 || mode.framesPerSecond >= framesPerSecond * 0.95)
  }

  /// The modes of `offers`, best first.
  public func ranked(_ offers: [CaptureOffer]) -> [CaptureMode] {
    let usable = offers.map(mode).filter { FormatChoice.accepts($0.pixelFormat) || $0.pixelFormat == .h264 && takesH264 }
    let hasOthers = usable.contains { $0.pixelFormat != .h264 }
    let modes = usable.filter { $0.pixelFormat != .h264 || !hasOthers || isExact($0) }
    let keyed = modes.enumerated().map { (mode: $1, key: key($1), index: $0) }
    return keyed.sorted { a, b in
      for (x, y) in zip(a.key, b.key) where x != y { return x < y }
      return a.index < b.index
    }.map(\.mode)
  }

  /// The size and rate of an offer that come nearest to what is wanted.
  fileprivate func mode(_ offer: CaptureOffer) -> CaptureMode {
    func nearest(_ wanted: Int, _ range: ClosedRange<Int>, _ step: Int) -> Int {
      let clamped = min(max(wanted, range.lowerBound), range.upperBound)
      // Rather a step more than one less.
      let steps = (clamped - range.lowerBound + step - 1) / step
      return min(range.lowerBound + steps * step, range.lowerBound + (range.upperBound - range.lowerBound) / step * step)
    }
    let rates = offer.intervals.map { interval in
      let (slow, fast) = (interval.longest.framesPerSecond, interval.shortest.framesPerSecond)
      return min(max(framesPerSecond, slow), max(slow, fast))
    }
    let rate = rates.min { rateDistance($0) < rateDistance($1) }
    return CaptureMode(
      offer.pixelFormat, width: nearest(width, offer.size.width, offer.size.widthStep),
      height: nearest(height, offer.size.height, offer.size.heightStep), framesPerSecond: rate ?? 0)
  }

  /// What is too slow is worse than what is too fast.
  private func rateDistance(_ rate: Double) -> Double {
    let ratio = rate / framesPerSecond
    return ratio >= 0.999 ? ratio - 1 : (1 - ratio) * 100
  }

  private func key(_ mode: CaptureMode) -> [Double] {
    // A driver that says no rate is believed to hold it.
    let ratio = mode.framesPerSecond > 0 ? mode.framesPerSecond / framesPerSecond : 1
    return [
      ratio >= 0.75 ? 0 : ratio >= 0.4 ? 1 : 2, sizeDistance(mode), ratio >= 0.95 ? 0 : 1,
      mode.pixelFormat == .h264 ? -1 : Double(FormatChoice.rank(mode.pixelFormat) ?? .max), rateDistance(ratio * framesPerSecond),
    ]
  }

  /// How far a size is from what is wanted: by area, where less counts double, and by shape. Each is a ratio of at least 1.
  private func sizeDistance(_ mode: CaptureMode) -> Double {
    let area = Double(mode.width * mode.height) / Double(width * height)
    let shape = Double(mode.width * height) / Double(mode.height * width)
    return (area >= 1 ? area : 1 / (area * area)) * max(shape, 1 / shape)
  }
}

extension CaptureOffer {
  /// Everything that a camera offers in formats that can be used. A driver that lists no sizes is asked for the wanted one.
  static func all(of device: any VideoDevice, type: BufferType, wanted: FormatChoice) throws(V4L2Error) -> [CaptureOffer] {
    var offers: [CaptureOffer] = []
    for format in try device.formats(of: type) where !format.isEmulated {
      guard FormatChoice.accepts(format.pixelFormat) || format.pixelFormat == .h264 && wanted.takesH264 else { continue }
      let sizes = try device.sizes(of: format.pixelFormat)
      for size in sizes.isEmpty ? [SizeOffer(width: wanted.width, height: wanted.height)] : sizes {
        // Intervals depend on the size: they are asked for at the one that would be used.
        let mode = wanted.mode(CaptureOffer(format.pixelFormat, size: size, intervals: []))
        let intervals = try device.intervals(of: format.pixelFormat, width: mode.width, height: mode.height)
        offers.append(CaptureOffer(format.pixelFormat, size: SizeOffer(width: mode.width, height: mode.height), intervals: intervals))
      }
    }
    return offers
  }
}
