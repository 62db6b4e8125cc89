import BridgeMessages

/// Who may use calls, and who may capture.
///
/// Calls: documents of the call's origin and of the allowed origins, in a secure context. A page that only receives needs no grant.
///
/// Capture: the permissions policy must leave the device to the document (W3C Permissions Policy; the extension says so), and the *main frame's*
/// origin must have the grant. That is W3C Permissions' rule: a frame asks with the permission of its top-level page, which delegated it. A grant of
/// a framed origin alone counts for nothing while another page is on the screen: else any admitted page could make use of it by framing it.
struct Admission: Sendable {
  private var origins: Set<String>
  private let grants: @Sendable (String) -> PageService.Grant

  init(settings: PageSettings, grants: @escaping @Sendable (String) -> PageService.Grant) {
    origins = Set(([settings.url] + settings.allowedOrigins).compactMap(Admission.origin))
    self.grants = grants
  }

  /// Admits the origin of a page that the box itself loads.
  mutating func admit(url: String) { if let origin = Admission.origin(url) { origins.insert(origin) } }

  /// Whether the document may use calls at all.
  func admits(_ document: DocumentOpen) -> Bool {
    guard document.isSecure, let origin = Admission.origin(document.origin), origin == document.origin.lowercased() else { return false }
    return origins.contains(origin)
  }

  /// What the document may capture.
  func grant(_ document: DocumentOpen) -> PageService.Grant {
    let granted = grants(document.topOrigin)
    return PageService.Grant(
      camera: granted.camera && document.policy.camera, microphone: granted.microphone && document.policy.microphone)
  }

  /// The origin of a URL, in lower case and without the scheme's own port; nil for what has none, such as `null` and `file:`.
  static func origin(_ url: String) -> String? {
    let lower = url.lowercased()
    guard let scheme = ["https", "http"].first(where: { lower.hasPrefix($0 + "://") }) else { return nil }
    var authority = lower.dropFirst(scheme.count + 3).prefix { !"/?#\\".contains($0) }
    if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
    let port = scheme == "https" ? ":443" : ":80"
    if authority.hasSuffix(port) { authority = authority.dropLast(port.count) }
    return authority.isEmpty ? nil : "\(scheme)://\(authority)"
  }
}
