/// Why a page could not be loaded or does not go on: one of the codes that BRIDGE.md lists, and a sentence for a person.
public struct LoadFailure: Error, Equatable, Sendable {
  /// The stable codes.
  public enum Code: String, Sendable {
    case dns = "page.dns"
    case connect = "page.connect"
    case tls = "page.tls"
    case http = "page.http"
    case timeout = "page.timeout"
    case redirects = "page.redirects"
    case size = "page.size"
    case crashed = "page.crashed"
    case hung = "page.hung"
    case memory = "page.memory"
    case failed = "page.failed"
  }

  /// Which kind.
  public var code: Code
  /// What happened, for a person.
  public var reason: String

  /// A failure of that kind.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// The failure that an error of the web engine stands for: errors of GIO and of the HTTP library come through under their own names.
  init(domain: String, number: Int, message: String) {
    switch domain {
    case "g-resolver-error-quark": self.init(.dns, message)
    case "g-tls-error-quark": self.init(.tls, message)
    case "g-io-error-quark": self.init(.connect, message)
    default:
      if message.lowercased().contains("redirect") { self.init(.redirects, message) } else { self.init(.failed, message) }
    }
  }
}
