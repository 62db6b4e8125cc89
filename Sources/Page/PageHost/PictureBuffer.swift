import CWaylandClient
import Glibc

/// Shared memory that holds one picture for the compositor.
final class PictureBuffer {
  let width: Int
  let height: Int
  let pixels: UnsafeMutablePointer<UInt32>
  private let byteCount: Int
  private let buffer: OpaquePointer
  /// Whether the compositor may still read it.
  private(set) var isBusy = false
  /// What the picture has that this buffer does not.
  var stale = Region()
  var onRelease: (() -> Void)?

  /// Memory for a picture of that size; nil when there is none.
  init?(width: Int, height: Int, sharedMemory: OpaquePointer?) {
    self.width = width
    self.height = height
    byteCount = width * height * 4
    var memory: UnsafeMutableRawPointer?
    let descriptor = unsafe shared_memory_create(byteCount, &memory)
    guard descriptor >= 0, let memory else { return nil }
    unsafe pixels = memory.bindMemory(to: UInt32.self, capacity: width * height)
    let pool = wl_shm_create_pool(sharedMemory, descriptor, Int32(byteCount))
    buffer = wl_shm_pool_create_buffer(pool, 0, Int32(width), Int32(height), Int32(width * 4), WL_SHM_FORMAT_ARGB8888.rawValue)
    wl_shm_pool_destroy(pool)
    close(descriptor)
    stale.add(PixelRectangle(x: 0, y: 0, width: width, height: height))
    unsafe wl_buffer_add_listener(buffer, Self.listener, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    wl_buffer_destroy(buffer)
    unsafe munmap(pixels, byteCount)
  }

  /// Hands it to the compositor as the content of `surface`.
  func attach(to surface: OpaquePointer) {
    isBusy = true
    wl_surface_attach(surface, buffer, 0, 0)
  }

  /// libwayland keeps the address of the table.
  nonisolated(unsafe) private static let listener: UnsafePointer<wl_buffer_listener> = {
    let table = UnsafeMutablePointer<wl_buffer_listener>.allocate(capacity: 1)
    unsafe table.initialize(
      to: wl_buffer_listener(release: { data, _ in
        guard let data else { return }
        let buffer = unsafe Unmanaged<PictureBuffer>.fromOpaque(data).takeUnretainedValue()
        buffer.isBusy = false
        buffer.onRelease?()
      }))
    return unsafe UnsafePointer(table)
  }()
}
