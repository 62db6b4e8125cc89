import FoundationEssentials

/// Where a page may take its frames.
struct NavigationPolicy: Equatable {
  /// What becomes of a navigation.
  enum Verdict: Equatable {
    case admitted
    /// With the reason, for the log and the screen.
    case refused(String)
  }

  /// The admitted origins: the call's and the configured ones.
  let origins: Set<String>

  /// The policy of a call page at `url`.
  init(url: String, allowedOrigins: [String]) {
    origins = Set(([url] + allowedOrigins).compactMap(Self.origin))
  }

  /// The origin of a URL (RFC 6454 §6.2), of schemes that have one: scheme, host, and the port where it is not the scheme's own.
  static func origin(of url: String) -> String? {
    guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
      let host = parts.percentEncodedHost?.lowercased(), !host.isEmpty
    else { return nil }
    let standard = scheme == "https" ? 443 : 80
    guard let port = parts.port, port != standard else { return "\(scheme)://\(host)" }
    return "\(scheme)://\(host):\(port)"
  }

  /// Judges a navigation to `url` of the page or of a frame in it.
  func verdict(on url: String) -> Verdict {
    let scheme = url.prefix { $0 != ":" }.lowercased()
    switch scheme {
    case "http", "https":
      guard let origin = Self.origin(of: url) else { return .refused("the address cannot be read") }
      return origins.contains(origin) ? .admitted : .refused("\(origin) is not among the admitted origins")
    case "about":
      let isEmpty = url.lowercased().hasPrefix("about:blank") || url.lowercased().hasPrefix("about:srcdoc")
      return isEmpty ? .admitted : .refused("no page of the engine's own is shown")
    case "blob", "data", "javascript":
      // What a page made itself. The engine keeps `data:` from the main frame, as browsers do.
      return .admitted
    default: return .refused("\(scheme): leads out of the page")
    }
  }
}
