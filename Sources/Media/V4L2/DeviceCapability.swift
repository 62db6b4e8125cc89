import CV4L2

/// What a video device is (`VIDIOC_QUERYCAP`).
public struct DeviceCapability: Sendable, Equatable {
  /// What one node of a device can do.
  public struct Capabilities: OptionSet, Sendable, Hashable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// It gives pictures.
    public static let capture = Capabilities(rawValue: UInt32(V4L2_CAP_VIDEO_CAPTURE))
    /// It gives pictures whose planes lie apart.
    public static let multiplanarCapture = Capabilities(rawValue: UInt32(V4L2_CAP_VIDEO_CAPTURE_MPLANE))
    /// It takes pictures.
    public static let output = Capabilities(rawValue: UInt32(V4L2_CAP_VIDEO_OUTPUT))
    /// It takes pictures whose planes lie apart.
    public static let multiplanarOutput = Capabilities(rawValue: UInt32(V4L2_CAP_VIDEO_OUTPUT_MPLANE))
    /// It takes data and gives data: a codec, a scaler.
    public static let memoryToMemory = Capabilities(rawValue: UInt32(V4L2_CAP_VIDEO_M2M))
    /// The same, with planes that lie apart.
    public static let multiplanarMemoryToMemory = Capabilities(rawValue: UInt32(V4L2_CAP_VIDEO_M2M_MPLANE))
    /// It gives data about pictures, and none.
    public static let metadata = Capabilities(rawValue: UInt32(V4L2_CAP_META_CAPTURE))
    /// It works with queues of buffers.
    public static let streaming = Capabilities(rawValue: UInt32(V4L2_CAP_STREAMING))
  }

  /// The kernel driver's name.
  public var driver: String
  /// What the maker calls the device.
  public var card: String
  /// Where it is plugged in.
  public var bus: String
  /// What this node can do.
  public var capabilities: Capabilities

  /// A description.
  public init(driver: String, card: String, bus: String, capabilities: Capabilities) {
    (self.driver, self.card, self.bus, self.capabilities) = (driver, card, bus, capabilities)
  }

  /// Whether it is a source of pictures: no codec, no metadata, no output.
  public var isCamera: Bool {
    captureType != nil && capabilities.contains(.streaming)
      && capabilities.isDisjoint(with: [.memoryToMemory, .multiplanarMemoryToMemory, .output, .multiplanarOutput])
  }

  /// Whether it is a codec or another converter.
  public var isConverter: Bool {
    capabilities.contains(.streaming)
      && (!capabilities.isDisjoint(with: [.memoryToMemory, .multiplanarMemoryToMemory])
        || captureType != nil && !capabilities.isDisjoint(with: [.output, .multiplanarOutput]))
  }

  /// The queue that pictures, or what a converter makes, come out of; nil: there is none.
  public var captureType: BufferType? {
    if !capabilities.isDisjoint(with: [.multiplanarCapture, .multiplanarMemoryToMemory]) { return .multiplanarCapture }
    return capabilities.isDisjoint(with: [.capture, .memoryToMemory]) ? nil : .capture
  }

  /// The queue that takes what a converter reads; nil: there is none.
  public var outputType: BufferType? {
    if !capabilities.isDisjoint(with: [.multiplanarOutput, .multiplanarMemoryToMemory]) { return .multiplanarOutput }
    return capabilities.isDisjoint(with: [.output, .memoryToMemory]) ? nil : .output
  }
}
