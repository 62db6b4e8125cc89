import Base
import CV4L2
import Glibc

extension KernelVideoDevice {
  public func requestBuffers(_ count: Int, memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> Int {
    var request = v4l2_requestbuffers()
    (request.count, request.type, request.memory) = (UInt32(count), type.rawValue, memory.rawValue)
    try check(v4l2_request_buffers(descriptor, &request), "VIDIOC_REQBUFS", "\(count)")
    return Int(request.count)
  }

  /// Calls the kernel with room for planes, and makes a buffer of its answer.
  private func exchange(
    _ buffer: QueueBuffer, memory: BufferMemory, type: BufferType, _ call: (inout v4l2_buffer) -> Int32
  ) -> QueueBuffer? {
    var planes: InlineArray<4, v4l2_plane> = .init(repeating: v4l2_plane())
    var raw = v4l2_buffer()
    (raw.index, raw.type, raw.memory) = (UInt32(buffer.index), type.rawValue, memory.rawValue)
    raw.flags = buffer.flags.rawValue
    raw.field = 1
    let microseconds = buffer.time.nanoseconds / 1_000
    raw.timestamp = timeval(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
    var result = buffer
    if type.isMultiplanar {
      for index in 0..<buffer.planeCount {
        planes[index].bytesused = UInt32(buffer.planes[index].byteCount)
        planes[index].length = UInt32(buffer.planes[index].length)
        planes[index].data_offset = UInt32(buffer.planes[index].offset)
        if memory == .dmaBuffer { planes[index].m.fd = buffer.planes[index].descriptor }
      }
      var span = planes.mutableSpan
      let status = unsafe span.withUnsafeMutableBufferPointer { room in
        raw.m.planes = room.baseAddress
        raw.length = UInt32(QueueBuffer.planeLimit)
        return call(&raw)
      }
      guard status == 0 else { return nil }
      result.planeCount = min(Int(raw.length), QueueBuffer.planeLimit)
      for index in 0..<result.planeCount {
        result.planes[index].byteCount = Int(planes[index].bytesused)
        result.planes[index].length = Int(planes[index].length)
        result.planes[index].offset = Int(planes[index].data_offset)
        if memory == .mapped { result.planes[index].mappingOffset = Int(planes[index].m.mem_offset) }
      }
    } else {
      (raw.bytesused, raw.length) = (UInt32(buffer.planes[0].byteCount), UInt32(buffer.planes[0].length))
      if memory == .dmaBuffer { raw.m.fd = buffer.planes[0].descriptor }
      guard call(&raw) == 0 else { return nil }
      result.planeCount = 1
      (result.planes[0].byteCount, result.planes[0].length) = (Int(raw.bytesused), Int(raw.length))
      if memory == .mapped { result.planes[0].mappingOffset = Int(raw.m.offset) }
    }
    (result.index, result.sequence) = (Int(raw.index), raw.sequence)
    result.flags = QueueBuffer.Flags(rawValue: raw.flags)
    result.time = Instant(nanoseconds: Int64(raw.timestamp.tv_sec) * 1_000_000_000 + Int64(raw.timestamp.tv_usec) * 1_000)
    return result
  }

  public func buffer(_ index: Int, memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> QueueBuffer {
    let answer = exchange(QueueBuffer(index: index), memory: memory, type: type) { v4l2_query_buffer(descriptor, &$0) }
    guard let answer else { throw V4L2Error(call: "VIDIOC_QUERYBUF", subject: "\(name), buffer \(index)", code: errno) }
    return answer
  }

  public func map(_ plane: QueueBuffer.Plane) throws(V4L2Error) -> UnsafeMutableRawBufferPointer {
    let memory = unsafe mmap(nil, plane.length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, plane.mappingOffset)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw V4L2Error(call: "mmap", subject: name, code: errno) }
    return unsafe UnsafeMutableRawBufferPointer(start: memory, count: plane.length)
  }

  public func unmap(_ memory: UnsafeMutableRawBufferPointer) { unsafe munmap(memory.baseAddress, memory.count) }

  public func enqueue(_ buffer: QueueBuffer, memory: BufferMemory, of type: BufferType) throws(V4L2Error) {
    guard exchange(buffer, memory: memory, type: type, { v4l2_enqueue(descriptor, &$0) }) == nil else { return }
    throw V4L2Error(call: "VIDIOC_QBUF", subject: name, code: errno)
  }

  public func dequeue(memory: BufferMemory, of type: BufferType) throws(V4L2Error) -> QueueBuffer? {
    let buffer = exchange(QueueBuffer(index: 0), memory: memory, type: type) { v4l2_dequeue(descriptor, &$0) }
    if let buffer { return buffer }
    guard errno == EAGAIN else { throw V4L2Error(call: "VIDIOC_DQBUF", subject: name, code: errno) }
    return nil
  }

  public func export(_ index: Int, plane: Int, of type: BufferType) throws(V4L2Error) -> Int32 {
    var request = v4l2_exportbuffer()
    (request.type, request.index, request.plane) = (type.rawValue, UInt32(index), UInt32(plane))
    request.flags = UInt32(O_CLOEXEC | O_RDWR)
    try check(v4l2_export_buffer(descriptor, &request), "VIDIOC_EXPBUF", "buffer \(index)")
    return request.fd
  }

  public func startStreaming(_ type: BufferType) throws(V4L2Error) {
    var number = Int32(type.rawValue)
    try check(v4l2_stream_on(descriptor, &number), "VIDIOC_STREAMON")
  }

  public func stopStreaming(_ type: BufferType) throws(V4L2Error) {
    var number = Int32(type.rawValue)
    try check(v4l2_stream_off(descriptor, &number), "VIDIOC_STREAMOFF")
  }
}
