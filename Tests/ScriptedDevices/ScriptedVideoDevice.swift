import Base
import CLinux
import Glibc
import Synchronization
import V4L2

/// A video device without a driver: it offers what a test says, gives pictures when a test says so, and fails as a test says.
///
/// A test may use it while another thread does.
public final class ScriptedVideoDevice: VideoDevice, @unchecked Sendable {
  // Unchecked: all that changes is behind the mutex.

  /// A size at rates that a format comes in.
  public struct Mode: Sendable {
    public var format: FourCC
    public var width: Int
    public var height: Int
    public var rates: [Double]

    public init(_ format: FourCC, _ width: Int, _ height: Int, _ rates: [Double] = [30]) {
      (self.format, self.width, self.height, self.rates) = (format, width, height, rates)
    }
  }

  /// One direction's buffers.
  struct Queue {
    var format: PictureFormat?
    var interval = FrameInterval(numerator: 1, denominator: 30)
    var memory: [Int32] = []  // one descriptor for each buffer and plane
    var lengths: [Int] = []
    var limit: Int?
    /// With the driver, in order.
    var waiting: [QueueBuffer] = []
    /// To be taken.
    var done: [QueueBuffer] = []
    var isStreaming = false
    var sequence: UInt32 = 0
  }

  struct State {
    var capability: DeviceCapability
    var modes: [BufferType: [Mode]] = [:]
    var queues: [BufferType: Queue] = [:]
    var failures: [String: (code: Int32, count: Int)] = [:]
    var calls: [String] = []
    var controls: [VideoControl.Identifier: (control: VideoControl, value: Int64, menu: [MenuEntry])] = [:]
    var events: [VideoEvent] = []
    var isGone = false
    var input: VideoInput?
    var selections: [Selection.Target: Selection] = [:]
    var hanging: Set<String> = []
  }

  public let name: String
  public let descriptor = linux_eventfd()
  let state: Mutex<State>
  private let layout: @Sendable (PictureFormat) -> PictureFormat
  /// Called after a buffer was queued, without the lock, on the thread that did: for codecs.
  public let onEnqueue: @Sendable (ScriptedVideoDevice, QueueBuffer, BufferType) -> Void

  /// A device. `layout` is the driver's answer to a format whose planes say nothing yet.
  public init(
    name: String = "/dev/video0", card: String = "Scripted camera", bus: String = "usb-1",
    capabilities: DeviceCapability.Capabilities = [.capture, .streaming], modes: [BufferType: [Mode]],
    layout: @escaping @Sendable (PictureFormat) -> PictureFormat = ScriptedVideoDevice.tightLayout,
    onEnqueue: @escaping @Sendable (ScriptedVideoDevice, QueueBuffer, BufferType) -> Void = { _, _, _ in }
  ) {
    (self.name, self.layout, self.onEnqueue) = (name, layout, onEnqueue)
    state = Mutex(
      State(
        capability: DeviceCapability(driver: "scripted", card: card, bus: bus, capabilities: capabilities), modes: modes,
        queues: modes.mapValues { _ in Queue() }))
  }

  deinit {
    state.withLock { for queue in $0.queues.values { for memory in queue.memory { close(memory) } } }
    close(descriptor)
  }

  /// Rows one after the other, planes one after the other, without gaps.
  public static let tightLayout: @Sendable (PictureFormat) -> PictureFormat = { wanted in
    var format = wanted
    let (width, height) = (format.width, format.height)
    switch format.pixelFormat {
    case .yuyv, .uyvy: format.planes = [PictureFormat.Plane(stride: width * 2, size: width * 2 * height)]
    case .nv12: format.planes = [PictureFormat.Plane(stride: width, size: width * height + (width + 1) / 2 * 2 * ((height + 1) / 2))]
    case .yuv420: format.planes = [PictureFormat.Plane(stride: width, size: width * height + (width + 1) / 2 * ((height + 1) / 2) * 2)]
    case FourCC("RGB3"): format.planes = [PictureFormat.Plane(stride: width * 3, size: width * 3 * height)]
    default: format.planes = [PictureFormat.Plane(stride: 0, size: max(65_536, width * height * 2))]
    }
    return format
  }

  // MARK: What tests do

  /// What was called so far, by the kernel's names.
  public var calls: [String] { state.withLock { $0.calls } }
  /// How many buffers are with the driver.
  public func waitingCount(of type: BufferType = .capture) -> Int { state.withLock { $0.queues[type]?.waiting.count ?? 0 } }
  /// How many buffers can be taken.
  public func doneCount(of type: BufferType = .capture) -> Int { state.withLock { $0.queues[type]?.done.count ?? 0 } }
  /// Whether a queue runs.
  public func isStreaming(_ type: BufferType = .capture) -> Bool { state.withLock { $0.queues[type]?.isStreaming ?? false } }
  /// The format that was set.
  public func currentFormat(of type: BufferType = .capture) -> PictureFormat? { state.withLock { $0.queues[type]?.format } }

