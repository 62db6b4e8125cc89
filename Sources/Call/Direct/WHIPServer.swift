import Base
import Net
import Synchronization

/// The answering side of WHIP (clients send media) and WHEP (clients play media): sessions, tokens and statuses. What is in offers and candidates is left to handlers.
public final class WHIPServer: Sendable {
  /// Which way media flows.
  public enum Kind: String, Sendable {
    /// WHIP: the client sends.
    case publish = "whip"
    /// WHEP: the client plays.
    case play = "whep"
  }

  /// Why a handler refuses.
  public enum Refusal: Error, Sendable, Equatable {
    /// The description or fragment cannot be read.
    case malformed(String)
    /// It can be read, but not worked with.
    case unprocessable(String)
    /// Not in this state of things: nobody is sending.
    case conflict(String)
    /// No room. Come back after as many seconds.
    case busy(retryAfter: Int)

    fileprivate var response: HTTPResponse {
      func text(_ status: Int, _ reason: String) -> HTTPResponse {
        HTTPResponse(status, headers: ["Content-Type": "text/plain"], body: Array(reason.utf8))
      }
      switch self {
      case .malformed(let reason): return text(400, reason)
      case .unprocessable(let reason): return text(422, reason)
      case .conflict(let reason): return text(409, reason)
      case .busy(let seconds): return HTTPResponse(503, headers: ["Retry-After": "\(seconds)"])
      }
    }
  }

  /// What the owner does.
  public struct Handlers: Sendable {
    /// Answers the offer of a new session, which has the given identifier from now on.
    public var offer: @Sendable (Kind, _ session: String, _ offer: String) async -> Result<String, Refusal>
    /// Takes candidates; of a restart gives back the own new credentials and candidates.
    public var trickle: @Sendable (_ session: String, SDPFragment, _ isRestart: Bool) async -> Result<SDPFragment?, Refusal>
    /// The client ended the session, or the server was stopped.
    public var ended: @Sendable (_ session: String) async -> Void

    /// The three handlers.
    public init(
      offer: @escaping @Sendable (Kind, _ session: String, _ offer: String) async -> Result<String, Refusal>,
      trickle: @escaping @Sendable (_ session: String, SDPFragment, _ isRestart: Bool) async -> Result<SDPFragment?, Refusal>,
      ended: @escaping @Sendable (_ session: String) async -> Void
    ) { (self.offer, self.trickle, self.ended) = (offer, trickle, ended) }
  }

  /// How it is to serve.
  public struct Options: Sendable {
    /// The token that clients must show; nil for none.
    public var token: String?
    /// ICE servers to tell clients of.
    public var iceServers: [ICEServer] = []
    /// How many sessions there may be.
    public var maximumSessions = 16
    /// Whether pages of any origin may use it (CORS).
    public var allowsPages = false
    /// The defaults.
    public init() {}
  }

  private let server: HTTPServer
  private let sessions: WHIPSessions

  /// Serves `/whip` and `/whep` on `address`, by default any free port of the loopback.
  public init(
    on address: SocketAddress = SocketAddress(.loopback4, 0), identity: HTTPServer.Identity? = nil, options: Options = Options(),
    handlers: Handlers
  ) throws(SystemError) {
    let sessions = WHIPSessions(options: options, handlers: handlers)
    server = try HTTPServer(on: address, identity: identity) { await sessions.respond(to: $0) }
    self.sessions = sessions
  }

  /// The endpoint for one kind of session.
  public func url(_ kind: Kind) -> String { "\(server.origin)/\(kind.rawValue)" }

  /// Where it listens.
  public var address: SocketAddress { server.address }

  /// The identifiers of the sessions that stand.
  public var sessionIdentifiers: [String] { sessions.identifiers }

  /// Forgets a session: the call behind it is over. Its client then gets 404.
  public func end(_ session: String) { sessions.remove(session) }

  /// Stops serving and ends all sessions.
  public func stop() async {
    server.stop()
    await sessions.endAll()
  }
}

/// The sessions of a server.
private final class WHIPSessions: Sendable {
  private struct Session {
    let kind: WHIPServer.Kind
    var restarts = 0
    var etag: String { "\"\(restarts)\"" }
  }

  private let options: WHIPServer.Options
  private let handlers: WHIPServer.Handlers
  private let sessions = Mutex<[String: Session]>([:])

  init(options: WHIPServer.Options, handlers: WHIPServer.Handlers) { (self.options, self.handlers) = (options, handlers) }

  var identifiers: [String] { sessions.withLock { Array($0.keys) } }

  @discardableResult
  func remove(_ identifier: String) -> Bool { sessions.withLock { $0.removeValue(forKey: identifier) } != nil }

