import Base
import CV4L2

/// One of a device's queues, by direction as the kernel sees it and by whether planes lie apart (`enum v4l2_buf_type`).
public enum BufferType: UInt32, Sendable, Hashable {
  /// What the device gives: pictures of a camera, what a codec makes.
  case capture = 1
  /// What the device takes: what a codec reads.
  case output = 2
  case multiplanarCapture = 9
  case multiplanarOutput = 10

  /// Whether planes lie apart.
  public var isMultiplanar: Bool { self == .multiplanarCapture || self == .multiplanarOutput }
  /// Whether the device writes into its buffers.
  public var isCapture: Bool { self == .capture || self == .multiplanarCapture }
}

/// Whose memory the buffers of a queue are (`enum v4l2_memory`).
public enum BufferMemory: UInt32, Sendable, Hashable {
  /// The driver's, mapped into the process.
  case mapped = 1
  /// Another device's (DMA-BUF), named anew each time a buffer is queued.
  case dmaBuffer = 4
}

/// A buffer on its way into a queue or out of it (`struct v4l2_buffer`). A value without memory of its own.
public struct QueueBuffer: Sendable {
  /// More planes of memory than any format of the kernel has.
  public static let planeLimit = 4

  /// A plane of memory.
  public struct Plane: Sendable {
    /// Bytes that hold data, counted from the plane's start, `offset` included.
    public var byteCount = 0
    /// Bytes of memory.
    public var length = 0
    /// Where data begins; 0 for most.
    public var offset = 0
    /// DMA-BUF: the memory.
    public var descriptor: Int32 = -1
    /// Mapped: what `VideoDevice.map` takes.
    public var mappingOffset = 0

    /// A plane without data.
    public init() {}
  }

  /// What the driver or the application says of a buffer (`V4L2_BUF_FLAG_…`).
  public struct Flags: OptionSet, Sendable, Hashable {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Data is damaged.
    public static let error = Flags(rawValue: UInt32(V4L2_BUF_FLAG_ERROR))
    /// Coded data that stands alone.
    public static let keyFrame = Flags(rawValue: UInt32(V4L2_BUF_FLAG_KEYFRAME))
    /// A codec gives no more after this one.
    public static let last = Flags(rawValue: UInt32(V4L2_BUF_FLAG_LAST))
    /// The time is of `CLOCK_MONOTONIC`.
    public static let monotonic = Flags(rawValue: UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC))
    /// The time is that at which the picture began; without, it is that at which the picture was whole. (`V4L2_BUF_FLAG_TSTAMP_SRC_SOE`)
    public static let startOfExposure = Flags(rawValue: 0x0001_0000)
    /// The time is that of the buffer it was made from.
    public static let copiedTime = Flags(rawValue: UInt32(V4L2_BUF_FLAG_TIMESTAMP_COPY))
  }

  /// Which buffer of the queue.
  public var index: Int
  public var flags: Flags = []
  /// When the picture was taken, or what a codec copies from what it reads to what it makes. Whole microseconds.
  public var time = Instant.zero
  /// Counts pictures, those included that were dropped.
  public var sequence: UInt32 = 0
  /// How many of `planes` count.
  public var planeCount = 1
  public var planes: InlineArray<4, Plane> = .init(repeating: Plane())

  /// Buffer number `index` without data.
  public init(index: Int) { self.index = index }
}
