import Base
import CCurl
import COpenSSL
import Glibc
import Synchronization

/// An HTTP client (libcurl) with connections kept open between requests. It trusts whom the given store trusts, and uses the given proxy or else the one that
/// the environment names (`http_proxy`, `https_proxy`, `no_proxy`), never for this machine itself.
public final class HTTPClient: Sendable {
  /// How a request is to be made.
  public struct Options: Sendable {
    /// From the beginning to the last byte of the answer, each redirection anew.
    public var timeout: Interval = .seconds(15)
    /// The longest answer accepted, in bytes.
    public var maximumBody = 4 << 20
    /// How many redirections are followed. `Authorization` and `Cookie` go along within one origin only; from `https` to `http` none is followed.
    public var maximumRedirects = 0
    /// Takes the content of a successful answer piece by piece, with the length that the server told; false ends the request. nil: the response holds the content.
    public var receive: (@Sendable (_ piece: [UInt8], _ length: Int?) -> Bool)?
    /// The defaults.
    public init() {}
    /// The defaults but for these.
    public init(timeout: Interval = .seconds(15), maximumBody: Int = 4 << 20, maximumRedirects: Int = 0) {
      (self.timeout, self.maximumBody, self.maximumRedirects) = (timeout, maximumBody, maximumRedirects)
    }
  }

  private let transfers: HTTPTransfers

  /// A client with a thread of its own, which ends with it.
  public init(trust: TrustStore = .system, userAgent: String = "parlor", proxy: HTTPProxy? = nil) {
    transfers = HTTPTransfers(trust: trust, userAgent: userAgent, proxy: proxy)
  }

  deinit { transfers.close() }

  /// Ends all requests with `HTTPError.cancelled`, and all that would follow.
  public func close() { transfers.close() }

  /// Makes a request. Any status is a response; an error means that there is none. Cancelling the task ends it.
  public func send(_ request: HTTPRequest, options: Options = Options()) async throws(HTTPError) -> HTTPResponse {
    var request = request
    var redirects = 0
    while true {
      let response = try await transfers.perform(request, options)
      guard options.maximumRedirects > 0, let next = try HTTPClient.redirected(request, response) else { return response }
      redirects += 1
      guard redirects <= options.maximumRedirects else { throw .redirect(reason: "more than \(options.maximumRedirects) in a row") }
      request = next
    }
  }

  /// The request that a redirection asks for in place of `request` (RFC 9110 section 15.4); nil when `response` is none.
  public static func redirected(_ request: HTTPRequest, _ response: HTTPResponse) throws(HTTPError) -> HTTPRequest? {
    guard [301, 302, 303, 307, 308].contains(response.status), let location = response.headers["Location"] else { return nil }
    var next = request
    do { next.url = try request.url.resolving(location) } catch { throw .url(error) }
    if request.url.scheme == "https", next.url.scheme != "https" { throw .redirect(reason: "it leads from https to http") }
    if next.url.origin != request.url.origin {
      next.headers.remove("Authorization")
      next.headers.remove("Cookie")
    }
    if response.status == 303 && request.method != "HEAD" || response.status < 303 && request.method == "POST" {
      next.method = "GET"
      next.body = []
      next.headers.remove("Content-Type")
    }
    return next
  }
}
