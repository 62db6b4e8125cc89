import Base
import CDemoPage
import DTLS
import FoundationEssentials
import Net
import WebRTC

/// The site of the built-in demo page, on the loopback: serves the page, and carries its calls to the built-in peer.
///
/// | Request | Does |
/// | --- | --- |
/// | `GET /`, `/style.css`, `/call.js` | the page |
/// | `POST /started` | the page says that it runs |
/// | `POST /calls` with `{sdp}` | answers an offer: `{session, sdp}` |
/// | `POST /calls/SESSION/candidates` | takes a candidate, as `RTCIceCandidate` writes itself |
/// | `POST /calls/SESSION/end` | hangs up |
public final class DemoSite: Sendable {
  /// What happened on the page's side and on the peer's.
  public struct Times: Sendable, Equatable {
    /// When the page's script began.
    public var started: Instant?
    /// When the peer was first connected.
    public var connected: Instant?
    /// How many calls the page placed.
    public var calls = 0
  }

  /// The other end of the page's calls.
  public let peer: BuiltInPeer
  private let server = Guarded<HTTPServer?>(nil)
  private let state = Guarded(Times())

  /// Starts the site at any free port.
  public init() async throws {
    peer = try await BuiltInPeer(token: UUID().uuidString, certificate: try Certificate.generate())
    do {
      let made = try HTTPServer(maximumBody: 1 << 18) { [unowned self] in await answer($0) }
      server.with { $0 = made }
    } catch {
      await peer.stop()
      throw error
    }
  }

  /// The page's origin.
  public var origin: String { server.with { $0?.origin ?? "" } }
  /// The page's URL.
  public var url: String { origin + "/" }
  /// What happened so far.
  public var times: Times { state.with { $0 } }

  /// Ends all calls, the peer and the server.
  public func stop() async {
    let running = server.with { server in
      defer { server = nil }
      return server
    }
    running?.stop()
    await peer.stop()
  }

  // MARK: Requests

  private struct Offer: Codable { var sdp: String }

  private struct Answer: Codable { var session, sdp: String }

  private struct Candidate: Codable {
    var candidate: String
    var sdpMid: String?
    var sdpMLineIndex: Int?
    var usernameFragment: String?
  }

  private func answer(_ request: HTTPRequest) async -> HTTPResponse {
    let path = request.url.path.split(separator: "/").map(String.init)
    switch (request.method, path.count, path.first) {
    case ("GET", 0...1, _): return DemoSite.file(path.first ?? "index.html")
    case ("POST", 1, "started"):
      state.with { if $0.started == nil { $0.started = MonotonicClock.now() } }
      return HTTPResponse(204)
    case ("POST", 1, "calls"): return await place(request.body)
    case ("POST", 3, "calls") where path[2] == "candidates": return await trickle(request.body, session: path[1])
    case ("POST", 3, "calls") where path[2] == "end":
      await peer.end(path[1])
      return HTTPResponse(204)
    default: return HTTPResponse(404)
    }
  }

  private static func file(_ name: String) -> HTTPResponse {
    let types = ["html": "text/html; charset=utf-8", "css": "text/css", "js": "text/javascript"]
    var length = 0
    guard let type = types[String(name.split(separator: ".").last ?? "")], let bytes = unsafe demo_page_file(name, &length) else {
      return HTTPResponse(404)
    }
    return HTTPResponse(
      200,
      headers: [
        "Content-Type": type, "Cache-Control": "no-cache", "Content-Security-Policy": "default-src 'self'",
        "X-Content-Type-Options": "nosniff",
      ], body: unsafe Array(UnsafeBufferPointer(start: bytes, count: length)))
  }

  private func place(_ body: [UInt8]) async -> HTTPResponse {
    guard let offer = try? JSONDecoder().decode(Offer.self, from: Data(body)) else { return HTTPResponse(400) }
    let session = UUID().uuidString
    state.with { $0.calls += 1 }
    let answer = await peer.answer(.call, session: session, offer: offer.sdp) { [weak self] state in
      guard state == .connected else { return }
      self?.state.with { if $0.connected == nil { $0.connected = MonotonicClock.now() } }
    }
    switch answer {
    case .failure(let refusal):
      Log.warning("the demo's peer refuses an offer: \(refusal)")
      return HTTPResponse(422)
    case .success(let sdp):
      guard let body = try? JSONEncoder().encode(Answer(session: session, sdp: sdp)) else { return HTTPResponse(500) }
      return HTTPResponse(200, headers: ["Content-Type": "application/json"], body: Array(body))
    }
  }

  private func trickle(_ body: [UInt8], session: String) async -> HTTPResponse {
    guard let candidate = try? JSONDecoder().decode(Candidate.self, from: Data(body)), let mid = candidate.sdpMid else {
      return HTTPResponse(400)
    }
    let fragment = SDPFragment(
      usernameFragment: candidate.usernameFragment, password: nil, media: [SDPFragment.Media(mid: mid, candidates: [candidate.candidate])])
    if case .failure(let refusal) = await peer.trickle(session, fragment, isRestart: false) {
      Log.warning("the demo's peer refuses a candidate: \(refusal)")
      return HTTPResponse(422)
    }
    return HTTPResponse(204)
  }
}
