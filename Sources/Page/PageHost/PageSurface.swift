import Base
import CWaylandClient

/// A subsurface of the host's window that shows one view: its picture, and with it the videos beneath.
///
/// Pixels and placements go out in one commit. There is at most one commit for each refresh of the screen; what comes in between goes into the next.
final class PageSurface {
  private let globals: WaylandGlobals
  private let surface: OpaquePointer
  private let subsurface: OpaquePointer
  private let videos: OpaquePointer?
  private var buffers: [PictureBuffer] = []
  private var frameCallback: OpaquePointer?
  private var isWanted = false
  private var shown = Placements()
  /// What is to be shown.
  private var picture: PagePicture?
  private var placements = Placements()
  /// Called when a commit has come to the screen.
  var onPresented: (() -> Void)?
  private(set) var isMapped = false
  /// Commits made, for tests and the log.
  private(set) var commitCount = 0

  /// Buffers of one size: one that the compositor reads and one to write to.
  private static let bufferLimit = 2

  private let parent: OpaquePointer

  init(globals: WaylandGlobals, parent: OpaquePointer) {
    self.globals = globals
    self.parent = parent
    let surface = wl_compositor_create_surface(globals.compositor)!
    self.surface = surface
    subsurface = wl_subcompositor_get_subsurface(globals.subcompositor, surface, parent)
    wl_subsurface_set_desync(subsurface)
    // Input is GTK's.
    let nothing = wl_compositor_create_region(globals.compositor)
    wl_surface_set_input_region(surface, nothing)
    wl_region_destroy(nothing)
    videos = globals.videoManager.map { parlor_video_manager_get_surface($0, surface) }
  }

  deinit {
    if let frameCallback { wl_callback_destroy(frameCallback) }
    for buffer in buffers { buffer.onRelease = nil }
    if let videos { parlor_video_surface_destroy(videos) }
    wl_subsurface_destroy(subsurface)
    wl_surface_destroy(surface)
    wl_display_flush(globals.display)
  }

  /// Shows `picture` with `placements`, now or with the next refresh.
  func show(_ picture: PagePicture, _ placements: Placements) {
    self.picture = picture
    self.placements = placements
    isWanted = true
    commitIfPossible()
  }

  /// Takes the picture off the screen.
  func unmap() {
    guard isMapped else { return }
    isMapped = false
    isWanted = false
    picture = nil
    wl_surface_attach(surface, nil, 0, 0)
    if let videos {
      parlor_video_surface_clear(videos)
      parlor_video_surface_set_canvas(videos, 0)
    }
    shown = Placements()
    wl_surface_commit(surface)
    wl_display_flush(globals.display)
  }

  private func commitIfPossible() {
    let isNew = !isMapped
    guard isWanted, frameCallback == nil, let picture, picture.width > 0, picture.height > 0 else { return }
    if buffers.first.map({ $0.width != picture.width || $0.height != picture.height }) ?? false { buffers = [] }
    let isDamaged = !picture.damage.isEmpty || !isMapped
    if isDamaged {
      guard let buffer = freeBuffer(picture) else { return }
      for other in buffers { other.stale.add(picture.damage) }
      picture.copy(buffer.stale, to: unsafe buffer.pixels)
      buffer.stale.removeAll()
      buffer.attach(to: surface)
      for rectangle in picture.damage.rectangles {
        wl_surface_damage_buffer(surface, Int32(rectangle.x), Int32(rectangle.y), Int32(rectangle.width), Int32(rectangle.height))
      }
      picture.damage.removeAll()
      isMapped = true
    }
    isWanted = false
    if let videos, placements != shown { send(placements, to: videos) }
    shown = placements
    commitCount += 1
    frameCallback = wl_surface_frame(surface)
    unsafe wl_callback_add_listener(frameCallback, Self.listener, Unmanaged.passUnretained(self).toOpaque())
    wl_surface_commit(surface)
    // Some compositors look at a subsurface that has come to show something only with its parent's next commit.
    if isNew { wl_surface_commit(parent) }
    wl_display_flush(globals.display)
  }

  private func freeBuffer(_ picture: PagePicture) -> PictureBuffer? {
    if let free = buffers.first(where: { !$0.isBusy }) { return free }
    guard buffers.count < Self.bufferLimit else { return nil }
    guard let made = PictureBuffer(width: picture.width, height: picture.height, sharedMemory: globals.sharedMemory) else {
      Log.error("no shared memory for a picture of \(picture.width)×\(picture.height)")
      return nil
    }
    made.onRelease = { [unowned self] in commitIfPossible() }
    buffers.append(made)
    return made
  }

  private func send(_ placements: Placements, to videos: OpaquePointer) {
    parlor_video_surface_clear(videos)
    for placement in placements.videos.prefix(Placements.limit) {
      var place = placement.wireForm
      unsafe parlor_video_surface_place(videos, &place)
    }
    parlor_video_surface_set_canvas(videos, placements.canvas ?? 0)
  }

  private func presented() {
    if let frameCallback { wl_callback_destroy(frameCallback) }
    frameCallback = nil
    onPresented?()
    commitIfPossible()
  }

  /// libwayland keeps the address of the table.
  nonisolated(unsafe) private static let listener: UnsafePointer<wl_callback_listener> = {
    let table = UnsafeMutablePointer<wl_callback_listener>.allocate(capacity: 1)
    unsafe table.initialize(
      to: wl_callback_listener(done: { data, _, _ in
        guard let data else { return }
        unsafe Unmanaged<PageSurface>.fromOpaque(data).takeUnretainedValue().presented()
      }))
    return unsafe UnsafePointer(table)
  }()
}
