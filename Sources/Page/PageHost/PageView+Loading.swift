import Base
import BridgeMessages
import CWebKit
import FoundationEssentials

/// Loading: what the engine tells of it, its end by a deadline, and responses that are not taken.
extension PageView {
  /// The most that the main resource may be, in bytes.
  static let sizeLimit: UInt64 = 100_000_000

  /// Loads `url`. The document is asked for anew, whatever the cache has of it: a page that is loaded again is the one that its server has now.
  func start(_ url: String) {
    self.url = url
    beginDeadline()
    let request = webkit_uri_request_new(url)
    defer { g_object_unref(UnsafeMutableRawPointer(request)) }
    if let headers = webkit_uri_request_get_http_headers(request) { soup_message_headers_replace(headers, "Cache-Control", "max-age=0") }
    webkit_web_view_load_request(webView, request)
  }

  private func beginDeadline() {
    load.begin(deadline: engine.page.loadDeadline, data: this) { data in
      let view = PageView.from(data)
      view.load.deadlineExpired()
      view.fail(.timeout, "nothing was drawn within \(seconds(view.engine.page.loadDeadline)) s")
      return 0
    }
  }

  func connectLoading() {
    let changed: @convention(c) (OpaquePointer, WebKitLoadEvent, gpointer?) -> Void = { _, event, data in
      PageView.from(data).loadChanged(event)
    }
    connect("load-changed", unsafeBitCast(changed, to: GCallback.self))
    let failed: @convention(c) (OpaquePointer, WebKitLoadEvent, UnsafePointer<CChar>?, UnsafePointer<GError>?, gpointer?) -> gboolean = {
      _, _, uri, error, data in
      PageView.from(data).loadFailed(uri.map { String(cString: $0) } ?? "", unsafe error?.pointee)
      return 1
    }
    connect("load-failed", unsafeBitCast(failed, to: GCallback.self))
    let untrusted: @convention(c) (OpaquePointer, UnsafePointer<CChar>?, OpaquePointer?, GTlsCertificateFlags, gpointer?) -> gboolean = {
      _, uri, _, flags, data in
      PageView.from(data).fail(.tls, "the server's certificate is not trusted: \(describe(flags))")
      return 1
    }
    connect("load-failed-with-tls-errors", unsafeBitCast(untrusted, to: GCallback.self))
    let terminated: @convention(c) (OpaquePointer, WebKitWebProcessTerminationReason, gpointer?) -> Void = { _, reason, data in
      PageView.from(data).processTerminated(reason)
    }
    connect("web-process-terminated", unsafeBitCast(terminated, to: GCallback.self))
    let titled: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> Void = { _, _, data in
      let view = PageView.from(data)
      if let title = webkit_web_view_get_title(view.webView) { view.owner.pageView(view, says: PageTitle(title: String(cString: title))) }
    }
    connect("notify::title", unsafeBitCast(titled, to: GCallback.self))
  }

  private var currentURL: String { webkit_web_view_get_uri(webView).map { String(cString: $0) } ?? url }

  private func loadChanged(_ event: WebKitLoadEvent) {
    switch event {
    case WEBKIT_LOAD_STARTED:
      // The page itself went on to another document.
      if load.isCommitted { beginDeadline() }
      url = currentURL
      owner.pageView(self, says: PageLoading(url: url))
    case WEBKIT_LOAD_COMMITTED:
      url = currentURL
      load.isCommitted = true
      documentCommitted()
      owner.pageView(self, says: PageCommitted(url: url))
      owner.pageViewCommitted(self)
    case WEBKIT_LOAD_FINISHED:
      if load.isCommitted { owner.pageView(self, says: PageFinished(url: currentURL)) }
    default: break
    }
  }

  private func loadFailed(_ uri: String, _ error: GError?) {
    guard let error else { return fail(.failed, "the page cannot be loaded") }
    let domain = String(cString: g_quark_to_string(error.domain))
    if let refusal = load.refusal { return fail(refusal.code, refusal.reason) }
    // Stopped, or taken over by the next load.
    if domain == String(cString: g_quark_to_string(webkit_network_error_quark())), error.code == WEBKIT_NETWORK_ERROR_CANCELLED.rawValue {
      return
    }
    let failure = LoadFailure(domain: domain, number: Int(error.code), message: String(cString: error.message))
    Log.info("load of \(uri) failed: \(domain) \(error.code)")
    // A page that tried to go on and could not is still there.
    fail(failure.code, failure.reason)
  }

  private func processTerminated(_ reason: WebKitWebProcessTerminationReason) {
    switch reason {
    case WEBKIT_WEB_PROCESS_EXCEEDED_MEMORY_LIMIT: fail(.memory, "the page took more memory than it may")
    case WEBKIT_WEB_PROCESS_CRASHED: fail(.crashed, "the page's process ended unexpectedly")
    default: fail(.hung, "the page's process did not answer any more")
    }
  }

  /// Whether the response to a navigation is taken.
  func judgeResponse(_ decision: OpaquePointer) {
    let response = webkit_response_policy_decision_get_response(decision)
    let uri = webkit_uri_response_get_uri(response).map { String(cString: $0) } ?? ""
    guard webkit_response_policy_decision_is_main_frame_main_resource(decision) != 0 else {
      if webkit_response_policy_decision_is_mime_type_supported(decision) != 0 {
        return webkit_policy_decision_use(policy_decision(decision))
      }
      owner.pageView(self, says: PageRefused(url: uri, reason: "downloads are not taken"))
      return webkit_policy_decision_ignore(policy_decision(decision))
    }
    let status = webkit_uri_response_get_status_code(response)
    let length = webkit_uri_response_get_content_length(response)
    if status >= 400 {
      load.refusal = LoadFailure(.http, "the server answered \(status)")
    } else if length >= Self.sizeLimit {
      load.refusal = LoadFailure(.size, "the page is \(length / 1_000_000) MB")
    } else if webkit_response_policy_decision_is_mime_type_supported(decision) == 0 {
      owner.pageView(self, says: PageRefused(url: uri, reason: "downloads are not taken"))
      load.refusal = LoadFailure(.failed, "the address leads to a file, not a page")
    }
    if load.refusal == nil {
      webkit_policy_decision_use(policy_decision(decision))
    } else {
      webkit_policy_decision_ignore(policy_decision(decision))
    }
  }
}

/// What is wrong with a certificate, for a person.
func describe(_ flags: GTlsCertificateFlags) -> String {
  let names: [(GTlsCertificateFlags, String)] = [
    (G_TLS_CERTIFICATE_UNKNOWN_CA, "its issuer is unknown"), (G_TLS_CERTIFICATE_BAD_IDENTITY, "it is for another name"),
    (G_TLS_CERTIFICATE_NOT_ACTIVATED, "it is not valid yet"), (G_TLS_CERTIFICATE_EXPIRED, "it has expired"),
    (G_TLS_CERTIFICATE_REVOKED, "it has been revoked"), (G_TLS_CERTIFICATE_INSECURE, "its algorithm is insecure"),
  ]
  let found = names.filter { flags.rawValue & $0.0.rawValue != 0 }.map(\.1)
  return found.isEmpty ? "it could not be verified" : found.joined(separator: ", ")
}

/// A number of seconds as people write it.
private func seconds(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }
