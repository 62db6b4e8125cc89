import Base
import CLinux
import Glibc
import V4L2

extension ScriptedVideoDevice {
  public func wait(for wanted: Readiness, timeout: Interval) throws(V4L2Error) -> Readiness {
    let end = clock() + timeout
    while true {
      let ready: Readiness = try perform("poll") { state throws(V4L2Error) in
        var ready: Readiness = []
        for (type, queue) in state.queues where !queue.done.isEmpty { ready.insert(type.isCapture ? .capture : .output) }
        if !state.events.isEmpty { ready.insert(.event) }
        return ready.intersection(wanted)
      }
      if !ready.isEmpty { return ready }
      let left = end - clock()
      guard left > .zero else { return [] }
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      poll(&entry, 1, Int32(min(10, left.nanoseconds / 1_000_000 + 1)))
    }
  }

  private func clock() -> Instant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  public func capability() throws(V4L2Error) -> DeviceCapability { try perform("VIDIOC_QUERYCAP") { $0.capability } }

  public func formats(of type: BufferType) throws(V4L2Error) -> [FormatOffer] {
    try perform("VIDIOC_ENUM_FMT") { state in
      var offers: [FormatOffer] = []
      for mode in state.modes[type] ?? [] where !offers.contains(where: { $0.pixelFormat == mode.format }) {
        offers.append(FormatOffer(mode.format, isCompressed: [.mjpeg, .jpeg, .h264, .vp8, .fwht].contains(mode.format)))
      }
      return offers
    }
  }

  public func sizes(of format: FourCC) throws(V4L2Error) -> [SizeOffer] {
    try perform("VIDIOC_ENUM_FRAMESIZES") { state in
      state.modes.values.joined().filter { $0.format == format }.map { SizeOffer(width: $0.width, height: $0.height) }
    }
  }

  public func intervals(of format: FourCC, width: Int, height: Int) throws(V4L2Error) -> [IntervalOffer] {
    try perform("VIDIOC_ENUM_FRAMEINTERVALS") { state in
      let modes = state.modes.values.joined().filter { $0.format == format && $0.width == width && $0.height == height }
      return modes.flatMap(\.rates).map { IntervalOffer(FrameInterval(framesPerSecond: $0)) }
    }
  }

  public func format(of type: BufferType) throws(V4L2Error) -> PictureFormat {
    try perform("VIDIOC_G_FMT") { state throws(V4L2Error) in
      guard let format = state.queues[type]?.format else { throw error("VIDIOC_G_FMT", EINVAL) }
      return format
    }
  }

  public func setFormat(_ format: PictureFormat, of type: BufferType) throws(V4L2Error) -> PictureFormat {
    try perform("VIDIOC_S_FMT") { state throws(V4L2Error) in
      guard let queue = state.queues[type] else { throw error("VIDIOC_S_FMT", EINVAL) }
      guard queue.memory.isEmpty else { throw error("VIDIOC_S_FMT", EBUSY) }
      let answer = answer(format, state, type)
      state.queues[type]!.format = answer
      return answer
    }
  }

  public func tryFormat(_ format: PictureFormat, of type: BufferType) throws(V4L2Error) -> PictureFormat {
    try perform("VIDIOC_TRY_FMT") { answer(format, $0, type) }
  }

  public func interval(of type: BufferType) throws(V4L2Error) -> FrameInterval {
    try perform("VIDIOC_G_PARM") { $0.queues[type]!.interval }
  }

  public func setInterval(_ interval: FrameInterval, of type: BufferType) throws(V4L2Error) -> FrameInterval {
    try perform("VIDIOC_S_PARM") { state in
      var nearest = interval
      if let format = state.queues[type]?.format,
        let rates = state.modes[type]?.first(where: {
          $0.format == format.pixelFormat && $0.width == format.width && $0.height == format.height
        })?.rates
      {
        let rate = rates.min { abs($0 - interval.framesPerSecond) < abs($1 - interval.framesPerSecond) }
        nearest = FrameInterval(framesPerSecond: rate ?? interval.framesPerSecond)
      }
      state.queues[type]!.interval = nearest
      return nearest
    }
  }

