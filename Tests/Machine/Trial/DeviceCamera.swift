import CDRM
import CDeviceMemory
import Camera
import Frames
import Glibc
import Synchronization

/// A camera whose frames lie in a device's memory: that of vgem, the kernel's card without a display. As a camera does, it has a few buffers, and no frame
/// while all of them are in somebody's hands.
///
/// What lies there is another picture than the frames' own pixels, so that it can be seen which of them is shown.
final class DeviceCamera: Sendable {
  private struct Buffer {
    var handle: UInt32
    var descriptor: Int32
    var stride: Int
    var isFree = true
  }

  struct Failure: Error, CustomStringConvertible { var description: String }

  let width: Int
  let height: Int
  private let card: Int32
  private let pictures: [VideoFrame]
  private let buffers: Mutex<[Buffer]>
  /// A buffer that is being written to as long as a test likes.
  private let unfinished: Mutex<(handle: UInt32, descriptor: Int32, fence: UInt32)>

  /// A camera with `count` buffers in the memory of the card at `path`.
  init(path: String, width: Int, height: Int, count: Int = 4) throws {
    (self.width, self.height) = (width, height)
    let card = open(path, O_RDWR | O_CLOEXEC)
    guard card >= 0 else { throw Failure(description: "\(path) cannot be opened") }
    self.card = card
    let camera = SyntheticCamera(width: width, height: height)
    pictures = (0..<count).map { camera.frame(at: $0 * 5) }
    buffers = Mutex(
      try (0..<count).map { index in
        let (handle, descriptor, stride, size) = try DeviceCamera.allocate(card, width: width, height: height)
        guard let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED else {
          throw Failure(description: "device memory cannot be written to")
        }
        DeviceCamera.paint(index, memory, stride: stride, width: width, height: height)
        munmap(memory, size)
        return Buffer(handle: handle, descriptor: descriptor, stride: stride)
      })
    let (handle, descriptor, _, _) = try DeviceCamera.allocate(card, width: 64, height: 64)
    unfinished = Mutex((handle, descriptor, 0))
  }

  /// How many frames are in somebody's hands.
  var heldCount: Int { buffers.withLock { $0.count { !$0.isFree } } }

  private static func allocate(
    _ card: Int32, width: Int, height: Int
  ) throws -> (handle: UInt32, descriptor: Int32, stride: Int, size: Int) {
    var request = drm_mode_create_dumb()
    (request.width, request.height, request.bpp) = (UInt32(width), UInt32(height), 32)
    var descriptor: Int32 = -1
    guard drm_create_dumb(card, &request) == 0,
      drmPrimeHandleToFD(card, request.handle, UInt32(O_CLOEXEC | O_RDWR), &descriptor) == 0
    else { throw Failure(description: "there is no device memory") }
    return (request.handle, descriptor, Int(request.pitch), Int(request.size))
  }

  /// What lies in buffer number `index`; `Tests/Machine/devices.py` knows it too.
  private static func paint(_ index: Int, _ memory: UnsafeMutableRawPointer, stride: Int, width: Int, height: Int) {
    for y in 0..<height {
      let row = (memory + y * stride).assumingMemoryBound(to: UInt32.self)
      for x in 0..<width {
        let (red, green, blue) = (x + 50 * index, 3 * y, x ^ y)
        row[x] = UInt32(red & 255) << 16 | UInt32(green & 255) << 8 | UInt32(blue & 255)
      }
    }
  }

  /// The frame in the next free buffer, with that buffer's number; nil: all are in use. With a `fence`, it is ready when that is.
  func frame(fence: Int32 = -1) -> (frame: VideoFrame, index: Int)? {
    let found = buffers.withLock { buffers -> (index: Int, buffer: Buffer)? in
      guard let index = buffers.firstIndex(where: \.isFree) else { return nil }
      buffers[index].isFree = false
      return (index, buffers[index])
    }
    guard let found else { return nil }
    let format = "XR24".utf8.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    var frame = pictures[found.index]
    frame.deviceBuffer = DeviceBuffer(
      width: width, height: height, format: format,
      planes: [.init(descriptor: fcntl(found.buffer.descriptor, F_DUPFD_CLOEXEC, 0), offset: 0, stride: found.buffer.stride)], fence: fence
    ) { [self] in
      buffers.withLock { $0[found.index].isFree = true }
    }
    return (frame, found.index)
  }

  /// A sync file that is ready already.
  func finishedFence() -> Int32 { unfinished.withLock { dma_buffer_export_fence($0.descriptor) } }

  /// A sync file that is not ready before `finish`, or ten seconds have gone; -1: it cannot be made.
  func unfinishedFence() -> Int32 {
    unfinished.withLock { buffer in
      guard vgem_attach_fence(card, buffer.handle, &buffer.fence) == 0 else { return -1 }
      return dma_buffer_export_fence(buffer.descriptor)
    }
  }

  /// Makes the sync file ready. False: it was already, since ten seconds have gone.
  func finish() -> Bool { unfinished.withLock { vgem_signal(card, $0.fence) == 0 } }
}
