import Base

/// The calls to a kernel driver that a camera, an encoder or a decoder is made of (Linux, userspace-api/media/v4l).
///
/// All of them return at once, as far as the driver does. A device is used by one thread at a time.
public protocol VideoDevice: AnyObject {
  /// What people and logs call it: its device node.
  var name: String { get }
  /// Readable when a buffer or an event can be taken.
  var descriptor: Int32 { get }
  /// Waits until one of `wanted` is the case, `timeout` at most, and returns what is; nothing when the time is up.
  func wait(for wanted: Readiness, timeout: Interval) throws(V4L2Error) -> Readiness

  /// What the device is.
  func capability() throws(V4L2Error) -> DeviceCapability
  /// Formats that a queue offers, in the driver's order.
  func formats(of type: BufferType) throws(V4L2Error) -> [FormatOffer]
  /// Sizes that a format comes in; none when the driver does not say.
  func sizes(of format: FourCC) throws(V4L2Error) -> [SizeOffer]
  /// Frame intervals of a size; none when the driver does not say.
  func intervals(of format: FourCC, width: Int, height: Int) throws(V4L2Error) -> [IntervalOffer]
  /// The format of a queue.
  func format(of type: BufferType) throws(V4L2Error) -> PictureFormat
  /// Sets the format of a queue that has no buffers, and returns what came of it.
  func setFormat(_ format: PictureFormat, of type: BufferType) throws(V4L2Error) -> PictureFormat
  /// What would come of `setFormat`.
  func tryFormat(_ format: PictureFormat, of type: BufferType) throws(V4L2Error) -> PictureFormat
  /// Sets the time from picture to picture, and returns what came of it.
  func setInterval(_ interval: FrameInterval, of type: BufferType) throws(V4L2Error) -> FrameInterval
  /// The time from picture to picture.
  func interval(of type: BufferType) throws(V4L2Error) -> FrameInterval

  /// Makes `count` buffers, and returns how many there are; 0 gives all back.
  func requestBuffers(_ count: Int, memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> Int
  /// What buffer number `index` is like.
  func buffer(_ index: Int, memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> QueueBuffer
  /// Maps a plane into the process.
  func map(_ plane: QueueBuffer.Plane) throws(V4L2Error) -> UnsafeMutableRawBufferPointer
  /// Ends a mapping.
  func unmap(_ memory: UnsafeMutableRawBufferPointer)
  /// Hands a buffer to the driver.
  func enqueue(_ buffer: QueueBuffer, memory: BufferMemory, of type: BufferType) throws(V4L2Error)
  /// Takes the next buffer that the driver is done with; nil: there is none yet. An error whose `isDrained` is set: there will be none.
  func dequeue(memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> QueueBuffer?
  /// A descriptor of a mapped buffer's plane for other devices (DMA-BUF), which the caller closes.
  func export(_ index: Int, plane: Int, of type: BufferType) throws(V4L2Error) -> Int32
  /// Starts a queue.
  func startStreaming(_ type: BufferType) throws(V4L2Error)
  /// Stops a queue; the driver holds none of its buffers from then on.
  func stopStreaming(_ type: BufferType) throws(V4L2Error)

  /// A control's description; nil: the device has none like it.
  func control(_ identifier: VideoControl.Identifier) -> VideoControl?
  /// All controls whose values are numbers.
  func controls() -> [VideoControl]
  /// The entries of a menu that can be chosen.
  func menu(of control: VideoControl) -> [MenuEntry]
  /// The value of a control.
  func value(of control: VideoControl) throws(V4L2Error) -> Int64
  /// Sets controls, at most 16: all or none, as far as the driver can.
  func set(_ settings: [ControlSetting]) throws(V4L2Error)

  /// Has the device tell of events from now on.
  func subscribe(to kind: VideoEvent.Kind, control: VideoControl.Identifier?) throws(V4L2Error)
  /// The next event; nil: there is none.
  func nextEvent() throws(V4L2Error) -> VideoEvent?
  /// Who gives way to whom.
  func setPriority(_ priority: DevicePriority) throws(V4L2Error)
  /// A part of the pictures of a queue.
  func selection(_ target: Selection.Target, of type: BufferType) throws(V4L2Error) -> Selection
  /// Sets a part of the pictures of a queue, and returns what came of it.
  func setSelection(_ selection: Selection, _ target: Selection.Target, of type: BufferType) throws(V4L2Error) -> Selection
  /// Tells an encoder to go on or to come to an end.
  func tellEncoder(_ command: CodecCommand) throws(V4L2Error)
  /// Tells a decoder to go on or to come to an end.
  func tellDecoder(_ command: CodecCommand) throws(V4L2Error)

  /// The input that pictures come from; nil: the device knows no inputs.
  func input() -> VideoInput?
  /// Takes over the timings of the signal that is there (`VideoInput.hasTimings`).
  func adoptTimings() throws(V4L2Error)
}

/// What a device is ready for.
public struct Readiness: OptionSet, Sendable, Hashable {
  public var rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A buffer of the capture queue can be taken.
  public static let capture = Readiness(rawValue: 1)
  /// A buffer of the output queue can be taken.
  public static let output = Readiness(rawValue: 2)
  /// An event can be taken.
  public static let event = Readiness(rawValue: 4)
  /// The device is gone, or a queue that was asked about does not run.
  public static let error = Readiness(rawValue: 8)
}
