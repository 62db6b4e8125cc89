import Frames
import Glibc

/// Buffers of other devices that a card has been told of, each once: a device shows the same few in turn.
///
/// They are known by their memory, and not held: whoever owns one gets it back when it is not shown any more.
struct ImportedBuffers {
  private struct Entry {
    var width: Int
    var height: Int
    var format: UInt32
    var modifier: UInt64
    var planes: [DeviceBuffer.Plane]
    /// The memory of each plane.
    var memory: [Memory]
    var framebuffer: Framebuffer
    var lastUse: Int

    func isLike(_ buffer: DeviceBuffer) -> Bool {
      width == buffer.width && height == buffer.height && format == buffer.format && modifier == buffer.modifier
    }

    /// Whether it is this buffer, though its descriptors may be others by now.
    func holds(_ buffer: DeviceBuffer) -> Bool {
      guard isLike(buffer), planes.count == buffer.planes.count else { return false }
      return planes.indices.allSatisfy { index in
        planes[index].offset == buffer.planes[index].offset && planes[index].stride == buffer.planes[index].stride
          && memory[index] == Memory(buffer.planes[index].descriptor)
      }
    }
  }

  /// What a descriptor of memory refers to: no other has the same numbers while the card knows it.
  private struct Memory: Equatable {
    private var device: UInt64 = 0
    private var number: UInt64 = 0

    init(_ descriptor: Int32) {
      var status = stat()
      if unsafe fstat(descriptor, &status) == 0 { (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
    }
  }

  private var entries: [Entry] = []
  private var uses = 0

  /// More than devices have.
  private static let limit = 16

  /// What planes show of a buffer. `shown` is on the screen, and stays known.
  mutating func framebuffer(of buffer: DeviceBuffer, on device: any DRMDevice, shown: Framebuffer?) throws(DRMError) -> Framebuffer {
    uses += 1
    if let index = entries.firstIndex(where: { $0.holds(buffer) }) {
      entries[index].lastUse = uses
      return entries[index].framebuffer
    }
    let framebuffer = try device.importBuffer(buffer)
    // Those of a mode that a device has left are not seen again; of others, those that have not been for longest.
    forget(on: device) { $0.framebuffer != shown && !$0.isLike(buffer) }
    if entries.count >= ImportedBuffers.limit {
      let oldest = entries.lazy.filter { $0.framebuffer != shown }.map(\.lastUse).min()
      forget(on: device) { $0.framebuffer != shown && $0.lastUse == oldest }
    }
    entries.append(
      Entry(
        width: buffer.width, height: buffer.height, format: buffer.format, modifier: buffer.modifier, planes: buffer.planes,
        memory: buffer.planes.map { Memory($0.descriptor) }, framebuffer: framebuffer, lastUse: uses))
    return framebuffer
  }

  /// Has the card forget all of them. None may be on the screen.
  mutating func forgetAll(on device: any DRMDevice) { forget(on: device) { _ in true } }

  private mutating func forget(on device: any DRMDevice, where condition: (Entry) -> Bool) {
    for entry in entries where condition(entry) { device.forget(entry.framebuffer) }
    entries.removeAll(where: condition)
  }
}
