import Base
import BridgeMessages
import BridgeSocket
import CGlass
import CWaylandClient
import CWebKit
import FoundationEssentials

/// Why the host cannot go on.
public enum HostError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Nobody listens on the bridge.
  case bridge(String)
  /// There is no compositor, or one that cannot show a page.
  case display(String)
  /// `parlor run` ended, or sent what is no message.
  case lost(String)

  public var description: String {
    switch self {
    case .bridge(let path): "nobody listens at \(path)"
    case .display(let reason): reason
    case .lost(let reason): reason
    }
  }
}

/// The page host: one window of WebKit's on `parlor run`'s screen, driven over the bridge. Main thread only.
public final class PageHost {
  private let options: HostOptions
  private let connection: BridgeConnection
  private let loop: OpaquePointer
  private let globals: WaylandGlobals
  private let window: UnsafeMutablePointer<GtkWidget>
  private let container: UnsafeMutablePointer<GtkWidget>
  private var engine: Engine?
  /// What is on the screen, and what is to take its place once it has drawn.
  private var shown: PageView?
  private var incoming: PageView?
  /// A view that did not reach its server: it has a process and no document yet, which saves the next attempt the engine's start.
  private var spare: PageView?
  /// The last address that `run` asked for.
  private var url = ""
  private var ending: HostError?
  private let encoder = JSONEncoder()
  private let decoder = JSONDecoder()

  /// Connects to the compositor and to the bridge.
  public init(options: HostOptions) throws(HostError) {
    self.options = options
    Self.prepareEnvironment(options)
    guard gtk_init_check() != 0, let display = wayland_display(gdk_display_get_default()) else {
      throw .display("no compositor at \(options.displayPath)")
    }
    guard let globals = WaylandGlobals(display: display) else {
      throw .display("the compositor at \(options.displayPath) lacks subsurfaces")
    }
    self.globals = globals
    guard let connection = BridgeConnection(path: options.bridgePath) else { throw .bridge(options.bridgePath) }
    self.connection = connection
    loop = g_main_loop_new(nil, 0)
    window = gtk_window_new()
    container = glass_container_new()
    Self.makeTransparent()
    gtk_window_set_title(window_of(window), "parlor")
    gtk_window_set_decorated(window_of(window), 0)
    gtk_window_set_child(window_of(window), container)
    gtk_window_set_default_size(window_of(window), 1280, 720)
    gtk_window_fullscreen(window_of(window))
    gtk_window_present(window_of(window))
  }

  /// Runs until `run` asks for the end; throws when the bridge or the compositor is lost.
  public func run() throws(HostError) {
    let this = Unmanaged.passUnretained(self).toOpaque()
    picture_updates_set_handler(
      { update, host in unsafe Unmanaged<PageHost>.fromOpaque(host!).takeUnretainedValue().updated(update!.pointee) }, this)
    if options.pictureFile != nil {
      g_unix_signal_add(
        SIGUSR2,
        { host in
          unsafe Unmanaged<PageHost>.fromOpaque(host!).takeUnretainedValue().writePicture()
          return 1
        }, this)
    }
    g_unix_signal_add(
      SIGTERM,
      { host in
        g_main_loop_quit(unsafe Unmanaged<PageHost>.fromOpaque(host!).takeUnretainedValue().loop)
        return 1
      }, this)
    connection.onFrame = { [unowned self] in receive($0) }
    connection.onClose = { [unowned self] in end(.lost("parlor run is gone")) }
    send(HostHello(version: options.version, process: getpid()))
    g_main_loop_run(loop)
    (incoming, spare, shown) = (nil, nil, nil)
    if let ending { throw ending }
  }

  private func end(_ reason: HostError?) {
    ending = reason
    g_main_loop_quit(loop)
  }

  private func send(_ message: some ControlMessage) {
    // All messages are plain values of strings and numbers.
    guard let data = try? encoder.encode(Typed(message)) else { return }
    connection.send(control: String(decoding: data, as: UTF8.self))
  }

  private func receive(_ frame: BridgeFrame) {
    guard frame.kind == .control, frame.document == 0 else { return end(.lost("a frame of kind \(frame.kind) is not for the host")) }
    let data = Data(frame.payload)
    do {
      switch try decoder.decode(Envelope.self, from: data).type {
      case PageSettings.type:
        let settings = try decoder.decode(PageSettings.self, from: data)
        guard engine == nil else { return end(.lost("page.settings came twice")) }
        do { engine = try Engine(page: settings, options: options) } catch {
          // What is configured is not left out silently: without it no page is loaded.
          return send(PageFailed(code: LoadFailure.Code.tls.rawValue, reason: "\(error)", url: settings.url))
        }
        engine?.onDownload = { [unowned self] in send(PageRefused(url: $0, reason: "downloads are not taken")) }
        load(settings.url)
      case PageLoad.type: load(try decoder.decode(PageLoad.self, from: data).url)
      case PageReload.type: load(url)
      case DialogAnswer.type:
        let answer = try decoder.decode(DialogAnswer.self, from: data)
        if shown?.answer(answer) != true, incoming?.answer(answer) != true {
          Log.info("an answer to dialog \(answer.dialog), which is gone")
        }
      case HostExit.type: end(nil)
      case let type: throw MessageError(member: "type", reason: "\(type) is not for the host")
      }
    } catch let error as DecodingError {
      end(.lost("a message that cannot be read: \(MessageError(error))"))
    } catch {
      end(.lost("a message that cannot be read: \(error)"))
    }
  }

