import Base
import Call
import Net
import Synchronization
import Testing

/// The client against servers that answer as the tests say.
@Suite(.timeLimit(.minutes(1))) struct WHIPClientTests {
  static let sdp: HTTPHeaders = ["Content-Type": "application/sdp", "Location": "/session/1"]
  let http = HTTPClient()

  func post(_ server: HTTPServer, path: String = "/whip", token: String? = nil) async throws(SignallingError) -> WHIPClient.Answer {
    try await WHIPClient(endpoint: try SignallingEndpoint(url: server.origin + path, token: token), client: http).post(offer: "offer")
  }

  struct Refused: Sendable {
    let status: Int
    var headers: HTTPHeaders = ["Content-Type": "text/plain"]
    let code: String
    let isTransient: Bool
  }

  @Test(arguments: [
    Refused(status: 400, code: "call.bad-request", isTransient: false), Refused(status: 401, code: "call.unauthorized", isTransient: false),
    Refused(status: 403, code: "call.forbidden", isTransient: false), Refused(status: 404, code: "call.not-found", isTransient: true),
    Refused(status: 405, code: "call.not-allowed", isTransient: false),
    Refused(status: 406, code: "call.not-acceptable", isTransient: false),
    Refused(status: 409, code: "call.conflict", isTransient: true), Refused(status: 410, code: "call.gone", isTransient: true),
    Refused(status: 412, code: "call.precondition-failed", isTransient: true),
    Refused(status: 413, code: "call.too-large", isTransient: false),
    Refused(status: 415, code: "call.unsupported-media-type", isTransient: false),
    Refused(status: 422, code: "call.unprocessable", isTransient: false),
    Refused(status: 428, code: "call.precondition-required", isTransient: false),
    Refused(status: 429, code: "call.busy", isTransient: true),
    Refused(status: 500, code: "call.server-error", isTransient: true), Refused(status: 501, code: "call.not-allowed", isTransient: false),
    Refused(status: 503, headers: ["Retry-After": "17"], code: "call.busy", isTransient: true),
    Refused(status: 204, code: "call.unexpected", isTransient: false),
    Refused(status: 301, headers: ["Location": "/x"], code: "call.redirect", isTransient: false),
    Refused(status: 307, code: "call.redirect", isTransient: false),
    Refused(status: 308, headers: ["Location": "ftp://x"], code: "call.redirect", isTransient: false),
  ]) func eachRefusalHasItsCode(_ item: Refused) async throws {
    let server = try HTTPServer { _ in
      HTTPResponse(item.status, headers: item.headers, body: item.status == 204 ? [] : Array("why\r\n".utf8))
    }
    defer { server.stop() }
    let error = await #expect(throws: SignallingError.self) { try await post(server) }
    #expect(error?.code == item.code && error?.isTransient == item.isTransient)
    #expect(error.map { "\($0)".contains("\n") } == false)
    #expect(error?.retryAfter == (item.headers["Retry-After"] == nil ? nil : .seconds(17)))
  }

  static let unusable: [(HTTPHeaders, String, String)] = [
    (["Content-Type": "text/html", "Location": "/s"], "v=0", "its type is text/html"), (["Location": "/s"], "v=0", "its type is not given"),
    (["Content-Type": "application/sdp"], "v=0", "it does not say where the session is (no Location)"),
    (["Content-Type": "application/sdp", "Location": "/s"], "", "it is empty"),
    (
      ["Content-Type": "application/sdp", "Location": "rtsp://x/"], "v=0",
      "the session's URL \"rtsp://x/\": only http and https can be asked"
    ),
  ]

  @Test(arguments: unusable) func anAnswerThatCannotBeUsedSaysWhy(headers: HTTPHeaders, body: String, reason: String) async throws {
    let server = try HTTPServer { _ in HTTPResponse(201, headers: headers, body: Array(body.utf8)) }
    defer { server.stop() }
    await #expect(throws: SignallingError.invalidAnswer(reason)) { try await post(server) }
  }

  @Test func aRedirectionToAnotherServerIsFollowedWithoutTheToken() async throws {
    let seen = Mutex<[String]>([])
    let target = try HTTPServer { request in
      seen.withLock { $0.append("\(request.method) \(request.url.path) \(request.headers["Authorization"] ?? "-")") }
      return request.method == "DELETE"
        ? HTTPResponse(200) : HTTPResponse(201, headers: WHIPClientTests.sdp, body: Array("v=0 \(request.body.count)".utf8))
    }
    defer { target.stop() }
    let server = try HTTPServer { [origin = target.origin] request in
      request.url.path == "/whip"
        ? HTTPResponse(307, headers: ["Location": "/again"]) : HTTPResponse(308, headers: ["Location": origin + "/whip"])
    }
    defer { server.stop() }
    var endpoint = try SignallingEndpoint(url: server.origin + "/whip", token: "secret")
    let client = WHIPClient(endpoint: endpoint, client: http)
    let answer = try await client.post(offer: "offer")
    #expect(answer.sdp == "v=0 5" && answer.resource == target.origin + "/session/1")
    try await client.delete()
    endpoint.keepsTokenAcrossOrigins = true
    _ = try await WHIPClient(endpoint: endpoint, client: http).post(offer: "offer")
    #expect(seen.withLock { $0 } == ["POST /whip -", "DELETE /session/1 -", "POST /whip Bearer secret"])
  }

  @Test func whenARedirectionCostTheTokenTheErrorSaysSo() async throws {
    let target = try HTTPServer { HTTPResponse($0.headers["Authorization"] == nil ? 401 : 201) }
    defer { target.stop() }
    let server = try HTTPServer { [origin = target.origin] _ in HTTPResponse(307, headers: ["Location": origin + "/whip"]) }
    defer { server.stop() }
    let error = await #expect(throws: SignallingError.self) { try await post(server, token: "secret") }
    #expect(error?.code == "call.unauthorized")
    #expect(error.map { "\($0)".contains("was not shown to \(target.origin)") && !"\($0)".contains("secret") } == true)
  }

  @Test func aServerThatRedirectsInACircleIsLeft() async throws {
    let server = try HTTPServer { _ in HTTPResponse(307, headers: ["Location": "/whip"]) }
    defer { server.stop() }
    await #expect(throws: SignallingError.redirect("more than 5 in a row")) { try await post(server) }
  }

  @Test func aServerThatTakesNoCandidatesIsAskedOnce() async throws {
    let patches = Mutex(0)
    let server = try HTTPServer { request in
      guard request.method == "PATCH" else { return HTTPResponse(201, headers: WHIPClientTests.sdp, body: [1]) }
      patches.withLock { $0 += 1 }
      return HTTPResponse(405)
    }
    defer { server.stop() }
    let client = WHIPClient(endpoint: try SignallingEndpoint(url: server.origin), client: http)
    _ = try await client.post(offer: "o")
    #expect(try await !client.patch("a=x\r\n"))
    #expect(try await !client.patch("a=x\r\n"))
    #expect(patches.withLock { $0 } == 1)
  }

  @Test func aCounterOfferOfAWHEPServerIsAnswered() async throws {
    let answers = Mutex<[String]>([])
    let server = try HTTPServer { request in
      if request.method == "POST" { return HTTPResponse(406, headers: WHIPClientTests.sdp, body: Array("their offer".utf8)) }
      answers.withLock {
        $0.append(
          "\(request.method) \(request.url.path) \(request.headers.mediaType ?? "") \(String(decoding: request.body, as: UTF8.self))")
      }
      return HTTPResponse(204)
    }
    defer { server.stop() }
    let client = WHIPClient(endpoint: try SignallingEndpoint(url: server.origin), client: http)
    let offer = await #expect(throws: SignallingError.self) { try await client.post(offer: "o") }
    guard case .counterOffer(let answer) = offer else { return #expect(offer?.code == "call.counter-offer") }
    #expect(answer.sdp == "their offer")
    try await client.answer("our answer")
    #expect(answers.withLock { $0 } == ["PATCH /session/1 application/sdp our answer"])
  }

  @Test func aServerThatIsNotThereHasACode() async throws {
    let server = try HTTPServer { _ in HTTPResponse(200) }
    server.stop()
    let error = await #expect(throws: SignallingError.self) { try await post(server) }
    #expect(error?.code == "call.refused" && error?.isTransient == true)
  }

  @Test(arguments: [("wss://x", nil), ("", nil), ("http://x", ""), ("http://x", "a b"), ("http://x", "a\r\nX: y")] as [(String, String?)])
  func anAddressOrTokenThatCannotBeUsedIsRefused(url: String, token: String?) {
    let error = #expect(throws: SignallingError.self) { try SignallingEndpoint(url: url, token: token) }
    #expect(error?.code == "call.url")
  }
}
