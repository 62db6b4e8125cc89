import Base
import BridgeMessages
import CGlass
import CWebKit
import FoundationEssentials

/// What the owner of views hears from them.
protocol PageViewOwner: AnyObject {
  func pageView(_ view: PageView, says message: any ControlMessage)
  /// The document that is to come has begun: nothing of the one before runs any more.
  func pageViewCommitted(_ view: PageView)
  /// The first picture of the document is on the screen.
  func pageViewDrew(_ view: PageView)
  /// The view is of no use any more.
  func pageView(_ view: PageView, failed failure: LoadFailure)
}

/// One web view with the surface that shows it. Main thread only.
final class PageView {
  let widget: UnsafeMutablePointer<GtkWidget>
  let engine: Engine
  let surface: PageSurface
  let picture = PagePicture()
  private var composer = PlacementComposer()
  unowned let owner: any PageViewOwner

  /// What the owner asked for, or where the page went since.
  var url: String
  var load = LoadState()
  private(set) var isClosed = false
  var dialogs: [UInt32: PageDialog] = [:]
  private var watchdog: Watchdog?
  private let decoder = JSONDecoder()

  init(engine: Engine, url: String, globals: WaylandGlobals, parent: OpaquePointer, owner: any PageViewOwner) {
    self.engine = engine
    self.url = url
    self.owner = owner
    surface = PageSurface(globals: globals, parent: parent)
    widget = new_web_view(engine.context, engine.session, engine.settings, engine.policies)
    var clear = GdkRGBA(red: 0, green: 0, blue: 0, alpha: 0)
    webkit_web_view_set_background_color(webView, &clear)
    gtk_widget_set_hexpand(widget, 1)
    gtk_widget_set_vexpand(widget, 1)
    surface.onPresented = { [unowned self] in presented() }
    connectMessages()
    connectLoading()
    connectRefusals()
    connectDialogs()
    watchdog = Watchdog(view: self)
  }

  deinit { close() }

  var webView: UnsafeMutablePointer<WebKitWebView> { web_view(widget) }

  /// Ends the page. Its last picture stays on the screen until the view itself goes.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    watchdog = nil
    load.cancelDeadline()
    cancelDialogs()
    disconnect_signals(widget, this)
    if let parent = gtk_widget_get_parent(widget) { glass_container_remove(parent, widget) }
    g_object_unref(widget)
  }

  /// Reports a failure that this view does not survive.
  func fail(_ code: LoadFailure.Code, _ reason: String) {
    guard !isClosed else { return }
    owner.pageView(self, failed: LoadFailure(code, reason))
  }

  // MARK: Picture and placements

  /// An update of the picture is complete.
  func updated(_ update: picture_update) {
    guard !isClosed else { return }
    picture.apply(update)
    composer.pictureUpdated()
    // What is painted before the document begins is the engine's empty page.
    guard load.isCommitted else { return }
    load.hasPicture = true
    surface.show(picture, composer.current)
  }

  /// A document has begun: the next update is its first.
  func documentCommitted() { composer.pageReplaced() }

  private func presented() {
    guard !isClosed, load.hasPicture, !load.isDrawn else { return }
    load.isDrawn = true
    load.cancelDeadline()
    owner.pageViewDrew(self)
  }

  private func connectMessages() {
    let received: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> gboolean = { _, message, data in
      PageView.from(data).receive(message)
      return 1
    }
    connect("user-message-received", unsafeBitCast(received, to: GCallback.self))
  }

  private func receive(_ message: OpaquePointer) {
    var number: guint32 = 0
    var flag: gboolean = 0
    var characters: UnsafeMutablePointer<CChar>?
    guard read_extension_message(message, &number, &flag, &characters) != 0, let characters else { return }
    defer { g_free(characters) }
    switch String(cString: webkit_user_message_get_name(message)) {
    case "place":
      do {
        let text = Data(bytes: characters, count: strlen(characters))
        composer.receive(try decoder.decode(PlacementMessage.self, from: text), of: number, isMainFrame: flag != 0)
      } catch {
        Log.warning("a placement of document \(number) cannot be read: \(error)")
      }
    case "painted":
      if let serial = UInt32(String(cString: characters)), composer.painted(serial, of: number), load.hasPicture {
        surface.show(picture, composer.current)
      }
    case "gone": composer.remove(number)
    case let name: Log.warning("a message named \(name) of the page extension")
    }
  }

  // MARK: Signals

  /// What signal handlers get as their data.
  var this: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static func from(_ data: gpointer?) -> PageView { unsafe Unmanaged<PageView>.fromOpaque(data!).takeUnretainedValue() }

  func connect(_ signal: String, _ handler: @escaping GCallback) { _ = signal_connect(widget, signal, handler, this) }
}