  func endAll() async {
    let all = sessions.withLock { sessions in
      defer { sessions = [:] }
      return Array(sessions.keys)
    }
    for identifier in all { await handlers.ended(identifier) }
  }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    var response = await route(request)
    if options.allowsPages {
      response.headers.add("Access-Control-Allow-Origin", "*")
      response.headers.add("Access-Control-Expose-Headers", "Location, Link, ETag")
    }
    return response
  }

  private func route(_ request: HTTPRequest) async -> HTTPResponse {
    let parts = request.url.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    guard (1...2).contains(parts.count), let kind = parts.first.flatMap({ WHIPServer.Kind(rawValue: String($0)) }) else {
      return HTTPResponse(404)
    }
    // Preflight requests carry no token (RFC 9725 section 4.7).
    if request.method == "OPTIONS" { return preflight() }
    guard isPermitted(request) else { return HTTPResponse(401, headers: ["WWW-Authenticate": "Bearer"]) }
    if parts.count == 1 {
      return request.method == "POST" ? await post(kind, request) : HTTPResponse(405, headers: ["Allow": "POST, OPTIONS"])
    }
    let identifier = String(parts.last!)
    guard let session = sessions.withLock({ $0[identifier] }), session.kind == kind else { return HTTPResponse(404) }
    switch request.method {
    case "PATCH": return await patch(identifier, session, request)
    case "DELETE":
      guard remove(identifier) else { return HTTPResponse(404) }
      await handlers.ended(identifier)
      return HTTPResponse(200)
    default: return HTTPResponse(405, headers: ["Allow": "PATCH, DELETE, OPTIONS"])
    }
  }

  private func preflight() -> HTTPResponse {
    var headers: HTTPHeaders = ["Accept-Post": "application/sdp"]
    for server in options.iceServers { headers.add("Link", server.linkHeader.description) }
    if options.allowsPages {
      headers.add("Access-Control-Allow-Methods", "POST, PATCH, DELETE")
      headers.add("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match")
    }
    return HTTPResponse(204, headers: headers)
  }

  private func isPermitted(_ request: HTTPRequest) -> Bool {
    guard let token = options.token else { return true }
    let expected = Array("Bearer \(token)".utf8)
    let given = Array((request.headers["Authorization"] ?? "").utf8)
    // In a time that does not tell how much of it is right.
    return given.count == expected.count && zip(given, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private func post(_ kind: WHIPServer.Kind, _ request: HTTPRequest) async -> HTTPResponse {
    guard request.headers.mediaType == "application/sdp" else { return HTTPResponse(415, headers: ["Accept-Post": "application/sdp"]) }
    guard !request.body.isEmpty else { return HTTPResponse(400) }
    var generator = SystemRandomNumberGenerator()
    let identifier = String(generator.next() as UInt64, radix: 36) + String(generator.next() as UInt64, radix: 36)
    let session = Session(kind: kind)
    let hasRoom = sessions.withLock { sessions in
      guard sessions.count < options.maximumSessions else { return false }
      sessions[identifier] = session
      return true
    }
    guard hasRoom else { return WHIPServer.Refusal.busy(retryAfter: 5).response }
    switch await handlers.offer(kind, identifier, String(decoding: request.body, as: UTF8.self)) {
    case .failure(let refusal):
      remove(identifier)
      return refusal.response
    case .success(let answer):
      var headers: HTTPHeaders = ["Content-Type": "application/sdp", "Location": "/\(kind.rawValue)/\(identifier)", "ETag": session.etag]
      for server in options.iceServers { headers.add("Link", server.linkHeader.description) }
      return HTTPResponse(201, headers: headers, body: Array(answer.utf8))
    }
  }

  private func patch(_ identifier: String, _ session: Session, _ request: HTTPRequest) async -> HTTPResponse {
    let type = "application/trickle-ice-sdpfrag"
    guard request.headers.mediaType == type else { return HTTPResponse(415, headers: ["Accept-Patch": type]) }
    let condition = request.headers["If-Match"]
    guard condition == nil || condition == "*" || condition == session.etag else { return HTTPResponse(412) }
    let fragment: SDPFragment
    do {
      fragment = try SDPFragment(parsing: String(decoding: request.body, as: UTF8.self))
    } catch {
      return WHIPServer.Refusal.malformed("\(error)").response
    }
    switch await handlers.trickle(identifier, fragment, condition == "*") {
    case .failure(let refusal): return refusal.response
    case .success(nil): return HTTPResponse(204)
    case .success(let answer?):
      let etag = sessions.withLock { sessions in
        sessions[identifier]?.restarts += 1
        return sessions[identifier]?.etag
      }
      guard let etag else { return HTTPResponse(404) }
      return HTTPResponse(200, headers: ["Content-Type": type, "ETag": etag], body: Array(answer.description.utf8))
    }
  }
}