  public func requestBuffers(_ count: Int, memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> Int {
    try perform("VIDIOC_REQBUFS") { state throws(V4L2Error) in
      guard var queue = state.queues[type] else { throw error("VIDIOC_REQBUFS", EINVAL) }
      for descriptor in queue.memory { close(descriptor) }
      (queue.memory, queue.waiting, queue.done) = ([], [], [])
      let count = min(count, queue.limit ?? count)
      queue.lengths = (queue.format ?? PictureFormat(pixelFormat: .yuyv, width: 16, height: 16)).planes.map { max(1, $0.size) }
      if memory == .mapped {
        for _ in 0..<count {
          for length in queue.lengths {
            let descriptor = linux_memory_create("buffer")
            ftruncate(descriptor, length)
            queue.memory.append(descriptor)
          }
        }
      }
      state.queues[type] = queue
      return count
    }
  }

  public func buffer(_ index: Int, memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> QueueBuffer {
    try perform("VIDIOC_QUERYBUF") { state in
      let queue = state.queues[type]!
      var buffer = QueueBuffer(index: index)
      buffer.planeCount = queue.lengths.count
      for plane in queue.lengths.indices {
        buffer.planes[plane].length = queue.lengths[plane]
        // The descriptor of the memory stands in for where it would be mapped.
        if memory == .mapped { buffer.planes[plane].mappingOffset = Int(queue.memory[index * queue.lengths.count + plane]) }
      }
      return buffer
    }
  }

  public func map(_ plane: QueueBuffer.Plane) throws(V4L2Error) -> UnsafeMutableRawBufferPointer {
    try perform("mmap") { _ in
      let memory = mmap(nil, plane.length, PROT_READ | PROT_WRITE, MAP_SHARED, Int32(plane.mappingOffset), 0)!
      return UnsafeMutableRawBufferPointer(start: memory, count: plane.length)
    }
  }

  public func unmap(_ memory: UnsafeMutableRawBufferPointer) { munmap(memory.baseAddress!, memory.count) }

  public func enqueue(_ buffer: QueueBuffer, memory: BufferMemory, of type: BufferType) throws(V4L2Error) {
    try perform("VIDIOC_QBUF") { state throws(V4L2Error) in
      guard let queue = state.queues[type], !queue.waiting.contains(where: { $0.index == buffer.index }) else {
        throw error("VIDIOC_QBUF", EINVAL)
      }
      var buffer = buffer
      buffer.planeCount = max(1, queue.lengths.count)
      state.queues[type]!.waiting.append(buffer)
    }
    onEnqueue(self, buffer, type)
  }

  public func dequeue(memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> QueueBuffer? {
    try perform("VIDIOC_DQBUF") { state throws(V4L2Error) in
      guard state.queues[type]?.isStreaming == true else { throw error("VIDIOC_DQBUF", EINVAL) }
      guard !state.queues[type]!.done.isEmpty else { return nil }
      let buffer = state.queues[type]!.done.removeFirst()
      settle(&state)
      return buffer
    }
  }

  public func export(_ index: Int, plane: Int, of type: BufferType) throws(V4L2Error) -> Int32 {
    try perform("VIDIOC_EXPBUF") { state throws(V4L2Error) in
      guard let queue = state.queues[type], index * queue.lengths.count + plane < queue.memory.count else {
        throw error("VIDIOC_EXPBUF", EINVAL)
      }
      return dup(queue.memory[index * queue.lengths.count + plane])
    }
  }

  public func startStreaming(_ type: BufferType) throws(V4L2Error) {
    try perform("VIDIOC_STREAMON") { $0.queues[type]?.isStreaming = true }
  }

  public func stopStreaming(_ type: BufferType) throws(V4L2Error) {
    try perform("VIDIOC_STREAMOFF") { state in
      state.queues[type]?.isStreaming = false
      state.queues[type]?.waiting = []
      state.queues[type]?.done = []
      settle(&state)
    }
  }

  public func control(_ identifier: VideoControl.Identifier) -> VideoControl? { state.withLock { $0.controls[identifier]?.control } }

  public func controls() -> [VideoControl] {
    state.withLock { $0.controls.values.map(\.control).sorted { $0.identifier.rawValue < $1.identifier.rawValue } }
  }

  public func menu(of control: VideoControl) -> [MenuEntry] { state.withLock { $0.controls[control.identifier]?.menu ?? [] } }

  public func value(of control: VideoControl) throws(V4L2Error) -> Int64 {
    try perform("VIDIOC_G_EXT_CTRLS") { state throws(V4L2Error) in
      guard let value = state.controls[control.identifier]?.value else { throw error("VIDIOC_G_EXT_CTRLS", EINVAL) }
      return value
    }
  }

  public func set(_ settings: [ControlSetting]) throws(V4L2Error) {
    try perform("VIDIOC_S_EXT_CTRLS") { state throws(V4L2Error) in
      for setting in settings {
        guard let entry = state.controls[setting.identifier], entry.control.isWritable else { throw error("VIDIOC_S_EXT_CTRLS", EINVAL) }
        guard (entry.control.minimum...entry.control.maximum).contains(setting.value) else {
          throw error("VIDIOC_S_EXT_CTRLS", ERANGE)
        }
      }
      for setting in settings { state.controls[setting.identifier]!.value = setting.value }
    }
  }

  public func subscribe(to kind: VideoEvent.Kind, control: VideoControl.Identifier?) throws(V4L2Error) {
    try perform("VIDIOC_SUBSCRIBE_EVENT") { _ in }
  }

  public func nextEvent() throws(V4L2Error) -> VideoEvent? {
    try perform("VIDIOC_DQEVENT") { state in
      guard !state.events.isEmpty else { return nil }
      let event = state.events.removeFirst()
      settle(&state)
      return event
    }
  }

  public func setPriority(_ priority: DevicePriority) throws(V4L2Error) { try perform("VIDIOC_S_PRIORITY") { _ in } }

  public func selection(_ target: Selection.Target, of type: BufferType) throws(V4L2Error) -> Selection {
    try perform("VIDIOC_G_SELECTION") { state throws(V4L2Error) in
      guard let selection = state.selections[target] else { throw error("VIDIOC_G_SELECTION", ENOTTY) }
      return selection
    }
  }

  public func setSelection(_ selection: Selection, _ target: Selection.Target, of type: BufferType) throws(V4L2Error) -> Selection {
    try perform("VIDIOC_S_SELECTION") { state in
      state.selections[target] = selection
      return selection
    }
  }

  public func tellEncoder(_ command: CodecCommand) throws(V4L2Error) { try perform("VIDIOC_ENCODER_CMD \(command)") { _ in } }
  public func tellDecoder(_ command: CodecCommand) throws(V4L2Error) { try perform("VIDIOC_DECODER_CMD \(command)") { _ in } }
  public func input() -> VideoInput? { state.withLock { $0.input } }
  public func adoptTimings() throws(V4L2Error) { try perform("VIDIOC_S_DV_TIMINGS") { _ in } }
}
