import Base
import CWebKit

/// Asks a view's web process every few seconds whether it still gets to its main loop, and ends it when it does not: a page that hangs is loaded
/// again, and no last frame stands.
final class Watchdog {
  /// In seconds.
  static let interval: guint = 2
  /// In microseconds: how long an answer may take.
  static let patience: gint64 = 10_000_000

  private unowned let view: PageView
  private var timer: guint = 0
  private var askedAt: gint64?
  private let cancellable = g_cancellable_new()

  init(view: PageView) {
    self.view = view
    timer = g_timeout_add_seconds(
      Self.interval,
      { data in
        unsafe Unmanaged<Watchdog>.fromOpaque(data!).takeUnretainedValue().tick()
        return 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    g_source_remove(timer)
    g_cancellable_cancel(cancellable)
    g_object_unref(cancellable)
  }

  private func tick() {
    // A dialog stops the page on purpose.
    guard view.load.isCommitted, view.dialogs.isEmpty else {
      askedAt = nil
      return
    }
    let now = g_get_monotonic_time()
    if let askedAt {
      guard now - askedAt > Self.patience else { return }
      Log.warning("the page does not answer: its process is ended")
      self.askedAt = nil
      webkit_web_view_terminate_web_process(view.webView)
      return
    }
    askedAt = now
    // The answer comes while the watchdog is there, or else finds the request cancelled.
    webkit_web_view_send_message_to_page(
      view.webView, webkit_user_message_new("ping", nil), cancellable,
      { view, result, data in
        var error: UnsafeMutablePointer<GError>?
        let reply = webkit_web_view_send_message_to_page_finish(web_view(view), result, &error)
        defer {
          g_clear_error(&error)
          if let reply { g_object_unref(UnsafeMutableRawPointer(reply)) }
        }
        if is_error(error, g_io_error_quark(), Int32(G_IO_ERROR_CANCELLED.rawValue)) != 0 { return }
        let watchdog = unsafe Unmanaged<Watchdog>.fromOpaque(data!).takeUnretainedValue()
        watchdog.answered(reply.map { String(cString: webkit_user_message_get_name($0)) })
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func answered(_ name: String?) {
    askedAt = nil
    // The extension lost the bridge, while the host did not: only a new process joins it again.
    if name == "apart" { view.fail(.failed, "the page has no connection to the call") }
  }
}
