import CLinux
import Glibc

extension Wayland {
  /// `wl_shm`: pixels in memory that client and stage share.
  final class SharedMemory: Resource, BoundResource {
    enum Failure: UInt32 { case invalidFormat, invalidStride, invalidDescriptor }

    override var interface: String { "wl_shm" }

    func wasBound() { for format in PixelFormat.allCases { post(0, .uint(format.rawValue)) } }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      guard opcode == 0 else { throw unknown(opcode) }
      let (id, descriptor, size) = (try arguments.newID(), try arguments.descriptor(), try arguments.int())
      guard size > 0 else { throw failure(Failure.invalidStride, "a pool of \(size) bytes") }
      // Only memory: reading a file of another kind could block the stage.
      guard linux_is_memory(descriptor.number) else {
        throw failure(Failure.invalidDescriptor, "the descriptor of a pool is not shared memory")
      }
      try client.add(SharedMemoryPool(client, id: id, version: version, memory: descriptor, size: size))
    }
  }

  /// The pixel formats that every server has: 32 bits, blue first in memory (`wl_shm.format`).
  enum PixelFormat: UInt32, CaseIterable {
    /// With premultiplied alpha.
    case argb8888
    /// Opaque.
    case xrgb8888
  }

  /// `wl_shm_pool`: memory that buffers are cut from.
  final class SharedMemoryPool: Resource {
    enum Request: UInt16 { case createBuffer, destroy, resize }

    override var interface: String { "wl_shm_pool" }
    private let memory: Descriptor
    private var size: Int

    init(_ client: Client, id: UInt32, version: UInt32, memory: Descriptor, size: Int) {
      (self.memory, self.size) = (memory, size)
      super.init(client, id: id, version: version)
    }

    override func handle(_ opcode: UInt16, _ arguments: inout Arguments) throws(ProtocolFailure) {
      switch Request(rawValue: opcode) {
      case .createBuffer: try createBuffer(&arguments)
      case .destroy: destroy()
      case .resize:
        let size = try arguments.int()
        guard size >= self.size else {
          throw failure(SharedMemory.Failure.invalidDescriptor, "a pool cannot shrink from \(self.size) to \(size) bytes")
        }
        self.size = size
      case nil: throw unknown(opcode)
      }
    }

    private func createBuffer(_ arguments: inout Arguments) throws(ProtocolFailure) {
      let (id, offset) = (try arguments.newID(), try arguments.int())
      let (width, height, stride) = (try arguments.int(), try arguments.int(), try arguments.int())
      let code = try arguments.uint()
      guard let format = PixelFormat(rawValue: code) else { throw failure(SharedMemory.Failure.invalidFormat, "pixel format \(code)") }
      let sides = 1...Limits.bufferSide
      guard sides.contains(width), sides.contains(height), offset >= 0, stride >= width * 4, offset + stride * height <= size else {
        throw failure(
          SharedMemory.Failure.invalidStride,
          "a buffer of \(width)x\(height) pixels, \(stride) bytes a row, at \(offset) in a pool of \(size) bytes")
      }
      let layout = Buffer.Layout(offset: offset, width: width, height: height, stride: stride, format: format)
      try client.add(Buffer(client, id: id, memory: memory, layout: layout))
    }
  }

  /// `wl_buffer`: one picture in a pool. It is read with system calls, never through a mapping: a client may shorten its memory at
  /// any moment, and that may cost nobody else anything.
  final class Buffer: PlainResource {
    struct Layout {
      var offset: Int
      var width: Int
      var height: Int
      var stride: Int
      var format: PixelFormat
    }

    override var interface: String { "wl_buffer" }
    let layout: Layout
    private let memory: Descriptor

    init(_ client: Client, id: UInt32, memory: Descriptor, layout: Layout) {
      (self.memory, self.layout) = (memory, layout)
      super.init(client, id: id, version: 1)
    }

    /// Tells the client that it may draw into the buffer again.
    func release() { post(0) }

    /// Copies `area`, in buffer pixels and inside the buffer, to the same place of a bitmap of the same size.
    func copy(_ area: Rectangle, to bitmap: SurfaceBitmap) throws(ProtocolFailure) {
      let start = layout.offset + area.x * 4
      if bitmap.stride == layout.stride, area.width * 8 >= layout.stride {
        // Rows that follow each other closely are read with one call.
        let length = (area.height - 1) * layout.stride + area.width * 4
        try read(length, at: start + area.y * layout.stride, to: address(x: area.x, y: area.y, in: bitmap))
      } else {
        for y in area.y..<(area.y + area.height) {
          try read(area.width * 4, at: start + y * layout.stride, to: address(x: area.x, y: y, in: bitmap))
        }
      }
      if layout.format == .xrgb8888 { makeOpaque(area, of: bitmap) }
    }

    /// Copies all of the buffer, turned upright, to a bitmap of the upright size.
    func copyUpright(_ transform: BufferTransform, to bitmap: SurfaceBitmap) throws(ProtocolFailure) {
      let turned = SurfaceBitmap(width: layout.width, height: layout.height)
      try copy(Rectangle(x: 0, y: 0, width: layout.width, height: layout.height), to: turned)
      for y in 0..<bitmap.height {
        for x in 0..<bitmap.width {
          let source = transform.source(x: x, y: y, width: layout.width, height: layout.height)
          unsafe address(x: x, y: y, in: bitmap).copyMemory(from: address(x: source.x, y: source.y, in: turned), byteCount: 4)
        }
      }
    }

    private func address(x: Int, y: Int, in bitmap: SurfaceBitmap) -> UnsafeMutableRawPointer {
      unsafe UnsafeMutableRawPointer(bitmap.pixels + y * bitmap.stride + x * 4)
    }

    /// Sets alpha, which means nothing in an opaque format.
    private func makeOpaque(_ area: Rectangle, of bitmap: SurfaceBitmap) {
      for y in area.y..<(area.y + area.height) {
        let row = unsafe address(x: area.x, y: y, in: bitmap).assumingMemoryBound(to: UInt32.self)
        for x in 0..<area.width { unsafe row[x] |= 0xFF00_0000 }
      }
    }

    private func read(_ length: Int, at offset: Int, to target: UnsafeMutableRawPointer) throws(ProtocolFailure) {
      var done = 0
      while done < length {
        let count = unsafe pread(memory.number, target + done, length - done, off_t(offset + done))
        guard count > 0 else {
          if count < 0, errno == EINTR { continue }
          throw failure(SharedMemory.Failure.invalidDescriptor, "the memory of a buffer is shorter than its pool was said to be")
        }
        done += count
      }
    }
  }
}
