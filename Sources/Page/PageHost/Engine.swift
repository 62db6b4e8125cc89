import Base
import BridgeMessages
import CWebKit
import FoundationEssentials

/// What all views share: WebKit's context, network session, settings and policies, made once from `page.settings`.
final class Engine {
  let context: OpaquePointer
  let session: OpaquePointer
  let settings: OpaquePointer
  let policies: OpaquePointer
  let navigation: NavigationPolicy
  let page: PageSettings
  let trust: Trust
  /// Called with the address of each download that was begun, and stopped.
  var onDownload: ((String) -> Void)?

  /// What call services take for a browser that they know. The engine is Safari's: pages that look for its name run the code that suits it, while with
  /// another's they would use what it lacks. WebKitGTK's own text names Linux, which some services turn away as unknown.
  static let userAgent =
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15"
  /// In MiB: what the web process may take when `page.settings` says nothing.
  static let memoryLimit = 1024

  init(page: PageSettings, options: HostOptions) throws(Trust.Unusable) {
    self.page = page
    trust = try Trust(page, module: "\(options.extensionFolder)/libparlor-page-trust.so")
    navigation = NavigationPolicy(url: page.url, allowedOrigins: page.allowedOrigins)

    let memory = webkit_memory_pressure_settings_new()
    defer { webkit_memory_pressure_settings_free(memory) }
    webkit_memory_pressure_settings_set_memory_limit(memory, guint(min(max(page.memoryLimit ?? Self.memoryLimit, 128), 1 << 20)))
    // Each of these has to be above the ones before as they stand.
    webkit_memory_pressure_settings_set_kill_threshold(memory, 1)
    webkit_memory_pressure_settings_set_strict_threshold(memory, 0.75)
    webkit_memory_pressure_settings_set_conservative_threshold(memory, 0.5)
    webkit_memory_pressure_settings_set_poll_interval(memory, 2)
    context = new_web_context(memory)
    webkit_web_context_set_cache_model(context, WEBKIT_CACHE_MODEL_DOCUMENT_BROWSER)
    webkit_web_context_set_spell_checking_enabled(context, 0)
    webkit_web_context_add_path_to_sandbox(context, options.extensionFolder, 1)
    webkit_web_context_add_path_to_sandbox(context, options.runtimeFolder, 1)
    if let folder = trust.folder { webkit_web_context_add_path_to_sandbox(context, folder, 1) }
    webkit_web_context_set_web_process_extensions_directory(context, options.extensionFolder)

    session = Self.makeSession(page.dataFolder)
    webkit_network_session_set_tls_errors_policy(session, WEBKIT_TLS_ERRORS_POLICY_FAIL)
    webkit_network_session_set_persistent_credential_storage_enabled(session, 0)
    // The page's data is its own: what it embeds from elsewhere may keep a session, as the site's makers saw it work.
    webkit_network_session_set_itp_enabled(session, 0)

    if let proxy = page.proxy { Self.use(proxy, in: session) }

    settings = webkit_settings_new()
    webkit_settings_set_hardware_acceleration_policy(settings, WEBKIT_HARDWARE_ACCELERATION_POLICY_NEVER)
    webkit_settings_set_user_agent(settings, page.userAgent ?? Self.userAgent)
    webkit_settings_set_enable_media_stream(settings, 0)
    webkit_settings_set_enable_webrtc(settings, 0)
    webkit_settings_set_media_playback_requires_user_gesture(settings, 0)
    webkit_settings_set_media_playback_allows_inline(settings, 1)
    webkit_settings_set_javascript_can_open_windows_automatically(settings, 0)
    webkit_settings_set_enable_page_cache(settings, 0)
    webkit_settings_set_enable_back_forward_navigation_gestures(settings, 0)
    webkit_settings_set_enable_developer_extras(settings, 0)
    webkit_settings_set_enable_fullscreen(settings, 1)
    webkit_settings_set_enable_smooth_scrolling(settings, 0)
    webkit_settings_set_enable_site_specific_quirks(settings, 0)

    policies = make_website_policies()
    let socket = options.bridgePath
    let origins = navigation.origins.sorted()
    withCStrings(origins) { set_extension_data(context, socket, $0, options.logLevel == .debug ? 1 : 0) }

    let begun: @convention(c) (OpaquePointer, OpaquePointer, gpointer?) -> Void = { _, download, engine in
      let address = webkit_uri_request_get_uri(webkit_download_get_request(download)).map { String(cString: $0) } ?? ""
      webkit_download_cancel(download)
      unsafe Unmanaged<Engine>.fromOpaque(engine!).takeUnretainedValue().onDownload?(address)
    }
    _ = signal_connect(
      UnsafeMutableRawPointer(session), "download-started", unsafeBitCast(begun, to: GCallback.self),
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// Has a proxy fetch everything but what is on this machine. Its password is asked for, and given in `PageView`.
  private static func use(_ proxy: PageProxy, in session: OpaquePointer) {
    withCStrings(["localhost", "127.0.0.0/8", "::1"] + proxy.exceptions) { exceptions in
      let settings = webkit_network_proxy_settings_new(proxy.url, exceptions)
      webkit_network_session_set_proxy_settings(session, WEBKIT_NETWORK_PROXY_MODE_CUSTOM, settings)
      webkit_network_proxy_settings_free(settings)
    }
  }

  /// The session on the data folder. Data that cannot be used never stops a start: it is put aside, or else nothing is kept.
  private static func makeSession(_ folder: String?) -> OpaquePointer {
    guard let folder else { return webkit_network_session_new_ephemeral() }
    let data = "\(folder)/page"
    let cache = "\(folder)/page-cache"
    do {
      for path in [data, cache] { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
      let probe = "\(data)/.probe"
      try Data().write(to: URL(fileURLWithPath: probe))
      try FileManager.default.removeItem(atPath: probe)
    } catch {
      Log.warning("the page's data folder cannot be used, nothing will be kept: \(systemReason(error))")
      return webkit_network_session_new_ephemeral()
    }
    return webkit_network_session_new(data, cache)
  }
}

/// Calls `body` with the strings as a C array that NULL ends.
private func withCStrings(_ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Void) {
  var pointers: [UnsafePointer<CChar>?] = strings.map { unsafe UnsafePointer(strdup($0)) }
  pointers.append(nil)
  pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  for pointer in pointers { free(unsafe UnsafeMutablePointer(mutating: pointer)) }
}