  /// Has the next `count` calls of this name fail; 0: none any more.
  public func fail(_ call: String, code: Int32, count: Int = 1) {
    state.withLock { $0.failures[call] = count > 0 ? (code, count) : nil }
  }
  /// At most so many buffers are made, whatever is asked for.
  public func limitBuffers(to count: Int, of type: BufferType = .capture) { state.withLock { $0.queues[type]?.limit = count } }
  /// Whether calls of this name return. A thread inside one goes on when they do again.
  public func setHanging(_ call: String, _ hangs: Bool) {
    state.withLock { if hangs { $0.hanging.insert(call) } else { $0.hanging.remove(call) } }
  }
  /// Pulls the plug.
  public func unplug() {
    state.withLock { $0.isGone = true }
    wake()
  }
  /// Offers a control.
  public func add(_ control: VideoControl, menu: [MenuEntry] = []) {
    state.withLock { $0.controls[control.identifier] = (control, control.defaultValue, menu) }
  }
  /// The value of a control; nil: there is none.
  public func value(_ identifier: VideoControl.Identifier) -> Int64? { state.withLock { $0.controls[identifier]?.value } }
  /// Connects it.
  public func set(input: VideoInput?) { state.withLock { $0.input = input } }
  /// What part of pictures counts.
  public func set(_ target: Selection.Target, _ selection: Selection) { state.withLock { $0.selections[target] = selection } }
  /// Tells of something.
  public func post(_ event: VideoEvent) {
    state.withLock { $0.events.append(event) }
    wake()
  }

  /// Fills the buffer that has waited longest, and gives it out; false when none waits or the queue does not run. `fill` gets each plane's memory.
  @discardableResult
  public func deliver(
    _ type: BufferType = .capture, flags: QueueBuffer.Flags = [.monotonic], time: Instant = .zero, byteCounts: [Int]? = nil,
    fill: (_ plane: Int, UnsafeMutableRawBufferPointer) -> Void = { _, _ in }
  ) -> Bool {
    let found = state.withLock { state -> Bool in
      guard var queue = state.queues[type], queue.isStreaming, !queue.waiting.isEmpty else { return false }
      var buffer = queue.waiting.removeFirst()
      for plane in 0..<buffer.planeCount {
        let number = buffer.index * queue.lengths.count + plane
        let length = queue.lengths[plane]
        if number < queue.memory.count {
          let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, queue.memory[number], 0)!
          fill(plane, UnsafeMutableRawBufferPointer(start: memory, count: length))
          munmap(memory, length)
        }
        buffer.planes[plane].byteCount = byteCounts?[plane] ?? length
        buffer.planes[plane].length = length
      }
      (buffer.flags, buffer.time, buffer.sequence) = (flags, time, queue.sequence)
      queue.sequence += 1
      queue.done.append(buffer)
      state.queues[type] = queue
      return true
    }
    if found { wake() }
    return found
  }

  /// Has poll return.
  func wake() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Lets poll wait again when there is nothing to take. With the lock.
  func settle(_ state: inout State) {
    guard !state.isGone, state.events.isEmpty, state.queues.values.allSatisfy({ $0.done.isEmpty }) else { return }
    var value: UInt64 = 0
    _ = read(descriptor, &value, 8)
  }

  // MARK: Calls

  func error(_ call: String, _ code: Int32) -> V4L2Error { V4L2Error(call: call, subject: name, code: code) }

  /// Notes a call and does it, unless it is to fail or to hang.
  func perform<Result>(_ call: String, _ body: (inout State) throws(V4L2Error) -> Result) throws(V4L2Error) -> Result {
    while state.withLock({ $0.hanging.contains(call) }) { usleep(1_000) }
    return try state.withLock { state throws(V4L2Error) in
      state.calls.append(call)
      if state.isGone { throw error(call, ENODEV) }
      if let failure = state.failures[call] {
        state.failures[call] = failure.count > 1 ? (failure.code, failure.count - 1) : nil
        throw error(call, failure.code)
      }
      return try body(&state)
    }
  }

  func answer(_ wanted: PictureFormat, _ state: State, _ type: BufferType) -> PictureFormat {
    var format = wanted
    let modes = (state.modes[type] ?? []).filter { $0.format == wanted.pixelFormat }
    if !modes.isEmpty, !modes.contains(where: { $0.width == wanted.width && $0.height == wanted.height }) {
      let nearest = modes.min {
        abs($0.width - wanted.width) + abs($0.height - wanted.height) < abs($1.width - wanted.width) + abs($1.height - wanted.height)
      }!
      (format.width, format.height) = (nearest.width, nearest.height)
    }
    return layout(format)
  }
}
