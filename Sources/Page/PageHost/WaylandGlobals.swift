import Base
import CWaylandClient

/// What the page host uses of the compositor besides what GTK does, on GTK's own connection.
///
/// The proxies stay on the connection's default queue, which GTK dispatches on the main thread.
final class WaylandGlobals {
  private(set) var compositor: OpaquePointer?
  private(set) var subcompositor: OpaquePointer?
  private(set) var sharedMemory: OpaquePointer?
  /// nil on a compositor that shows no videos.
  private(set) var videoManager: OpaquePointer?
  let display: OpaquePointer

  /// Binds the globals; nil when the compositor lacks one that is needed.
  init?(display: OpaquePointer) {
    self.display = display
    let registry = wl_display_get_registry(display)
    // Only as long as this registry, which ends with this call.
    var listener = wl_registry_listener(
      global: { data, registry, name, interface, version in
        guard let data, let interface else { return }
        unsafe Unmanaged<WaylandGlobals>.fromOpaque(data).takeUnretainedValue().bind(registry, name, String(cString: interface), version)
      }, global_remove: { _, _, _ in })
    _ = unsafe withUnsafePointer(to: &listener) { listener in
      unsafe wl_registry_add_listener(registry, listener, Unmanaged.passUnretained(self).toOpaque())
      return wl_display_roundtrip(display)
    }
    wl_registry_destroy(registry)
    if compositor == nil || subcompositor == nil || sharedMemory == nil { return nil }
  }

  private func bind(_ registry: OpaquePointer?, _ name: UInt32, _ interface: String, _ version: UInt32) {
    func bound(_ interface: UnsafePointer<wl_interface>?, _ known: UInt32) -> OpaquePointer? {
      unsafe OpaquePointer(wl_registry_bind(registry, name, interface, min(version, known)))
    }
    switch interface {
    case "wl_compositor": compositor = unsafe bound(compositor_interface(), 4)
    case "wl_subcompositor": subcompositor = unsafe bound(subcompositor_interface(), 1)
    case "wl_shm": sharedMemory = unsafe bound(shared_memory_interface(), 1)
    case "parlor_video_manager_v1": videoManager = unsafe bound(video_manager_interface(), 1)
    default: break
    }
  }
}