  // MARK: Views

  private func load(_ url: String) {
    guard let engine else { return end(.lost("page.settings has to come first")) }
    self.url = url
    incoming = nil
    guard let view = spare ?? makeView(engine) else { return end(.display("the window has no surface")) }
    spare = nil
    incoming = view
    view.start(url)
  }

  private func makeView(_ engine: Engine) -> PageView? {
    guard let parent = wayland_surface(window) else { return nil }
    let view = PageView(engine: engine, url: url, globals: globals, parent: parent, owner: self)
    glass_container_add(container, view.widget)
    // The new subsurface is there once the window commits.
    // GTK commits nothing when nothing of its own has changed.
    wl_surface_commit(parent)
    return view
  }

  private func updated(_ update: picture_update) {
    for view in [shown, incoming] {
      if let view, !view.isClosed, view.widget == update.view { return view.updated(update) }
    }
  }

  private func writePicture() {
    guard let file = options.pictureFile, let picture = (shown ?? incoming)?.picture, let pixels = picture.pixels else { return }
    let partial = "\(file).partial"
    let surface = unsafe cairo_image_surface_create_for_data(
      UnsafeMutableRawPointer(pixels).assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(picture.width), Int32(picture.height),
      Int32(picture.width * 4))
    cairo_surface_write_to_png(surface, partial)
    cairo_surface_destroy(surface)
    rename(partial, file)
  }

  // MARK: GTK

  /// Everything that GTK and WebKit read from the environment, before either starts.
  private static func prepareEnvironment(_ options: HostOptions) {
    var values = [
      "GDK_BACKEND": "wayland", "WAYLAND_DISPLAY": options.displayPath, "GSK_RENDERER": "cairo", "GTK_A11Y": "none", "GTK_USE_PORTAL": "0",
      "LIBGL_ALWAYS_SOFTWARE": "1", "GIO_USE_VFS": "local", "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1",
      // GTK wants one to look for its own socket in; the display is given as a path.
      "XDG_RUNTIME_DIR": options.runtimeFolder,
    ]
    values["__EGL_VENDOR_LIBRARY_FILENAMES"] = graphicsFile(options)
    for (name, value) in values { setenv(name, value, 1) }
    // An input method of somebody's desktop would keep GTK from telling the stage of text fields.
    unsetenv("GTK_IM_MODULE")
  }

  /// The file that names `CNoGraphics` as the only EGL there is, for this process and those that WebKit starts: they draw with the processor, want an EGL
  /// display all the same, and Mesa's costs each of them tens of megabytes. Nil where it cannot be had: then Mesa it is.
  private static func graphicsFile(_ options: HostOptions) -> String? {
    let library = "\(options.extensionFolder)/libparlor-no-graphics.so"
    let file = "\(options.runtimeFolder)/graphics.json"
    let text = #"{"file_format_version": "1.0.0", "ICD": {"library_path": "\#(library)"}}"#
    guard FileManager.default.fileExists(atPath: library), (try? text.write(toFile: file, atomically: true, encoding: .utf8)) != nil else {
      Log.notice("\(library) or \(file) cannot be used: Mesa's EGL takes more memory")
      return nil
    }
    return file
  }

  private static func makeTransparent() {
    let style = gtk_css_provider_new()
    let text = "window, window.background { background: none; box-shadow: none; }"
    gtk_css_provider_load_from_data(style, text, gssize(text.utf8.count))
    add_style(style)
  }
}

extension PageHost: PageViewOwner {
  func pageView(_ view: PageView, says message: any ControlMessage) { send(message) }

  func pageViewCommitted(_ view: PageView) {
    // Two pages at once would be two callers; what the old one drew stays until the new one has.
    if view === incoming { shown?.close() }
  }

  func pageViewDrew(_ view: PageView) {
    if view === incoming {
      shown = view
      incoming = nil
      glass_container_raise(container, view.widget)
      gtk_widget_grab_focus(view.widget)
    }
    send(PageDrawn(url: view.url))
  }

  func pageView(_ view: PageView, failed failure: LoadFailure) {
    if view === spare {
      Log.notice("the next page's process: \(failure.reason)")
      spare = nil
    } else {
      send(PageFailed(code: failure.code.rawValue, reason: failure.reason, url: view.url))
    }
    if view === incoming, failure.code == .dns || failure.code == .connect, !view.load.isCommitted {
      view.load.cancelDeadline()
      (incoming, spare) = (nil, view)
      if shown?.isClosed == true { shown = nil }
      return
    }
    // The engine is in the midst of telling of it: the view goes once it has done so.
    view.close()
    view.surface.unmap()
    if view === incoming {
      incoming = nil
      // A picture without a page behind it would be a frozen one.
      if shown?.isClosed == true { shown = nil }
    } else if view === shown {
      shown = nil
    }
    retire(view)
  }

  /// Keeps a view until the signal that is running has returned.
  private func retire(_ view: PageView) {
    g_idle_add(
      { data in
        unsafe Unmanaged<PageView>.fromOpaque(data!).release()
        return 0
      }, Unmanaged.passRetained(view).toOpaque())
  }
}
