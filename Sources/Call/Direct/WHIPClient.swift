import Base
import Net

/// Signals a direct call as the client of a WHIP endpoint (RFC 9725) or a WHEP endpoint (draft-ietf-wish-whep): offer and answer, candidates and
/// restarts while it lasts, and its end. Requests go out one after the other, in the order of the calls. It knows nothing of media.
public actor WHIPClient {
  /// What the server answered to the offer.
  public struct Answer: Sendable, Equatable {
    /// The answer (of a counter-offer: the offer), as `application/sdp`.
    public var sdp: String
    /// The URL of the session.
    public var resource: String
    /// The tag of the ICE session, when the server tells one.
    public var etag: String?
    /// The STUN and TURN servers that the server tells of.
    public var iceServers: [ICEServer]
  }

  /// What an endpoint says of itself before a call.
  public struct Preflight: Sendable, Equatable {
    /// The STUN and TURN servers that the server tells of.
    public var iceServers: [ICEServer]
    /// Whether it takes offers; nil when it does not say (no `Accept-Post`).
    public var acceptsOffers: Bool?
    /// What an endpoint says.
    public init(iceServers: [ICEServer], acceptsOffers: Bool?) { (self.iceServers, self.acceptsOffers) = (iceServers, acceptsOffers) }
  }

  private static let maximumRedirects = 5

  private let endpoint: SignallingEndpoint
  private let client: HTTPClient
  private let options: HTTPClient.Options
  private var resource: HTTPURL?
  private var etag: String?
  private var acceptsTrickle = true
  private var isBusy = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// A client for one session at a time with `endpoint`. An answer has to come within `timeout`.
  public init(endpoint: SignallingEndpoint, client: HTTPClient, timeout: Interval = .seconds(15)) {
    (self.endpoint, self.client) = (endpoint, client)
    options = HTTPClient.Options(timeout: timeout, maximumBody: 1 << 20)
  }

  /// The URL of the session; nil while there is none.
  public var session: String? { resource?.description }

  /// Offers a session. Redirections by 307 and 308 are followed, a few. A WHEP server that would rather offer itself ends in `SignallingError.counterOffer`.
  public func post(offer: String) async throws(SignallingError) -> Answer {
    try await inTurn { () async throws(SignallingError) in
      let headers: HTTPHeaders = ["Content-Type": "application/sdp", "Accept": "application/sdp"]
      let response = try await self.send(HTTPRequest("POST", self.endpoint.url, headers: headers, body: Array(offer.utf8)))
      let isCounterOffer = response.status == 406 && response.headers.mediaType == "application/sdp" && response.headers["Location"] != nil
      guard response.status == 201 || response.status == 200 || isCounterOffer else { throw SignallingError(response) }
      let answer = try self.begin(response)
      if isCounterOffer { throw .counterOffer(answer) }
      return answer
    }
  }

  /// Answers a WHEP server's counter-offer.
  public func answer(_ sdp: String) async throws(SignallingError) {
    try await inTurn { () async throws(SignallingError) in
      let response = try await self.send(self.request("PATCH", ["Content-Type": "application/sdp"], Array(sdp.utf8)))
      guard response.status == 204 || response.status == 200 else { throw SignallingError(response) }
    }
  }

  /// Sends candidates found after the offer (an `SDPFragment`'s text). False when the server does not take them: then those in the offer must do, and no
  /// more is asked.
  @discardableResult
  public func patch(_ fragment: String) async throws(SignallingError) -> Bool {
    try await inTurn { () async throws(SignallingError) in
      guard self.acceptsTrickle else { return false }
      var headers: HTTPHeaders = ["Content-Type": "application/trickle-ice-sdpfrag"]
      if let etag = self.etag { headers["If-Match"] = etag }
      let response = try await self.send(self.request("PATCH", headers, Array(fragment.utf8)))
      switch response.status {
      case 204, 200: return true
      case 405, 415, 501:
        self.acceptsTrickle = false
        return false
      default: throw SignallingError(response)
      }
    }
  }

  /// Restarts ICE with the new credentials and candidates in `fragment`; gives back the server's own (RFC 9725 section 4.3.2).
  public func restart(_ fragment: String) async throws(SignallingError) -> SDPFragment {
    try await inTurn { () async throws(SignallingError) in
      let headers: HTTPHeaders = ["Content-Type": "application/trickle-ice-sdpfrag", "If-Match": "*"]
      let response = try await self.send(self.request("PATCH", headers, Array(fragment.utf8)))
      guard response.status == 200 else {
        throw response.status == 204 ? .invalidAnswer("it took the restart for candidates only (204)") : SignallingError(response)
      }
      self.etag = response.headers["ETag"]
      guard response.headers.mediaType == "application/trickle-ice-sdpfrag" else { throw self.wrongType(response) }
      do { return try SDPFragment(parsing: String(decoding: response.body, as: UTF8.self)) } catch { throw .invalidAnswer("\(error)") }
    }
  }

  /// Ends the session; does nothing when there is none. Here it is over whatever the server says.
  public func delete() async throws(SignallingError) {
    try await inTurn { () async throws(SignallingError) in
      guard self.resource != nil else { return }
      let request = try self.request("DELETE", [:], [])
      self.resource = nil
      let response = try await self.send(request)
      guard (200...299).contains(response.status) || response.status == 404 || response.status == 410 else {
        throw SignallingError(response)
      }
    }
  }

  /// Asks the endpoint, without a session, what it takes and which ICE servers it has: so that gathering may begin before the offer.
  public func preflight() async throws(SignallingError) -> Preflight {
    try await inTurn { () async throws(SignallingError) in
      let response = try await self.send(HTTPRequest("OPTIONS", self.endpoint.url))
      guard (200...299).contains(response.status) else { throw SignallingError(response) }
      let types = response.headers.all("Accept-Post").flatMap { $0.split(separator: ",") }
      return Preflight(
        iceServers: WHIPClient.iceServers(response),
        acceptsOffers: types.isEmpty ? nil : types.contains { $0.lowercased().contains("application/sdp") })
    }
  }

  // MARK: How

  private func begin(_ response: HTTPResponse) throws(SignallingError) -> Answer {
    guard response.headers.mediaType == "application/sdp" else { throw wrongType(response) }
    guard !response.body.isEmpty else { throw .invalidAnswer("it is empty") }
    guard let location = response.headers["Location"] else { throw .invalidAnswer("it does not say where the session is (no Location)") }
    let resource: HTTPURL
    do { resource = try (response.url ?? endpoint.url).resolving(location) } catch { throw .invalidAnswer("the session's URL \(error)") }
    if endpoint.url.scheme == "https", resource.scheme != "https" { throw .invalidAnswer("it puts the session from https to http") }
    self.resource = resource
    etag = response.headers["ETag"]
    acceptsTrickle = true
    return Answer(
      sdp: String(decoding: response.body, as: UTF8.self), resource: resource.description, etag: etag,
      iceServers: WHIPClient.iceServers(response))
  }

  private func wrongType(_ response: HTTPResponse) -> SignallingError {
    .invalidAnswer("its type is \(response.headers.mediaType ?? "not given")")
  }

  private static func iceServers(_ response: HTTPResponse) -> [ICEServer] {
    response.headers.all("Link").flatMap(LinkHeader.parse).compactMap(ICEServer.init)
  }

  private func request(_ method: String, _ headers: HTTPHeaders, _ body: [UInt8]) throws(SignallingError) -> HTTPRequest {
    guard let resource else { throw .noSession }
    return HTTPRequest(method, resource, headers: headers, body: body)
  }

  /// Sends a request with the token where it belongs, and follows redirections that keep the method.
  private func send(_ request: HTTPRequest) async throws(SignallingError) -> HTTPResponse {
    var request = request
    for _ in 0...WHIPClient.maximumRedirects {
      let showsToken = endpoint.keepsTokenAcrossOrigins || request.url.origin == endpoint.url.origin
      request.headers["Authorization"] = showsToken ? endpoint.token.map { "Bearer \($0)" } : nil
      let response: HTTPResponse
      do { response = try await client.send(request, options: options) } catch { throw .transport(error) }
      guard (300...399).contains(response.status) else {
        if response.status == 401, endpoint.token != nil, !showsToken {
          throw .refused(
            .unauthorized, status: 401,
            detail: "the token for \(endpoint.url.origin) was not shown to \(request.url.origin), where the server led")
        }
        return response
      }
      guard response.status == 307 || response.status == 308 else {
        throw .redirect("status \(response.status) would lose the offer; WHIP needs 307 or 308")
      }
      do throws(HTTPError) {
        guard let next = try HTTPClient.redirected(request, response) else { throw HTTPError.redirect(reason: "it does not say where to") }
        request = next
      } catch .redirect(let reason) {
        throw .redirect(reason)
      } catch {
        throw .redirect("\(error)")
      }
    }
    throw .redirect("more than \(WHIPClient.maximumRedirects) in a row")
  }

  /// Does `body` when all that was asked for before is done: a server takes changes of a session in order only.
  private func inTurn<T: Sendable>(_ body: () async throws(SignallingError) -> T) async throws(SignallingError) -> T {
    if isBusy { await withCheckedContinuation { waiting.append($0) } }
    isBusy = true
    defer { if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() } }
    return try await body()
  }
}
