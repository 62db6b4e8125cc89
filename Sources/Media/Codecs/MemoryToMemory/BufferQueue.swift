import Base
import V4L2

/// One of the two queues of a codec, with its buffers, which are mapped or another device's memory.
final class BufferQueue {
  let format: PictureFormat
  let count: Int
  private let device: any VideoDevice
  private let type: BufferType
  private let memory: BufferMemory
  private var mappings: [[UnsafeMutableRawBufferPointer]] = []
  /// Buffers that the driver does not hold.
  private(set) var idle: [Int] = []

  /// Makes about `count` buffers for a queue whose format is set.
  init(_ device: any VideoDevice, _ type: BufferType, format: PictureFormat, count: Int, memory: BufferMemory = .mapped) throws(V4L2Error) {
    (self.device, self.type, self.format, self.memory) = (device, type, format, memory)
    self.count = try device.requestBuffers(count, memory: memory, of: type)
    for index in 0..<self.count {
      idle.append(index)
      guard memory == .mapped else { continue }
      let buffer = try device.buffer(index, memory: memory, of: type)
      var planes: [UnsafeMutableRawBufferPointer] = []
      for plane in 0..<buffer.planeCount { unsafe planes.append(try device.map(buffer.planes[plane])) }
      unsafe mappings.append(planes)
    }
  }

  /// Ends the mappings, and gives the buffers back.
  deinit {
    try? device.stopStreaming(type)
    for planes in unsafe mappings { for plane in unsafe planes { unsafe device.unmap(plane) } }
    _ = try? device.requestBuffers(0, memory: memory, of: type)
  }

  /// The memory of a buffer, one piece for each plane.
  func planes(of index: Int) -> [UnsafeMutableRawBufferPointer] { unsafe mappings[index] }

  func start() throws(V4L2Error) { try device.startStreaming(type) }

  /// Stops the queue; the driver holds none of its buffers then.
  func stop() throws(V4L2Error) {
    try device.stopStreaming(type)
    idle.removeAll(keepingCapacity: true)
    for index in 0..<count { idle.append(index) }
  }

  /// Hands a buffer over; `fill` says what is in it.
  func enqueue(_ index: Int, time: Instant = .zero, _ fill: (inout QueueBuffer) -> Void = { _ in }) throws(V4L2Error) {
    var buffer = QueueBuffer(index: index)
    buffer.time = time
    buffer.planeCount = format.planes.count
    for plane in 0..<buffer.planeCount { buffer.planes[plane].length = format.planes[plane].size }
    fill(&buffer)
    try device.enqueue(buffer, memory: memory, of: type)
    if let position = idle.firstIndex(of: index) { idle.swapAt(position, idle.count - 1) }
    idle.removeLast()
  }

  /// Hands over all buffers that lie idle, for the driver to write into.
  func enqueueAll() throws(V4L2Error) { while let index = idle.last { try enqueue(index) } }

  /// Takes what the driver is done with; nil: nothing yet.
  func dequeue() throws(V4L2Error) -> QueueBuffer? {
    guard let buffer = try device.dequeue(memory: memory, of: type) else { return nil }
    idle.append(buffer.index)
    return buffer
  }
}
