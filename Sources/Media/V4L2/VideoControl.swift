import CV4L2

/// Something about a device that can be set (`VIDIOC_QUERY_EXT_CTRL`).
public struct VideoControl: Sendable, Equatable {
  /// Which one: a `V4L2_CID_…` number.
  public struct Identifier: RawRepresentable, Sendable, Hashable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    private static func user(_ number: UInt32) -> Identifier { Identifier(rawValue: 0x0098_0900 + number) }
    private static func camera(_ number: UInt32) -> Identifier { Identifier(rawValue: 0x009A_0900 + number) }
    private static func codec(_ number: UInt32) -> Identifier { Identifier(rawValue: 0x0099_0900 + number) }

    public static let brightness = user(0)
    public static let horizontalFlip = user(20)
    /// A menu: off, 50 Hz, 60 Hz, automatic.
    public static let powerLineFrequency = user(24)
    public static let minimumCaptureBuffers = user(39)
    public static let minimumOutputBuffers = user(40)
    /// Whether a longer exposure may lower the frame rate (`V4L2_CID_EXPOSURE_AUTO_PRIORITY`).
    public static let exposureMayLowerRate = camera(3)
    public static let absoluteZoom = camera(13)
    public static let groupSize = codec(203)
    public static let bFrames = codec(202)
    public static let bitrateMode = codec(206)
    public static let bitrate = codec(207)
    public static let headerMode = codec(216)
    public static let repeatsSequenceHeader = codec(226)
    public static let forceKeyFrame = codec(229)
    public static let h264Level = codec(359)
    public static let h264Profile = codec(363)
    public static let h264MinimumQuantizer = codec(353)
    public static let h264MaximumQuantizer = codec(354)
    public static let vp8Profile = codec(511)
  }

  /// What values are (`enum v4l2_ctrl_type`); compound ones are left out.
  public enum Kind: UInt32, Sendable {
    case integer = 1
    case boolean = 2
    case menu = 3
    case button = 4
    case wideInteger = 5
    case bitMask = 8
    case integerMenu = 9
  }

  public var identifier: Identifier
  public var kind: Kind
  /// The driver's English name.
  public var name: String
  public var minimum: Int64
  public var maximum: Int64
  public var step: Int64
  public var defaultValue: Int64
  /// Whether it can be set at all, though perhaps not now.
  public var isWritable: Bool

  /// A control.
  public init(
    _ identifier: Identifier, kind: Kind = .integer, name: String = "", range: ClosedRange<Int64> = 0...1, step: Int64 = 1,
    defaultValue: Int64 = 0, isWritable: Bool = true
  ) {
    (self.identifier, self.kind, self.name, self.step) = (identifier, kind, name, step)
    (minimum, maximum, self.defaultValue, self.isWritable) = (range.lowerBound, range.upperBound, defaultValue, isWritable)
  }

  /// The value at a share of the range, 0 to 1, on a step.
  public func value(atShare share: Double) -> Int64 {
    let steps = Double(maximum - minimum) / Double(max(1, step))
    return minimum + Int64((steps * min(1, max(0, share))).rounded(.toNearestOrEven)) * max(1, step)
  }
}

/// A value for a control.
public struct ControlSetting: Sendable, Equatable {
  public var identifier: VideoControl.Identifier
  public var value: Int64
  /// Whether the control's values have 64 bits (`VideoControl.Kind.wideInteger`).
  public var isWide: Bool

  /// A value for a control.
  public init(_ identifier: VideoControl.Identifier, _ value: Int64, isWide: Bool = false) {
    (self.identifier, self.value, self.isWide) = (identifier, value, isWide)
  }
}

/// An entry of a control's menu.
public struct MenuEntry: Sendable, Equatable {
  /// The control's value that chooses it.
  public var index: Int
  /// What it is called; a menu of integers names none.
  public var name: String
  /// The number in a menu of integers; else 0.
  public var number: Int64

  /// An entry.
  public init(index: Int, name: String = "", number: Int64 = 0) { (self.index, self.name, self.number) = (index, name, number) }
}
